"""Tokens: their list, one, its transfers, holders and items."""

from typing import Any

import orjson

from scan import parameters
from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.blockscout.lists import (
    ROWS,
    Position,
    Record,
    address,
    amount,
    list_response,
    number,
    path_address,
    read_page,
    text,
)
from scan.extensions.blockscout.routing import routes
from scan.extensions.blockscout.token_objects import (
    Object,
    instance_object,
    token_object,
    token_types,
    transfer_objects,
    transfer_position,
)
from scan.hex import data
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.item_media.item_metadata import Metadata
from scan.queries import items, search, token_transfers, tokens
from scan.queries.pages import Window

blueprint = routes("tokens")


@blueprint.path("/tokens")
def list_tokens() -> Response:
    """Return tokens by the number of holders, or those that match the text `q`."""
    types = token_types()
    if text("q"):
        matched = types.of(_named(text("q") or ""), "type")
        return list_response([token_object(record) for record in matched], None)
    count, key = number("holders_count"), address("contract_address_hash")
    position = None if count is None or key is None else (count, key)
    page = tokens.page(reader(), Window(ROWS, 0, position=position))
    records = orjson.loads(page.data)
    following = None
    if page.next is not None:
        last = token_object(records[-1])
        following = {
            "contract_address_hash": last["address_hash"],
            "holders_count": last["holders_count"],
            "is_name_null": last["name"] is None,
            "market_cap": None,
            "name": last["name"],
        }
    shown = [token_object(record) for record in types.of(records, "type")]
    return list_response(shown, following)


def _named(name: str) -> list[Record]:
    results = orjson.loads(search.search(reader(), name))
    keys = [data(result["value"]) for result in results if result["type"] == "token"]
    return [*tokens.by_addresses(reader(), keys).values()]


@blueprint.path("/tokens/<address_hash>")
def get_token(address_hash: str) -> Response:
    return json_value(token_object(_token(address_hash)))


@blueprint.path("/tokens/<address_hash>/counters")
def get_counters(address_hash: str) -> Response:
    record = _token(address_hash)
    return json_value(
        {
            "token_holders_count": str(record["holderCount"]),
            "transfers_count": str(record["transferCount"]),
        }
    )


@blueprint.path("/tokens/<address_hash>/transfers")
def list_transfers(address_hash: str) -> Response:
    key = data(_token(address_hash)["address"])
    records, last = read_page(
        "token_transfers", lambda window: token_transfers.page(reader(), window, token=key)
    )
    following = transfer_position(last) if last else None
    return list_response(transfer_objects(records), following)


@blueprint.path("/tokens/<address_hash>/holders")
def list_holders(address_hash: str) -> Response:
    value, holder = amount("value"), address("address_hash")
    position = None if value is None or holder is None else (value, holder)
    page = tokens.holders(reader(), path_address(address_hash), Window(ROWS, 0, position=position))
    records = orjson.loads(page.data)
    following = None
    if page.next is not None:
        last = records[-1]
        following = {"address_hash": checksummed(last["address"]), "value": last["balance"]}
    return list_response(_holders(records), following)


def _holders(records: list[Record], token_id: str | None = None) -> list[Object]:
    objects = AddressObjects(record["address"] for record in records)
    return [
        {
            "address": objects.of(record["address"]),
            "token_id": token_id,
            "value": record["balance"],
        }
        for record in records
    ]


@blueprint.path("/tokens/<address_hash>/instances")
def list_instances(address_hash: str) -> Response:
    """Return items in descending order of their first transfers, without their metadata."""
    token_record = _token(address_hash)
    token_id = amount("unique_token")
    key = data(token_record["address"])
    position = None if token_id is None else (items.ordinal(reader(), key, token_id),)
    page = items.page(reader(), key, Window(ROWS, 0, position=position))
    records = orjson.loads(page.data)
    objects = AddressObjects(record["owner"] for record in records)
    token = token_object(token_record)
    shown = [
        instance_object(record["tokenId"], token, objects.of_optional(record["owner"]))
        for record in records
    ]
    following: Position | None = None
    if page.next is not None:
        following = {"unique_token": records[-1]["tokenId"]}
    return list_response(shown, following)


@blueprint.path("/tokens/<address_hash>/instances/<token_id>")
def get_instance(address_hash: str, token_id: str) -> Response:
    token = token_object(_token(address_hash))
    item = _item(address_hash, token_id)
    record, metadata = orjson.loads(item.record), item.media.metadata
    objects = AddressObjects([record["owner"]])
    return json_value(
        instance_object(
            record["tokenId"],
            token,
            objects.of_optional(record["owner"]),
            metadata=_metadata(metadata),
            image=metadata and metadata.image_link,
        )
    )


def _item(address_hash: str, token_id: str) -> items.Item:
    return items.get(reader(), path_address(address_hash), parameters.token_id(token_id))


def _metadata(metadata: Metadata | None) -> dict[str, Any] | None:
    """Return the metadata that Scan has read from the document at an item's URI."""
    if metadata is None:
        return None
    return {
        "name": metadata.name,
        "description": metadata.description,
        "image": metadata.image_link,
        "attributes": [
            {"trait_type": attribute.trait, "value": attribute.value}
            for attribute in metadata.attributes
        ],
    }


@blueprint.path("/tokens/<address_hash>/instances/<token_id>/transfers")
def list_instance_transfers(address_hash: str, token_id: str) -> Response:
    key, token_number = path_address(address_hash), parameters.token_id(token_id)
    records, last = read_page(
        "token_transfers",
        lambda window: items.transfers(reader(), key, token_number, window),
    )
    following = transfer_position(last) if last else None
    return list_response(transfer_objects(records), following)


@blueprint.path("/tokens/<address_hash>/instances/<token_id>/transfers-count")
def get_instance_transfers_count(address_hash: str, token_id: str) -> Response:
    record = orjson.loads(_item(address_hash, token_id).record)
    return json_value({"transfers_count": record["transferCount"]})


@blueprint.path("/tokens/<address_hash>/instances/<token_id>/holders")
def list_instance_holders(address_hash: str, token_id: str) -> Response:
    """Return the 100 largest holders of an item, all on one page."""
    item = _item(address_hash, token_id)
    return list_response(_holders(orjson.loads(item.owners), token_id), None)


def _token(address_hash: str) -> Record:
    record: Record = orjson.loads(tokens.get(reader(), path_address(address_hash)))
    return record
