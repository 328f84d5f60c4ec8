"""Tokens: their list, one, its transfers and holders."""

import orjson

from scan import parameters
from scan.errors import InvalidParameter
from scan.ethereum.display_text import checksummed
from scan.extensions.blockscout import address_and_token_objects, entity_lists, lists
from scan.extensions.blockscout.routing import Object, renamed, routes, text
from scan.extensions.search import views as search
from scan.hex import data
from scan.http.requests import Response, json_object, json_value, reader
from scan.queries import tokens
from scan.queries.pages import Window

IN_BATCH, MOST_IN_BATCH = "address_hashes", 50

blueprint = routes("tokens")


@blueprint.path("/tokens")
def list_tokens() -> Response:
    """Return tokens by the number of holders, or those that match the text `q`."""
    types, query, window = address_and_token_objects.token_types(), text("q"), lists.first_window()
    direction = lists.direction()
    if text("sort") not in (None, "holders_count"):  # market data, which the index does not have
        direction = "desc"
    if (most := lists.number("limit", least=1)) is not None:
        window = window._replace(limit=min(most, window.limit))
    if query:
        matched = types.of(_named(query), "type")[: window.limit]
        shown = [*map(address_and_token_objects.token_object, matched)]
        return lists.list_response(shown, None)
    position = lists.together(holders_count=lists.number, contract_address_hash=lists.address)
    page = tokens.page(reader(), window._replace(direction=direction, position=position))
    records = orjson.loads(page.data)
    following = None
    if page.next is not None:
        last = address_and_token_objects.token_object(records[-1])
        following = {
            "contract_address_hash": last["address_hash"],
            "holders_count": last["holders_count"],
        }
    shown = [*map(address_and_token_objects.token_object, types.of(records, "type"))]
    return lists.list_response(shown, following)


def _named(name: str) -> list[lists.Record]:
    results = orjson.loads(search.search(reader(), name))
    keys = [data(result["value"]) for result in results if result["type"] == "token"]
    return [*tokens.records_of(reader(), keys).values()]


@blueprint.path("/tokens/batch")
def list_batch() -> Response:
    """Return the tokens at the addresses of the body; others have none."""
    named = json_object().get(IN_BATCH)
    if not isinstance(named, list) or len(named) > MOST_IN_BATCH:
        raise InvalidParameter(f"Send at most {MOST_IN_BATCH} addresses.", field=IN_BATCH)
    known = tokens.records_of(reader(), [parameters.address(text, IN_BATCH) for text in named])
    return json_value([address_and_token_objects.token_object(record) for record in known.values()])


@blueprint.path("/tokens/<address_hash>")
def get_token(address_hash: str) -> Response:
    return json_value(address_and_token_objects.token_object(token_of(address_hash)))


@blueprint.path("/tokens/<address_hash>/counters")
def get_counters(address_hash: str) -> Response:
    record = token_of(address_hash)
    record["holderCount"] = tokens.holders(reader(), data(record["address"]), Window(1, 0)).total
    counts = renamed("token_counters", record)
    return json_value({**counts, "ui_multiplier_changes_count": "0"})


@blueprint.path("/tokens/<address_hash>/transfers")
def list_transfers(address_hash: str) -> Response:
    key = data(token_of(address_hash)["address"])
    return entity_lists.transfers_response(address_and_token_objects.ALL_TYPES, token=key)


@blueprint.path("/tokens/<address_hash>/holders")
def list_holders(address_hash: str) -> Response:
    window = lists.first_window()._replace(
        position=lists.together(value=lists.amount, address_hash=lists.address)
    )
    page = tokens.holders(reader(), lists.path_address(address_hash), window)
    records = orjson.loads(page.data)
    following = None
    if page.next is not None:
        last = records[-1]
        following = {"address_hash": checksummed(last["address"]), "value": last["balance"]}
    return lists.list_response(holder_objects(records), following)


def holder_objects(records: list[lists.Record], token_id: str | None = None) -> list[Object]:
    objects = address_and_token_objects.AddressObjects(record["address"] for record in records)
    return [
        {"address": objects.of(record["address"]), "token_id": token_id, "value": record["balance"]}
        for record in records
    ]


def token_of(address_hash: str) -> lists.Record:
    record: lists.Record = orjson.loads(tokens.get(reader(), lists.path_address(address_hash)))
    return record
