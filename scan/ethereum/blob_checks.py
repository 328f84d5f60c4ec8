"""Whether the price of a block's blobs follows from its header. Pure, but for forks that this
version of Scan does not know, which are read from the node."""

from collections.abc import Sequence
from typing import Any

from scan.ethereum.blob_prices import (
    UnknownSchedule,
    blob_price,
    is_known_chain,
    may_be_later_fork,
    price_by,
)
from scan.ethereum.block_encoding import type_number
from scan.ethereum.raw_blocks import NoBytes
from scan.ethereum.transaction_checks import BLOBS, Contradiction

PRICES = "prices of blobs, whose schedule is the node's"


def unproven_blob_prices(
    header: Any,
    transactions: Sequence[Any],
    receipts: Sequence[Any],
    raw: NoBytes,
    chain_id: int | None,
) -> list[str]:
    """Compare the price that receipts have with the header's excessBlobGas by the chain's schedule,
    and put it into receipts without one. Return the words of a price that is the node's alone.
    Raises Contradiction."""
    blobs = [
        (sent, receipt)
        for sent, receipt in zip(transactions, receipts, strict=True)
        if sent.blobVersionedHashes and type_number(sent.type) == BLOBS
    ]
    if not blobs:
        return []
    given = {_number(receipt.blobGasPrice) for _, receipt in blobs} - {None}
    price, is_known = _price(header, given, raw, chain_id)
    if price is None or given - {price}:
        raise Contradiction("blobGasPrice and excessBlobGas")
    if any(price > int(sent.maxFeePerBlobGas, 16) for sent, _ in blobs):
        raise Contradiction("blobGasPrice and maxFeePerBlobGas")
    for _, receipt in blobs:
        receipt.blobGasPrice = hex(price)
    return [] if is_known else [PRICES]


def _price(
    header: Any, given: set[int | None], raw: NoBytes, chain_id: int | None
) -> tuple[int | None, bool]:
    """Return the price of a block's blobs, None where nothing tells it; and whether it follows from
    a schedule that this version of Scan knows."""
    time_s, excess = int(header.timestamp, 16), int(header.excessBlobGas or "0x0", 16)
    try:
        price = blob_price(chain_id, time_s, excess)
        if given <= {price} or not may_be_later_fork(chain_id, time_s):
            return price, True
    except UnknownSchedule:
        pass
    fraction = raw.blob_fraction(time_s)
    if fraction is not None:
        price = price_by(fraction, excess)
        if given <= {price}:
            return price, False
    own = next(iter(given)) if len(given) == 1 else None
    return (own, False) if not is_known_chain(chain_id) else (None, False)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text, 16)
