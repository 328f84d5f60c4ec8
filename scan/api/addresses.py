"""GET /api/v1/addresses, /addresses/:address, and its /tokens, /items and /internal."""

from collections.abc import Mapping
from typing import NamedTuple

import orjson
from flask import Blueprint, Response

from scan import parameters
from scan.errors import InvalidParameter, UpstreamFailed
from scan.hex import to_hex
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body, json_value, list_body
from scan.queries import addresses, internal_transfers
from scan.queries.addresses import unseen
from scan.queries.pages import Window

blueprint = Blueprint("addresses", __name__)

MOST_ADDRESSES = 100


class Balance(NamedTuple):
    """In wei as text, with the block it was read at."""

    value: str | None
    block: int | None
    is_contract: bool


@blueprint.get("/addresses")
def list_addresses() -> Response:
    asked = _addresses_asked(query_arguments("addresses"))
    found, head_number, head_hash, newest_untraced = reader().row(
        "queries/addresses_list", addresses=asked
    )
    rows = orjson.loads(found)
    stale = [at for at, row in zip(asked, rows, strict=True) if row["balanceBlock"] != head_number]
    states = {}
    if stale and head_number is not None:
        states = reader().sources.account_states.all_at(
            reader().node, stale, head_number, bytes(head_hash)
        )
    if len(states) < len(set(stale)):  # the node may return them to the next request
        reader().do_not_cache()
    for address, row in zip(asked, rows, strict=True):
        if address in states:
            state = states[address]
            row.update(
                balance=str(state.balance), balanceBlock=head_number, isContract=state.is_contract
            )
        elif row["balanceBlock"] is not None and row["balanceBlock"] >= newest_untraced:
            row["balanceBlock"] = head_number  # nothing has changed it since
        if row["balance"] is None:
            raise _unread()
    return json_value({"addresses": rows})


def _addresses_asked(arguments: Mapping[str, str]) -> list[bytes]:
    """Raises InvalidParameter unless they are 1 to MOST_ADDRESSES."""
    given = arguments.get("addresses", "").split(",")
    if len(given) > MOST_ADDRESSES:
        raise InvalidParameter(
            f"addresses may be at most {MOST_ADDRESSES}, with commas between them.",
            field="addresses",
        )
    return [parameters.address(each.strip(), "addresses") for each in given]


@blueprint.get("/addresses/<address>")
def get_address(address: str) -> Response:
    query_arguments()
    key = parameters.address(address)
    row = reader().row("queries/addresses_get", address=key)
    count, label, first_seen, last_seen, recent, *stored, number, head_hash, is_unchanged = row
    if count is None:
        raise unseen()
    balance = _balance(key, Balance(*stored), number, bytes(head_hash), is_unchanged)
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


def _balance(
    address: bytes, stored: Balance, head_number: int, head_hash: bytes, is_unchanged: bool
) -> Balance:
    """The stored one where it is of the head, else the node's, else the stored one.

    That is the head's, too, where nothing indexed has changed it since it was read.
    """
    if stored.block == head_number and stored.value is not None:
        return stored
    states = reader().sources.account_states
    state = states.at(reader().node, address, head_number, head_hash)
    if state is not None:
        return Balance(str(state.balance), head_number, state.is_contract)
    reader().do_not_cache()  # the node may return it to the next request
    if stored.value is None:
        raise _unread()
    return stored._replace(block=head_number) if is_unchanged else stored


def _unread() -> UpstreamFailed:
    return UpstreamFailed("The node does not answer, and this balance has not been read yet.")


@blueprint.get("/addresses/<address>/tokens")
def list_tokens_held(address: str) -> Response:
    return _list_held("tokens", address)


@blueprint.get("/addresses/<address>/items")
def list_items_held(address: str) -> Response:
    return _list_held("items", address)


def _list_held(kind: str, address: str) -> Response:
    limit, offset = parameters.limit_and_offset(query_arguments(*parameters.PAGED))
    key = parameters.address(address)
    return list_body(kind, addresses.held(reader(), kind, key, limit, offset))


@blueprint.get("/addresses/<address>/internal")
def list_internal_transfers(address: str) -> Response:
    window = Window(*parameters.limit_and_offset(query_arguments(*parameters.PAGED)))
    key = parameters.address(address)
    page = internal_transfers.page(reader(), window, address=key)
    if page.total == 0 and not addresses.is_seen(reader(), key):
        raise unseen()
    return json_body(
        f'{{"internalTransfers":{page.data},"total":{page.total},'
        f'"untracedBlocks":{page.untraced_blocks}}}'
    )
