"""GET /api/v1/addresses/:address/proof."""

import re
from typing import Any

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.errors import InvalidParameter
from scan.ethereum.state_proofs import ProvenSlot
from scan.extensions.proofs import queries as proofs
from scan.hex import to_hex
from scan.http import requests

_SLOT = re.compile(r"0x[0-9a-fA-F]{1,64}\Z")

blueprint = Blueprint("proofs", __name__)


@blueprint.get("/addresses/<address>/proof")
@requests.requires(requests.Prerequisite.NODE)
def get_proof(address: str) -> requests.Response:
    arguments = requests.query_arguments("block", "slot")
    key, slot = parameters.address(address), _slot(arguments.get("slot"))
    account = proofs.account(requests.reader(), key, requests.block_argument(arguments), slot)
    return requests.json_value(
        {
            "address": to_hex(key),
            "balance": str(account.balance),
            "nonce": str(account.nonce),
            "codeHash": to_hex(account.code_hash),
            "storageRoot": to_hex(account.storage_root),
            "exists": account.exists,
            "slot": _record(account.slot),
            "blockNumber": account.block.number,
            "blockHash": to_hex(account.block.hash),
            "stateRoot": to_hex(account.state_root),
            "header": to_hex(account.header),
            "proof": [*map(to_hex, account.proof)],
        }
    )


def _slot(text: str | None) -> int | None:
    if text is None:
        return None
    if not _SLOT.match(text):
        raise InvalidParameter("slot must be 0x followed by 1 to 64 hex digits.", field="slot")
    return int(text, 16)


def _record(slot: ProvenSlot | None) -> dict[str, Any] | None:
    if slot is None:
        return None
    words = {"slot": slot.slot.to_bytes(32), "value": slot.value.to_bytes(32)}
    record = {name: to_hex(word) for name, word in words.items()}
    return {**record, "proof": [*map(to_hex, slot.proof)]}


HOOKS = Api(blueprints=(blueprint,))
