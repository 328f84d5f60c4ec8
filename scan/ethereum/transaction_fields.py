"""Fields of transactions that the index does not store, read from the node for one page at a time.

Once the index has these columns, this file goes, and scan/etherscan/transactions.py, its only
user, reads them with the row.
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from scan.errors import UpstreamFailed
from scan.ethereum.client import MAX_BATCH, Call, Node, NodeError, RpcError
from scan.ethereum.sized_cache import SizedCache
from scan.hex import BadHex, data, quantity

TIMEOUT_S = 8.0
CACHE_BYTES = 64 * 1024 * 1024
ENTRY_BYTES = 700  # of a cached transaction without its input, measured
WHOLE_BLOCK_FROM = 20  # a block is read whole where so many of its transactions are needed


class TransactionPlace(NamedTuple):
    """A transaction in its block, both by their hashes in hex."""

    hash: str
    block_hash: str
    block_number: int


class TransactionFields(NamedTuple):
    """`input` is hex; `receipt_status` is None before Byzantium."""

    nonce: int
    gas: int
    input: str
    cumulative_gas_used: int
    receipt_status: int | None


class TransactionFieldsReader:
    """Reads in batches, in bounded time; what was read stays true of its block's hash."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._cache: SizedCache[TransactionFields] = SizedCache(CACHE_BYTES)

    def cached(self, places: Iterable[TransactionPlace]) -> dict[str, TransactionFields]:
        """By hash, those that were read before."""
        found = ((place.hash, self._cache.get((place.hash, place.block_hash))) for place in places)
        return {transaction_hash: fields for transaction_hash, fields in found if fields}

    def read(self, places: Iterable[TransactionPlace]) -> dict[str, TransactionFields]:
        """By hash. Raises UpstreamFailed, also where the node has another block there.

        What a read gets before its time is over is there for the next one.
        """
        places = list(dict.fromkeys(places))
        found = self.cached(places)
        return found | self._ask([place for place in places if place.hash not in found])

    def _ask(self, missing: Sequence[TransactionPlace]) -> dict[str, TransactionFields]:
        ends_at = time.monotonic() + TIMEOUT_S
        try:
            return self._whole_blocks(missing, ends_at)
        except NodeError as error:
            raise UpstreamFailed(
                f"The node did not give all transactions of this page: {error}. Try again, or ask"
                " for smaller pages."
            ) from None

    def _whole_blocks(
        self, missing: Sequence[TransactionPlace], ends_at: float
    ) -> dict[str, TransactionFields]:
        in_block = Counter(place.block_number for place in missing)
        found: dict[str, TransactionFields] = {}
        for number, count in in_block.items():
            if count < WHOLE_BLOCK_FROM:
                continue
            block, receipts = self._node.batch(
                [
                    Call("eth_getBlockByNumber", (hex(number), True)),
                    Call("eth_getBlockReceipts", (hex(number),)),
                ],
                _left_s(ends_at),
            )
            if isinstance(block, dict) and isinstance(receipts, list):
                wanted = {place.hash: place for place in missing if place.block_number == number}
                by_hash = {each.get("transactionHash"): each for each in receipts}
                for transaction in block.get("transactions", ()):
                    place = wanted.get(transaction.get("hash"))
                    if place is not None:
                        found[place.hash] = self._keep(place, transaction, by_hash.get(place.hash))
        singles = [place for place in missing if place.hash not in found]
        return found | self._singles(singles, ends_at)

    def _singles(
        self, missing: Sequence[TransactionPlace], ends_at: float
    ) -> dict[str, TransactionFields]:
        found: dict[str, TransactionFields] = {}
        step = MAX_BATCH // 2
        for start in range(0, len(missing), step):
            places = missing[start : start + step]
            calls = [
                Call(method, (place.hash,))
                for place in places
                for method in ("eth_getTransactionByHash", "eth_getTransactionReceipt")
            ]
            answers = self._node.batch(calls, _left_s(ends_at))
            for place, transaction, receipt in zip(
                places, answers[::2], answers[1::2], strict=True
            ):
                found[place.hash] = self._keep(place, transaction, receipt)
        return found

    def _keep(self, place: TransactionPlace, transaction: Any, receipt: Any) -> TransactionFields:
        fields = _fields(place, transaction, receipt)
        size = ENTRY_BYTES + len(fields.input)
        self._cache.store((place.hash, place.block_hash), fields, size)
        return fields


def _left_s(ends_at: float) -> float:
    left_s = ends_at - time.monotonic()
    if left_s <= 0:
        raise NodeError("it takes too long")
    return left_s


def _fields(place: TransactionPlace, transaction: Any, receipt: Any) -> TransactionFields:
    """Raises NodeError where these are not of the block."""
    if isinstance(transaction, RpcError) or isinstance(receipt, RpcError):
        raise NodeError("it refused one")
    if transaction is None or receipt is None:
        raise NodeError("it does not have one")
    try:
        if not (transaction["blockHash"] == receipt["blockHash"] == place.block_hash):
            raise NodeError("it has another block there")
        status = receipt.get("status")
        data(transaction["input"])
        return TransactionFields(
            quantity(transaction["nonce"]),
            quantity(transaction["gas"]),
            transaction["input"].lower(),
            quantity(receipt["cumulativeGasUsed"]),
            None if status is None else quantity(status),
        )
    except (BadHex, KeyError, TypeError, AttributeError) as error:
        raise NodeError(f"it gave something else than a transaction ({error})") from None
