"""The form of Parlia's blocks."""

from contextlib import suppress
from typing import Any

from scan import hooks
from scan.ethereum.forms.form import Form, Settlement, number, settle_by_ethereum
from scan.hex import BadHex, data, quantity


def settle(block: Any) -> Settlement:
    fees = settle_by_ethereum(block)
    return fees._replace(producer_fees=fees.producer_fees + (fees.blob_fees or 0), blob_fees=None)


def is_of(block: Any) -> bool:
    """Return whether milliTimestamp is the block's timestamp plus the milliseconds in mixHash."""
    if block.milliTimestamp is None:
        return False
    with suppress(BadHex):
        rest = int.from_bytes(data(block.mixHash, 32))
        return quantity(block.milliTimestamp) == quantity(block.timestamp) * 1000 + rest
    return False


PARLIA = Form(
    "Parlia",
    is_of=is_of,
    chain_ids=frozenset((56, 97)),
    block_fields={"milliTimestamp": number},
    settle=settle,
    unseen="Coin sent to 0xffff…fffe is given to the block's validator without a transaction.",
)


HOOKS = hooks.Forms(forms=(PARLIA,))
