"""Addresses: one, its counters, its lists along the chain, and the tokens that it holds. Tokens:
their list, one, its transfers and holders.
"""

from typing import Any

import orjson

from scan import parameters
from scan.errors import InvalidParameter
from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout import address_and_token_objects, paths, transaction_lists
from scan.extensions.blockscout.blocks import block_objects, withdrawals_response
from scan.extensions.blockscout.decoded_objects import log_objects, log_position
from scan.extensions.blockscout.paths import Object, renamed, text
from scan.extensions.logs import queries as logs
from scan.extensions.logs.log_filter import having_all
from scan.hex import data, to_hex
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.http.request_bodies import json_object
from scan.queries import addresses, blocks, contracts, tokens
from scan.queries.list_pages import Window

SIDES = ("to", "from")
SORTS = ("value", "fee")
MOST_COUNTED = 10_000  # produced blocks, and transactions whose gas is added up
MOST_ON_TABS = 50  # as with Blockscout, 51 stands for more

blueprint = paths.Routes("addresses_and_tokens")


@blueprint.path("/addresses/<address_hash>")
def get_address(address_hash: str) -> Response:
    """Return an address, also one that was never seen: it may have a balance."""
    key = paths.path_address(address_hash)
    address = to_hex(key)
    account = addresses.get(reader(), key)
    party = addresses.parties(reader(), [key])[address]
    party |= {"isContract": account.balance.is_contract}  # also where no transaction called it
    counts = addresses.counts(reader(), key, 0)
    token = tokens.records_of(reader(), [key]).get(address)
    balance = account.balance.required()
    names = reader().sources.get(addresses.AddressNames).in_list(reader(), [key])
    fields = {
        **address_and_token_objects.address_object(address, party, names.get(key)),
        **_proxy(key, account),
        **_creation(account.creation),
        "token": None if token is None else address_and_token_objects.token_object(token),
        "coin_balance": balance.wei,
        "exchange_rate": None,
        "block_number_balance_updated_at": balance.block,
        "has_validated_blocks": counts["blocks"] > 0,
        "has_logs": logs.count_of_emitter(reader(), key, 1) > 0,
        "has_tokens": counts["tokens"] > 0,
        "has_token_transfers": counts["tokenTransfers"] > 0,
        "watchlist_address_id": None,
        "has_beacon_chain_withdrawals": counts["withdrawals"] > 0,
        "creation_status": creation_status(account.creation, account.balance.is_contract),
    }
    return json_value(fields)


def _proxy(key: bytes, account: addresses.Address) -> paths.Object:
    if "delegate" in account.more:
        proxy = address_and_token_objects.delegating(account.more["delegate"])
        return {"is_contract": True, **address_and_token_objects.proxy_fields(proxy)}
    if not account.balance.is_contract:
        return {}
    _, lookup = contracts.get_with_proxy(reader(), key, ())
    return address_and_token_objects.proxy_fields(lookup.proxy) if lookup.proxy else {}


def creation_status(created: contracts.IndexedCreation | None, is_contract: bool) -> str | None:
    if is_contract:
        return "success"
    return None if created is None else "selfdestructed"


def _creation(created: contracts.IndexedCreation | None) -> paths.Object:
    if created is None:
        return {"creator_address_hash": None, "creation_transaction_hash": None}
    return {
        "creator_address_hash": checksummed(to_hex(created.factory or created.creator)),
        "creation_transaction_hash": to_hex(created.transaction_hash),
    }


@blueprint.path("/addresses/<address_hash>/counters")
def get_counters(address_hash: str) -> Response:
    """Return counts, which are null beyond MOST_COUNTED where each request counts them."""
    counts = addresses.counts(reader(), paths.path_address(address_hash), MOST_COUNTED)
    produced = counts["blocks"] if counts["blocks"] <= MOST_COUNTED else None
    validations = {"validations_count": None if produced is None else str(produced)}
    return json_value(paths.renamed("address_counters", counts) | validations)


@blueprint.path("/addresses/<address_hash>/tabs-counters")
def get_tabs_counters(address_hash: str) -> Response:
    key = paths.path_address(address_hash)
    counts = addresses.counts(reader(), key, MOST_ON_TABS)
    log_count = logs.count_of_emitter(reader(), key, MOST_ON_TABS + 1)
    return json_value(paths.renamed("address_tabs", {**counts, "logs": log_count}))


@blueprint.path("/addresses/<address_hash>/transactions")
def list_transactions(address_hash: str) -> Response:
    """Return transactions in the order of the chain, or sorted by what they moved or paid where the
    list is short; clients offer orders that long lists do not have."""
    window = paths.first_window()._replace(direction=paths.direction())
    side, sort = _side(address_hash), paths.text("sort")
    if "to" in side:
        side = transaction_lists.received(side["to"])
    response = None
    if sort in SORTS:
        response = transaction_lists.sorted_transactions_response(window, sort, **side)
    return response or transaction_lists.transactions_response(window, **side)


@blueprint.path("/addresses/<address_hash>/token-transfers")
def list_token_transfers(address_hash: str) -> Response:
    filters = _side(address_hash)
    return transaction_lists.transfers_response(
        token=paths.address("token"), types=address_and_token_objects.token_types(), **filters
    )


@blueprint.path("/addresses/<address_hash>/internal-transactions")
def list_internal_transactions(address_hash: str) -> Response:
    return transaction_lists.internal_transactions_response(**_side(address_hash))


@blueprint.path("/addresses/<address_hash>/logs")
def list_logs(address_hash: str) -> Response:
    """Return logs; the parameter `topic` is their first topic."""
    first = paths.parsed("topic", parameters.hash32)
    log_filter = having_all(paths.path_address(address_hash), [first, None, None, None])
    window = paths.first_window()._replace(position=paths.position("logs"))
    page = logs.records(reader(), window, log_filter)
    events = logs.events(reader(), page.records)
    items = log_objects(page.records, events, paths.contexts_of(page.records))
    return paths.list_response(items, log_position(items[-1]) if page.next else None)


@blueprint.path("/addresses/<address_hash>/blocks-validated")
def list_blocks_validated(address_hash: str) -> Response:
    before = paths.number("block_number")
    key = paths.path_address(address_hash)
    older = {} if before is None else {"before": before}
    rows, next_block = blocks.mined_by(reader(), key, paths.row_count(), **older)
    following = None if next_block is None else {"block_number": next_block}
    return paths.list_response(block_objects([row["block"] for row in rows]), following)


@blueprint.path("/addresses/<address_hash>/withdrawals")
def list_withdrawals(address_hash: str) -> Response:
    return withdrawals_response(paths.first_window(), paths.path_address(address_hash))


def _side(address_hash: str) -> dict[str, Any]:
    """Return the filter of an address's list: of all rows, of those sent or of those received."""
    return {paths.one_of("filter", SIDES) or "address": paths.path_address(address_hash)}


MOST_BALANCES = 1000  # in the list that has no pages
TOKEN = "token_contract_address_hash"


@blueprint.path("/addresses/<address_hash>/token-balances")
def list_token_balances(address_hash: str) -> Response:
    page = addresses.tokens_held(
        reader(), paths.path_address(address_hash), Window(MOST_BALANCES, 0)
    )
    return json_value(_balances(orjson.loads(page.data)))


@blueprint.path("/addresses/<address_hash>/tokens")
def list_holdings(address_hash: str) -> Response:
    """Return balances in the order of the tokens' addresses."""
    types = address_and_token_objects.token_types()
    records, following = tokens_held(paths.path_address(address_hash), types)
    return paths.list_response(_balances(types.of(records, "type")), following)


def tokens_held(
    key: bytes, types: address_and_token_objects.TokenTypes
) -> tuple[list[paths.Record], paths.Position | None]:
    after = paths.address(TOKEN)
    window = paths.first_window()._replace(position=None if after is None else (after,))
    page = addresses.tokens_held(reader(), key, window, types.only)
    records = orjson.loads(page.data)
    if page.next is None:
        return records, None
    return records, {TOKEN: checksummed(records[-1]["tokenAddress"])}


def _balances(records: list[paths.Record]) -> list[paths.Object]:
    objects = address_and_token_objects.TokenObjects(record["tokenAddress"] for record in records)
    return [
        {
            "token": objects.of(record["tokenAddress"]),
            "token_id": None,
            "token_instance": None,
            "value": record["balance"],
        }
        for record in records
    ]


IN_BATCH, MOST_IN_BATCH = "address_hashes", 50


@blueprint.path("/tokens")
def list_tokens() -> Response:
    """Return tokens by the number of holders, all or those that the text `q` finds."""
    types, query = address_and_token_objects.token_types(), text("q") or ""
    window, direction = paths.first_window(), paths.direction()
    if text("sort") not in (None, "holders_count"):  # market data, which the index does not have
        direction = "desc"
    if (most := paths.number("limit", least=1)) is not None:
        window = window._replace(limit=min(most, window.limit))
    position = paths.together(holders_count=paths.number, contract_address_hash=paths.address)
    page = tokens.page(
        reader(),
        window._replace(direction=direction, position=position),
        token_type=types.only,
        text=parameters.text(query, "q", most=tokens.MAX_SEARCHED).strip(),
    )
    records = orjson.loads(page.data)
    following = renamed("token_position", records[-1]) if page.next else None
    objects = [*map(address_and_token_objects.token_object, types.of(records, "type"))]
    return paths.list_response(objects, following)


@blueprint.path("/tokens/batch")
def list_batch() -> Response:
    """Return the tokens at the addresses of the body; others have none."""
    texts = json_object().get(IN_BATCH)
    if not isinstance(texts, list) or len(texts) > MOST_IN_BATCH:
        raise InvalidParameter(f"Send at most {MOST_IN_BATCH} addresses.", field=IN_BATCH)
    records = tokens.records_of(reader(), [parameters.address(text, IN_BATCH) for text in texts])
    return json_value([*map(address_and_token_objects.token_object, records.values())])


@blueprint.path("/tokens/<address_hash>")
def get_token(address_hash: str) -> Response:
    record = token_of(address_hash)
    count = tokens.holder_count(reader(), data(record["address"]))
    return json_value(
        {**address_and_token_objects.token_object(record), "holders_count": str(count)}
    )


@blueprint.path("/tokens/<address_hash>/counters")
def get_token_counters(address_hash: str) -> Response:
    record = token_of(address_hash)
    record["holderCount"] = tokens.holder_count(reader(), data(record["address"]))
    return json_value({**renamed("token_counters", record), "ui_multiplier_changes_count": "0"})


@blueprint.path("/tokens/<address_hash>/transfers")
def list_transfers(address_hash: str) -> Response:
    key = data(token_of(address_hash)["address"])
    return transaction_lists.transfers_response(address_and_token_objects.ALL_TYPES, token=key)


@blueprint.path("/tokens/<address_hash>/holders")
def list_holders(address_hash: str) -> Response:
    window = paths.first_window()._replace(
        position=paths.together(value=paths.amount, address_hash=paths.address)
    )
    page = tokens.holders(reader(), paths.path_address(address_hash), window)
    records = orjson.loads(page.data)
    following = renamed("holder_position", records[-1]) if page.next else None
    return paths.list_response(holder_objects(records), following)


def holder_objects(records: list[paths.Record], token_id: str | None = None) -> list[Object]:
    objects = address_and_token_objects.AddressObjects(record["address"] for record in records)
    return [
        {"address": objects.of(record["address"]), "token_id": token_id, "value": record["balance"]}
        for record in records
    ]


def token_of(address_hash: str) -> paths.Record:
    record: paths.Record = orjson.loads(tokens.get(reader(), paths.path_address(address_hash)))
    return record
