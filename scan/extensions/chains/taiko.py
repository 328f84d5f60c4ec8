"""Taiko: the first transaction of a block pays nothing, and base fees are divided.

core/state_processor.go, core/state_transition.go and consensus/taiko of taikoxyz/taiko-geth: the
golden touch account anchors L1's state by a block's first transaction. The producer gets the share
of base fees that extraData states: since Ontake all of extraData, since Shasta its first byte. The
rest goes to a treasury, whose address begins with the digits of the chain id.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from scan.ethereum.forms.form import FEE_VAULT, Form, Settlement, Values, numbered, produced
from scan.hex import data

MAINNET, HOODI = 167_000, 167_013
GOLDEN_TOUCH = "0x0000777735367b36bc9b61c50022d9d0700db4ec"
_ONTAKE_BYTES, _SHASTA_BYTES = 32, 7


def is_free(sent: Values) -> list[bool]:
    """Return which transactions are the anchor, which has to be the first of its block."""
    return [index == 0 and s.lower() == GOLDEN_TOUCH for index, s in enumerate(sent["from"])]


def shows(block: Any, sent: Values, received: Values) -> bool:
    return any(is_free(sent))


def share_percent(extra_data: bytes) -> int:
    """Return the producer's share of base fees; 0 before Ontake."""
    if len(extra_data) == _ONTAKE_BYTES:
        return min(extra_data[-1], 100)
    return min(extra_data[0], 100) if len(extra_data) == _SHASTA_BYTES else 0


def own_fields(block: Any, sent: Values) -> dict[str, Any]:
    extra_data = data(block.extraData or "0x")
    fields = {"basefeeSharingPctg": str(share_percent(extra_data))}
    if len(extra_data) == _SHASTA_BYTES:
        fields["proposalId"] = str(int.from_bytes(extra_data[1:]))
    return fields


def settle(treasury: bytes, block: Any) -> Settlement:
    paying = [t for t in block.transactions if t.fee]
    base_fees = [(block.base_fee_per_gas or 0) * t.gas_used for t in paying]
    percent = int(json.loads(block.chain_fields)["basefeeSharingPctg"])  # by own_fields()
    shared = sum([fee * percent // 100 for fee in base_fees])
    vault = [(None, FEE_VAULT, treasury, sum(base_fees) - shared)]
    tips = produced(paying, block.base_fee_per_gas)
    burnt = None if block.base_fee_per_gas is None else 0
    return Settlement(tips + shared, burnt, None, numbered(block, vault))


def _settle_on(chain_id: int) -> Callable[[Any], Settlement]:
    return partial(settle, bytes.fromhex(f"{chain_id}".ljust(35, "0") + "10001"))


TAIKO = Form(
    "Taiko",
    chain_ids=frozenset((MAINNET,)),
    shows=shows,
    own_fields=own_fields,
    is_free=is_free,
    settle=_settle_on(MAINNET),
)
TAIKO_HOODI = TAIKO._replace(
    name="Taiko Hoodi", chain_ids=frozenset((HOODI,)), settle=_settle_on(HOODI)
)


FORMS = (TAIKO, TAIKO_HOODI)
