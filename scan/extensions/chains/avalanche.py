"""Avalanche: the C-Chain, and chains of Subnet-EVM.

core/state_transition.go, plugin/evm/customtypes/header_ext.go and plugin/evm/wrapped_block.go of
ava-labs/coreth and ava-labs/subnet-evm: the whole fee, with the base fee, goes to the block's
`miner`, which on the C-Chain is an address that nobody has.
"""

from typing import Any

from scan.ethereum.forms.form import Form, Settlement, Values, hash_, number


def settle(block: Any) -> Settlement:
    fees = sum([t.fee for t in block.transactions])
    return Settlement(fees, None if block.base_fee_per_gas is None else 0, None)


def shows(block: Any, sent: Values, received: Values) -> bool:
    return block.extDataHash is not None


AVALANCHE = Form(
    "Avalanche",
    header_signs=("extDataHash", "blockGasCost"),
    chain_ids=frozenset((43_114, 43_113)),
    shows=shows,
    block_fields={
        "extDataHash": hash_,
        "extDataGasUsed": number,
        "blockGasCost": number,
        "timestampMilliseconds": number,
        "minDelayExcess": number,
    },
    settle=settle,
    unseen="Imports from other chains of Avalanche, and exports, move coin without a transaction.",
)


FORMS = (AVALANCHE,)
