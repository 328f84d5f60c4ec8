"""Rollups that L1 verifies by proofs of validity: Scroll, Taiko, ZKsync.

Scroll has messages from L1, and a fee for data on L1. core/types/l1_message_tx.go and
core/state_transition.go of scroll-tech/go-ethereum: all fees go to one vault, whose address is
SCROLL_FEE_VAULT on Scroll's own chains.

On Taiko the first transaction of a block pays nothing, and base fees are divided.
core/state_processor.go, core/state_transition.go and consensus/taiko of taikoxyz/taiko-geth: the
golden touch account anchors L1's state by a block's first transaction. The producer gets the share
of base fees that extraData states: since Ontake all of extraData, since Shasta its first byte. The
rest goes to a treasury, whose address begins with the digits of the chain id.

ZKsync Era and chains of the ZK Stack have types of their own, and batches on L1. Fields by
https://docs.zksync.io/zksync-protocol/api/zks-rpc: `l1BatchNumber` of blocks, transactions and
receipts. Fees go to an account of the operator, which no block names.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from scan.ethereum.forms import form
from scan.extensions.chains.collected_fees import settle_unburnt
from scan.extensions.chains.op_stack import are_deposits, l1_fees, shows
from scan.hex import data

SCROLL_FEE_VAULT = bytes.fromhex("5300000000000000000000000000000000000005")


def scroll_settle(block: Any) -> form.Settlement:
    fees = sum([t.fee for t in block.transactions])
    return settle_unburnt(block, 0, [(None, form.FEE_VAULT, SCROLL_FEE_VAULT, fees)])


SCROLL = form.Form(
    "Scroll",
    order=1,  # after the OP Stack, whose blocks have l1Fee, too
    signs=frozenset(("queueIndex", "l1Fee")),
    chain_ids=frozenset((534_352, 534_351)),
    shows=shows,
    type_names={0x7E: "L1 message"},
    transaction_fields={"queueIndex": form.number},
    l1_fees=l1_fees,
    is_free=are_deposits,
    settle=scroll_settle,
    encodings={0x7E: form.Encoding(("queueIndex", "gas", "to", "value", "input", "from"))},
)


MAINNET, HOODI = 167_000, 167_013
GOLDEN_TOUCH = "0x0000777735367b36bc9b61c50022d9d0700db4ec"
_ONTAKE_BYTES, _SHASTA_BYTES = 32, 7


def taiko_is_free(sent: form.Values) -> list[bool]:
    """Return which transactions are the anchor, which has to be the first of its block."""
    return [index == 0 and s.lower() == GOLDEN_TOUCH for index, s in enumerate(sent["from"])]


def share_percent(extra_data: bytes) -> int:
    """Return the producer's share of base fees; 0 before Ontake."""
    if len(extra_data) == _ONTAKE_BYTES:
        return min(extra_data[-1], 100)
    return min(extra_data[0], 100) if len(extra_data) == _SHASTA_BYTES else 0


def own_fields(block: Any, sent: form.Values) -> dict[str, Any]:
    extra_data = data(block.extraData or "0x")
    fields = {"basefeeSharingPctg": str(share_percent(extra_data))}
    if len(extra_data) == _SHASTA_BYTES:
        fields["proposalId"] = str(int.from_bytes(extra_data[1:]))
    return fields


def taiko_settle(treasury: bytes, block: Any) -> form.Settlement:
    paying = [t for t in block.transactions if t.fee]
    base_fees = [(block.base_fee_per_gas or 0) * t.gas_used for t in paying]
    percent = int(json.loads(block.chain_fields)["basefeeSharingPctg"])  # by own_fields()
    shared = sum([fee * percent // 100 for fee in base_fees])
    vault = [(None, form.FEE_VAULT, treasury, sum(base_fees) - shared)]
    tips = form.produced(paying, block.base_fee_per_gas)
    return settle_unburnt(block, tips + shared, vault)


def _settle_on(chain_id: int) -> Callable[[Any], form.Settlement]:
    return partial(taiko_settle, bytes.fromhex(f"{chain_id}".ljust(35, "0") + "10001"))


TAIKO = form.Form(
    "Taiko",
    chain_ids=frozenset((MAINNET,)),
    shows=lambda block, sent, received: any(taiko_is_free(sent)),
    own_fields=own_fields,
    is_free=taiko_is_free,
    settle=_settle_on(MAINNET),
)
TAIKO_HOODI = TAIKO._replace(
    name="Taiko Hoodi", chain_ids=frozenset((HOODI,)), settle=_settle_on(HOODI)
)


ZKSYNC = form.Form(
    "ZKsync",
    signs=frozenset(("l1BatchNumber",)),
    chain_ids=frozenset((324, 300)),  # Era and its test network
    type_names={0x71: "EIP-712", 0xFE: "upgrade", 0xFF: "priority"},
    transaction_fields={"l1BatchNumber": form.number, "l1BatchTxIndex": form.number},
    block_fields={"l1BatchNumber": form.number},
    settle=partial(settle_unburnt, producer_fees=0),
    has_unproven_blocks=True,
    has_fields_of_all_types=True,  # batches
    unseen="Fees go to an account of the operator that no block names.",
    message_event=(
        "0x0000000000000000000000000000000000008008",  # L1Messenger
        "L1MessageSent(address indexed sender, bytes32 indexed hash, bytes data)",
    ),
)

FORMS = (SCROLL, TAIKO, TAIKO_HOODI, ZKSYNC)
