"""Items in Blockscout's form: of a token, one, and those that addresses hold."""

from collections import defaultdict
from functools import partial
from typing import Any

import orjson

from scan import parameters
from scan.extensions.blockscout import address_and_token_objects, addresses_and_tokens, hooks, paths
from scan.extensions.blockscout.addresses_and_tokens import TOKEN, tokens_held
from scan.extensions.items import queries as items
from scan.extensions.items.item_metadata import MAX_DOCUMENT_BYTES, Metadata, Picture, link
from scan.hex import data, to_hex
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.queries.list_pages import Window

ITEMS_OF_COLLECTIONS = 1000  # the newest items, among which those of collections are looked for
SHOWN_ITEMS = 15  # in a collection

blueprint = paths.Routes("items")


@blueprint.path("/tokens/<address_hash>/instances")
def list_instances(address_hash: str) -> Response:
    """Return items in descending order of their first transfers, without their metadata: those of a
    token, or what of them one address holds."""
    token_record = addresses_and_tokens.token_of(address_hash)
    holder = paths.address("holder_address_hash")
    token_id = paths.amount("unique_token")
    key = data(token_record["address"])
    position = None if token_id is None else (items.ordinal(reader(), key, token_id),)
    window = paths.first_window()._replace(position=position)
    if holder is None:
        page = items.page(reader(), key, window)
    else:
        page = items.held_of_token(reader(), key, holder, window)
    records = orjson.loads(page.data)
    owners = [record["owner"] if holder is None else to_hex(holder) for record in records]
    objects = address_and_token_objects.AddressObjects(owners)
    is_single = token_record["type"] == "BEP721"
    instances = [
        _instance(
            record["tokenId"],
            address_and_token_objects.token_object(token_record),
            objects.of_optional(owner if is_single else None),
            value=record.get("balance"),
        )
        for record, owner in zip(records, owners, strict=True)
    ]
    for instance in instances:
        del instance["token"]  # which the path names
    following = {"unique_token": records[-1]["tokenId"]} if page.next else None
    return paths.list_response(instances, following)


@blueprint.path("/tokens/<address_hash>/instances/<token_id>")
def get_instance(address_hash: str, token_id: str) -> Response:
    token = address_and_token_objects.token_object(addresses_and_tokens.token_of(address_hash))
    item = _item(address_hash, token_id)
    record, metadata = orjson.loads(item.record), item.media.metadata
    image = metadata and (metadata.image_link or _stored_picture(item.media.picture))
    objects = address_and_token_objects.AddressObjects([record["owner"]])
    return json_value(
        _instance(
            record["tokenId"],
            token,
            objects.of_optional(record["owner"]),
            metadata=_metadata(metadata, image),
            image=image,
            external_url=metadata and link(metadata.external_url, "https:", "http:"),
        )
    )


def _item(address_hash: str, token_id: str) -> items.Item:
    return items.get(reader(), paths.path_address(address_hash), parameters.token_id(token_id))


def _stored_picture(picture: Picture | None) -> str | None:
    """Return a picture that is kept on the chain as a data: URI, if it is not too large for it."""
    is_small = picture is not None and len(picture.content) <= MAX_DOCUMENT_BYTES
    return picture.data_uri if picture is not None and is_small else None


def _metadata(metadata: Metadata | None, image: str | None) -> dict[str, Any] | None:
    """Return the metadata that Scan has read from the document at an item's URI."""
    if metadata is None:
        return None
    texts = {"name": metadata.name, "description": metadata.description, "image": image}
    # Clients take a field that is there for a text.
    present = {name: value for name, value in texts.items() if value is not None}
    attributes = [
        {"trait_type": attribute.trait, "value": attribute.value}
        for attribute in metadata.attributes
    ]
    return {**present, "attributes": attributes}


@blueprint.path("/tokens/<address_hash>/instances/<token_id>/transfers")
def list_instance_transfers(address_hash: str, token_id: str) -> Response:
    key, token_number = paths.path_address(address_hash), parameters.token_id(token_id)
    read = partial(items.transfers, reader(), key, token_number)
    records, last = paths.read_page("token_transfers", read)
    following = address_and_token_objects.transfer_position(last) if last else None
    return paths.list_response(address_and_token_objects.transfer_objects(records), following)


@blueprint.path("/tokens/<address_hash>/instances/<token_id>/transfers-count")
def get_instance_transfers_count(address_hash: str, token_id: str) -> Response:
    record = orjson.loads(_item(address_hash, token_id).record)
    return json_value({"transfers_count": record["transferCount"]})


@blueprint.path("/tokens/<address_hash>/instances/<token_id>/holders")
def list_instance_holders(address_hash: str, token_id: str) -> Response:
    """Return the 100 largest holders of an item, all on one page."""
    item = _item(address_hash, token_id)
    return paths.list_response(
        addresses_and_tokens.holder_objects(orjson.loads(item.owners), token_id), None
    )


@blueprint.path("/addresses/<address_hash>/nft")
def list_items(address_hash: str) -> Response:
    """Return items in descending order of their first transfers."""
    key, types = paths.path_address(address_hash), address_and_token_objects.token_types()
    window = paths.first_window()
    last_item: Any = paths.together(**{TOKEN: paths.address, "token_id": paths.amount})
    position = None if last_item is None else (items.ordinal(reader(), *last_item),)
    page = items.held_by(reader(), key, window._replace(position=position))
    records = orjson.loads(page.data)
    following = paths.renamed("item_position", records[-1]) if page.next else None
    return paths.list_response(_instances(to_hex(key), types.of(records, "type")), following)


@blueprint.path("/addresses/<address_hash>/nft/collections")
def list_collections(address_hash: str) -> Response:
    """Return collections in the order of their addresses, each with its newest items."""
    key, types = paths.path_address(address_hash), address_and_token_objects.token_types()
    records, following = tokens_held(key, types)
    collections = [record for record in types.of(records, "type") if record["type"] != "BEP20"]
    held = items.held_by(reader(), key, Window(ITEMS_OF_COLLECTIONS, 0))
    by_token: dict[str, list[paths.Record]] = defaultdict(list)
    for record in orjson.loads(held.data):
        if len(by_token[record["tokenAddress"]]) < SHOWN_ITEMS:
            by_token[record["tokenAddress"]].append(record)
    objects = address_and_token_objects.TokenObjects(c["tokenAddress"] for c in collections)
    listed = [
        {
            "token": objects.of(record["tokenAddress"]),
            "amount": record["balance"],
            "token_instances": _instances(to_hex(key), by_token[record["tokenAddress"]]),
        }
        for record in collections
    ]
    return paths.list_response(listed, following)


def _instances(holder: str, records: list[paths.Record]) -> list[paths.Object]:
    objects = address_and_token_objects.TokenObjects(record["tokenAddress"] for record in records)
    owner = address_and_token_objects.AddressObjects([holder]).of(holder) if records else None
    return [
        _instance(
            record["tokenId"],
            objects.of(record["tokenAddress"]),
            owner if record["type"] == "BEP721" else None,
            value=record["balance"],
        )
        for record in records
    ]


def _instance(
    token_id: str,
    token: paths.Object,
    owner: paths.Object | None,
    *,
    metadata: paths.Object | None = None,
    image: str | None = None,
    external_url: str | None = None,
    value: str | None = None,
) -> paths.Object:
    """Return an item; there are no thumbnails. `image` is the link of its metadata to a picture, or
    a picture that is kept on the chain."""
    item = {"id": token_id, "metadata": metadata, "owner": owner, "token": token, "value": value}
    is_unique = True if token["type"] == "ERC-721" else None
    more = {"image": image, "unique": is_unique, "media": "image" if image else None}
    record = item | more | {"externalUrl": external_url}
    return paths.renamed("item", record)


HOOKS = hooks.Blockscout(blueprint=blueprint)
