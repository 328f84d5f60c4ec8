"""GET /api/v1/addresses/:address and /addresses/:address/tokens."""

from typing import NamedTuple

import orjson
from flask import Blueprint, Response

from scan import parameters
from scan.api.lists import Page, page_body
from scan.errors import NotFound, UpstreamFailed
from scan.hex import to_hex
from scan.http.chain_reads import do_not_cache, read_chain
from scan.http.requests import query_arguments
from scan.http.responses import json_body
from scan.http.services import services

blueprint = Blueprint("addresses", __name__)


class Balance(NamedTuple):
    """In wei as text, with the block it was read at."""

    value: str | None
    block: int | None
    is_contract: bool


@blueprint.get("/addresses/<address>")
def get_address(address: str) -> Response:
    query_arguments()
    key = parameters.address(address)
    row = read_chain("api/addresses_get", address=key)
    count, label, first_seen, last_seen, recent, *stored, head_number, head_hash = row
    if count is None:
        raise _unseen()
    balance = _balance(key, Balance(*stored), head_number, bytes(head_hash))
    if balance.block != head_number:  # the node may return it to the next request
        do_not_cache()
    detail = {
        "address": to_hex(key),
        "balance": balance.value,
        "txCount": count,
        "isContract": balance.is_contract,
        "label": label,
        "firstSeen": first_seen,
        "lastSeen": last_seen,
        "balanceBlock": balance.block,
        "recentTxs": orjson.Fragment(recent),
    }
    return json_body(orjson.dumps(detail))


def _balance(address: bytes, stored: Balance, head_number: int, head_hash: bytes) -> Balance:
    """The stored one where it is of the head, else the node's, else the stored one."""
    if stored.block != head_number:
        state = services().account_states.at(address, head_number, head_hash)
        if state is not None:
            return Balance(str(state.balance), head_number, state.is_contract)
    if stored.value is None:
        raise UpstreamFailed("The node does not answer, and this balance has not been read yet.")
    return stored


def _unseen() -> NotFound:
    return NotFound("This address has not been seen in any indexed block.")


@blueprint.get("/addresses/<address>/tokens")
def list_tokens_held(address: str) -> Response:
    limit, offset = parameters.limit_and_offset(query_arguments(*parameters.PAGED))
    row = read_chain(
        "api/addresses_list_tokens",
        address=parameters.address(address),
        limit=limit,
        offset=offset,
    )
    held = Page(*row)
    if held.data is None:
        raise _unseen()
    return json_body(page_body("tokens", held))
