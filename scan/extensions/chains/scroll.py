"""Scroll: messages from L1, and a fee for data on L1.

core/types/l1_message_tx.go and core/state_transition.go of scroll-tech/go-ethereum: all fees go to
one vault, whose address is SCROLL_FEE_VAULT on Scroll's own chains.
"""

from typing import Any

from scan.ethereum.forms.form import FEE_VAULT, Encoding, Form, Settlement, number, numbered
from scan.extensions.chains.op_stack import are_deposits, l1_fees, shows

SCROLL_FEE_VAULT = bytes.fromhex("5300000000000000000000000000000000000005")


def settle(block: Any) -> Settlement:
    fees = sum([t.fee for t in block.transactions])
    burnt = None if block.base_fee_per_gas is None else 0
    vault = [(None, FEE_VAULT, SCROLL_FEE_VAULT, fees)]
    return Settlement(0, burnt, None, numbered(block, vault))


SCROLL = Form(
    "Scroll",
    order=1,  # after the OP Stack, whose blocks have l1Fee, too
    signs=frozenset(("queueIndex", "l1Fee")),
    chain_ids=frozenset((534_352, 534_351)),
    shows=shows,
    type_names={0x7E: "L1 message"},
    transaction_fields={"queueIndex": number},
    l1_fees=l1_fees,
    is_free=are_deposits,
    settle=settle,
    encodings={0x7E: Encoding(("queueIndex", "gas", "to", "value", "input", "from"))},
)


FORMS = (SCROLL,)
