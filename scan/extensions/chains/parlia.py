"""BNB Smart Chain and other chains of Parlia.

core/state_transition.go and consensus/parlia/parlia.go of bnb-chain/bsc: the validator, who is
`miner`, gets tips and fees for blobs, and passes them on by transactions of price 0 in the same
block.
"""

from contextlib import suppress
from typing import Any

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


FORMS = (PARLIA,)
