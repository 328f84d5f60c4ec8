from typing import Any

from scan.ethereum.forms.form import FEE_VAULT, Form, Settlement, Values, numbered
from scan.ethereum.hooks import Forms

CHAIN_ID = 77_777
VAULT = bytes.fromhex("ee" * 20)


def settle(block: Any) -> Settlement:
    """Give all fees to a vault."""
    fees = sum([t.fee for t in block.transactions])
    return Settlement(0, 0, None, numbered(block, [(None, FEE_VAULT, VAULT, fees)]))


def own_fields(block: Any, sent: Values) -> dict[str, Any]:
    return {"pings": len(block.transactions)}


FORM = Form(
    "Made up",
    chain_ids=frozenset((CHAIN_ID,)),
    type_names={2: "ping"},
    own_fields=own_fields,
    settle=settle,
)
HOOKS = Forms(forms=(FORM,))
