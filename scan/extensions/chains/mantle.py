"""Mantle: a chain of the OP Stack whose coin is MNT.

core/state_transition.go and core/types/deposit_tx.go of mantlenetworkio/op-geth: until Arsia the
fee for L1 is turned into gas, so it is within gasUsed already. Since Arsia fees are as on the OP
Stack since Jovian, and receipts have `l1BaseFeeScalar`.
"""

from collections.abc import Sequence
from typing import Any

from scan.ethereum.forms.form import Encoding, Values, number
from scan.extensions.chains import op_stack as op_stack

MAINNET, SEPOLIA = 5000, 5003


def l1_fees(block: Any, sent: Values, received: Values) -> Sequence[Any]:
    return [
        None if scalar is None else fee
        for fee, scalar in zip(received["l1Fee"], received["l1BaseFeeScalar"], strict=True)
    ]


MANTLE = op_stack.OP_STACK._replace(
    name="Mantle",
    signs=frozenset(("tokenRatio", "ethValue")),
    chain_ids=frozenset((MAINNET, SEPOLIA)),
    transaction_fields={
        **op_stack.OP_STACK.transaction_fields,
        "ethValue": number,
        "ethTxValue": number,
    },
    receipt_fields={**op_stack.OP_STACK.receipt_fields, "tokenRatio": number},
    l1_fees=l1_fees,
    order=-1,
    unseen="A sponsor may have paid a part of the fee of a meta transaction.",
    encodings={
        op_stack.DEPOSIT: Encoding(
            tuple("sourceHash from to mint value gas isSystemTx ethValue input ethTxValue".split()),
            ("depositNonce", "depositReceiptVersion"),
        )
    },
)


FORMS = (MANTLE,)
