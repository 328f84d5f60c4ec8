"""GET /api/v1/blocks, /blocks/latest, /blocks/:numberOrHash.

GET /api/v1/transactions, of all or an address; /transactions/:hash and the paths below it.

GET /api/v1/token-transfers and /dex-trades; transfers and trades of a token or an address.

GET /api/v1/stats and /stats/finality.
"""

from typing import Any

import orjson
from flask import Blueprint

from scan import parameters, registry
from scan.api.hooks import Api
from scan.http.list_responses import LISTED, ORDERED, add_list, entity_list, list_response
from scan.http.request_state import services
from scan.http.requests import (
    Prerequisite,
    Response,
    json_body,
    json_value,
    query_arguments,
    reader,
    requires,
)
from scan.queries import blocks, entities, network, tokens, transactions
from scan.queries.pages import FILTER_KEYS, Page, Window

blueprint = Blueprint("blocks", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    arguments = query_arguments("time", *ORDERED)
    if "time" not in arguments:
        return list_response("blocks", arguments, lambda window: blocks.page(reader(), window))
    # The newest block at or before it; no other parameter goes with it.
    parameters.only_known_arguments(arguments, ("time",))
    record = blocks.at_time(reader(), parameters.time_s(arguments["time"], "time", is_upper=True))
    if record is None:
        raise reader().not_indexed("No block at or before this time is indexed.")
    return json_body(record)


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> Response:
    query_arguments()
    named = None if block == "latest" else parameters.block_number_or_hash(block)
    return json_body(_indexed(named))


@blueprint.get("/blocks/<block>/transactions")
def list_transactions_of_block(block: str) -> Response:
    """Return a block's transactions; not of `latest`, whose pages would be of different blocks."""
    keys = FILTER_KEYS["transactions"]
    arguments = query_arguments(*keys, *LISTED, "orderBy")
    number = orjson.loads(_indexed(parameters.block_number_or_hash(block)))["number"]

    def read(window: Window) -> Page:
        window = window._replace(block_from=number, block_to=number)
        return entities.page(reader(), "transactions", window, arguments)

    return list_response("transactions", arguments, read)


def _indexed(named: int | bytes | None) -> str:
    record = blocks.get(reader(), named)
    if record is None:
        raise blocks.not_indexed(reader(), named)
    return record


add_list(blueprint, "/transactions", "transactions")
add_list(blueprint, "/addresses/<address>/transactions", "transactions")


@blueprint.get("/transactions/<transaction_hash>")
@requires(Prerequisite.NODE_FIELDS)
def get_transaction(transaction_hash: str) -> Response:
    """Return a transaction's record, with fields of extensions."""
    indexed, _ = indexed_transaction(transaction_hash)
    tag = blocks.finality_of(reader(), indexed["blockNumber"], indexed["confirmations"])
    fields: dict[str, Any] = {**indexed, "finality": tag}
    for part in registry.parts(Api):
        own = dict(part.transaction_fields(indexed))
        fields["unproven"] += own.pop("unproven", ())
        fields |= own
    return json_value(fields)


@blueprint.get("/transactions/<transaction_hash>/adjacent")
def get_adjacent(transaction_hash: str) -> Response:
    """Return the transactions of the same sender before and after one."""
    query_arguments()
    adjacent = transactions.adjacent(reader(), parameters.hash32(transaction_hash))
    if adjacent is None:
        raise reader().not_indexed("This transaction is not indexed.")
    return json_body(adjacent.encode())


def indexed_transaction(transaction_hash: str) -> tuple[dict[str, Any], str]:
    """Return a transaction's record, also as JSON text; raises NotFound."""
    query_arguments()
    record = transactions.get(reader(), parameters.hash32(transaction_hash))
    if record is None:
        raise reader().not_indexed("This transaction is not indexed.")
    return orjson.loads(record), record


add_list(blueprint, "/token-transfers", "token_transfers")
add_list(blueprint, "/addresses/<address>/transfers", "token_transfers")
add_list(blueprint, "/dex-trades", "dex_trades")
add_list(blueprint, "/addresses/<address>/trades", "dex_trades", ("maker",))


@blueprint.get("/tokens/<address>/transfers")
def list_transfers_of_token(address: str) -> Response:
    tokens.get(reader(), parameters.address(address))  # raises NotFound for an unknown token
    return entity_list("token_transfers", tokenAddress=address)


@blueprint.get("/stats")
def stats() -> Response:
    query_arguments()
    record = network.stats(reader(), services().settings.chain_name or None)
    kept_from = reader().kept_from
    if kept_from is not None:
        record = f'{record[:-1]},"keptFrom":{orjson.dumps(kept_from.record()).decode()}}}'
    if reader().incomplete:
        record = f'{record[:-1]},"completeFrom":{orjson.dumps(reader().incomplete).decode()}}}'
    return json_body(record)


@blueprint.get("/stats/finality")
def get_finality() -> Response:
    """Return the node's finality, as far as it answers."""
    query_arguments()
    finality = blocks.finality(reader())
    newest = blocks.newest_number(reader())
    return json_value(
        {"latestBlock": newest, "safeBlock": finality.safe, "finalizedBlock": finality.finalized}
    )
