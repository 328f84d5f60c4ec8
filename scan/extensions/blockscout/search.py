"""Search: the results for a text, and a redirect for a hash, address, number or label."""

import orjson

from scan import parameters, registry
from scan.errors import InvalidParameter
from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout.address_objects import UNRATED, AddressObjects
from scan.extensions.blockscout.hooks import Blockscout
from scan.extensions.blockscout.lists import Record, list_response
from scan.extensions.blockscout.objects import Object, renamed, timestamp
from scan.extensions.blockscout.routing import routes, text
from scan.extensions.search import queries as search
from scan.hex import data
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.queries import blocks, tokens, transactions

LEAST_LENGTH = 3

blueprint = routes("search")


@blueprint.path("/search")
def list_results() -> Response:
    """Return the best results, all on one page."""
    return list_response(_results(text("q")), None)


@blueprint.path("/search/quick")
def list_quick_results() -> Response:
    query = text("q")
    is_short = query is None or len(query) < LEAST_LENGTH
    return json_value([] if is_short else _results(query))


@blueprint.path("/search/check-redirect")
def check_redirect() -> Response:
    query = text("q")
    result = None if query is None else search.destination(query, _matches(query))
    if result is None:
        more = _by_hash(query) or {"type": None}
        kind, parameter = more["type"], more.get(f"{more['type']}_hash")
        return json_value({"redirect": kind is not None, "type": kind, "parameter": parameter})
    kind, value = result["type"], result["value"]
    if kind in ("address", "token", "contract"):
        kind, value = "address", checksummed(value)
    if kind == "block":
        value = orjson.loads(blocks.get(reader(), int(value)) or "{}").get("hash")
    return json_value({"redirect": True, "type": kind, "parameter": value})


def _matches(query: str | None) -> list[Record]:
    if query is None:
        return []
    records: list[Record] = orjson.loads(search.search(reader(), query))
    return records


def _results(query: str | None) -> list[Object]:
    results = _matches(query)
    keys = [data(result["value"]) for result in results if result["type"] == "token"]
    known = tokens.by_addresses(reader(), keys)
    named = [result["value"] for result in results if result["type"] in ("address", "contract")]
    objects = AddressObjects(named)
    more = None if results else _by_hash(query)
    return [*(_result(result, known, objects) for result in results), *([more] if more else ())]


def _by_hash(query: str | None) -> Object | None:
    """Return what an extension has by a hash."""
    try:
        key = parameters.hash32((query or "").strip(), "q")
    except InvalidParameter:
        return None
    results = (part.search_result(reader(), key) for part in registry.parts(Blockscout))
    result = next(filter(None, results), None)
    return None if result is None else {**result, "priority": 0}


def _result(result: Record, known: dict[str, Record], objects: AddressObjects) -> Object:
    kind, value = result["type"], result["value"]
    if kind == "block":
        record = orjson.loads(blocks.get(reader(), int(value)) or "{}")
        return {
            "type": kind,
            "block_number": int(value),
            "block_hash": record.get("hash"),
            "block_type": "block",
            "timestamp": record and timestamp(record["timestamp"]),
            "url": f"/block/{value}",
            "priority": 0,
        }
    if kind == "transaction":
        record = orjson.loads(transactions.get(reader(), data(value)) or "{}")
        return {
            "type": kind,
            "transaction_hash": value,
            "timestamp": record and timestamp(record["timestamp"]),
            "url": f"/tx/{value}",
            "priority": 0,
        }
    shown = {**renamed("found", result), "priority": 0, "reputation": UNRATED}
    if kind != "token":
        is_label = kind == "address" and result["name"] is not None
        party = objects.of(value)
        of_address = {
            "url": f"/address/{checksummed(value)}",
            "ens_info": None,
            "name": result["name"] or party["name"],
            "is_smart_contract_address": objects.is_contract(value),
            "is_smart_contract_verified": party["is_verified"],
        }
        return {**shown, **of_address, "type": "label" if is_label else kind}
    token = known.get(value)
    return {
        **shown,
        **renamed("found_token", token or dict.fromkeys(("name", "type", "totalSupply"))),
        "symbol": result["symbol"],
        "token_url": f"/token/{checksummed(value)}",
        "address_url": f"/address/{checksummed(value)}",
    }
