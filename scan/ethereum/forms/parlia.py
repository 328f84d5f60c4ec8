"""BNB Smart Chain and other chains of Parlia.

core/state_transition.go and consensus/parlia/parlia.go of bnb-chain/bsc: tips and what blobs cost
are the validator's, who is `miner`; it passes them on by transactions of price 0 in the same block.
"""

from typing import Any

from scan.ethereum.forms.form import Form, Settlement, number, settle_by_ethereum


def settle(block: Any) -> Settlement:
    fees = settle_by_ethereum(block)
    return fees._replace(producer_fees=fees.producer_fees + (fees.blob_fees or 0), blob_fees=None)


PARLIA = Form(
    "Parlia",
    header_signs=("milliTimestamp",),
    chain_ids=frozenset((56, 97)),
    block_fields={"milliTimestamp": number},
    settle=settle,
    unseen="Coin sent to 0xffff…fffe is given to the block's validator without a transaction.",
)
