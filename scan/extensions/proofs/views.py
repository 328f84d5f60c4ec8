"""The proven account of an address at an indexed block: GET /api/v1/addresses/:address/proof.
Beside an address's balance, and the hash of its code, pages say whether they are proven."""

import re
from typing import Any, NamedTuple

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.api.renamed_fields import recording
from scan.errors import HistoryUnavailable, InvalidParameter, NotFound, Unavailable, UpstreamFailed
from scan.ethereum import served_chain, state_proofs
from scan.ethereum.request_node import BUDGET_S
from scan.hex import to_hex
from scan.http import current_request
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.http.prerequisites import Prerequisite, requires
from scan.pages.hooks import AddressSection, Pages, Shown
from scan.queries import addresses, blocks
from scan.queries.reader import Reader


def proven_account(
    reader: Reader,
    address: bytes,
    block: served_chain.BlockId | None,
    slot: int | None = None,
    timeout_s: float = BUDGET_S,
) -> state_proofs.ProvenAccount:
    """Return an account after a block, or after the newest one, with a slot of its storage if one
    is given.

    Raises NotFound where no block is indexed, and the errors of AccountProofs.read().
    """
    is_past = block is not None
    if block is None:
        block = blocks.newest(reader)
        if block is None:
            raise blocks.not_indexed(reader, None)
    node = reader.node.within(timeout_s)
    slots = () if slot is None else (slot,)
    proven = reader.sources.get(state_proofs.AccountProofs).read(node, address, block, slots)
    if not is_past:
        reader.sources.replaced_codes.note({address: proven.code_hash}, block.number)
    return proven


recorded = recording(__file__)
_SLOT = re.compile(r"0x[0-9a-fA-F]{1,64}\Z")

api_views = Blueprint("proofs", __name__)


@api_views.get("/addresses/<address>/proof")
@requires(Prerequisite.NODE)
def get_proof(address: str) -> Response:
    arguments = current_request.query_arguments("block", "slot")
    key, slot = parameters.address(address), _slot(arguments.get("slot"))
    account = proven_account(
        current_request.reader(), key, current_request.block_argument(arguments), slot
    )
    record = recorded("account", account, slot=_slot_record)
    return json_value({"address": to_hex(key), **record})


def _slot(text: str | None) -> int | None:
    if text is None:
        return None
    if not _SLOT.match(text):
        raise InvalidParameter("slot must be 0x followed by 1 to 64 hex digits.", field="slot")
    return int(text, 16)


def _slot_record(slot: state_proofs.ProvenSlot | None) -> dict[str, Any] | None:
    return slot and recorded("slot", slot, word=lambda number: to_hex(number.to_bytes(32)))


TIMEOUT_S = 0.5


class BalanceProof(NamedTuple):
    """The balance in wei that the node proves, with the hash of the code; None where it proves
    none, and why."""

    wei: str | None
    problem: str | None = None
    code_hash: bytes | None = None


def proof_of_balance(key: bytes, account: addresses.Address) -> Shown:
    balance = account.balance.known
    if balance is None or reader().has_node_failed:
        return Shown({"balance_proof": BalanceProof(None, "The node does not respond.")})
    try:
        block = reader().once(blocks.newest)
        if block is None or block.number != balance.block:
            block = blocks.find(reader(), balance.block)
        proven = proven_account(reader(), key, block, timeout_s=TIMEOUT_S)
    except (HistoryUnavailable, NotFound, Unavailable, UpstreamFailed) as error:
        if error.message != state_proofs.NOT_OFFERED:  # another request may get a proof
            reader().do_not_cache()
        return Shown({"balance_proof": BalanceProof(None, error.message)})
    proof = BalanceProof(str(proven.balance), code_hash=proven.code_hash)
    return Shown({"balance_proof": proof})


HOOKS = (
    Api(blueprints=(api_views,)),
    Pages(
        sections=(
            AddressSection(
                {"address_balance": "balance_proof.html", "code_hash": "code_proof.html"},
                proof_of_balance,
            ),
        )
    ),
)
