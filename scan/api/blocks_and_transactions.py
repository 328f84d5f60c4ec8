"""GET /api/v1/blocks, /blocks/latest, /blocks/:numberOrHash; /transactions, of all or an address,
/transactions/:hash and the paths below it; /token-transfers and /dex-trades, also those of a token
or an address; /stats and /stats/finality."""

from typing import Any

import orjson
from flask import Blueprint

from scan import parameters, registry
from scan.api.hooks import Api
from scan.http import current_request, json_responses, list_responses, services
from scan.http.json_responses import Response
from scan.queries import blocks, entities, filter_values, network, tokens, transactions
from scan.queries.list_pages import Page, Window

blueprint = Blueprint("blocks_and_transactions", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    arguments = current_request.query_arguments("time", *list_responses.ORDERED)
    if "time" not in arguments:
        return list_responses.list_response(
            "blocks", arguments, lambda window: blocks.page(current_request.reader(), window)
        )
    # The newest block at or before it; no other parameter goes with it.
    for name in arguments:
        if name and name != "time":
            raise parameters.unknown_argument(name, ("time",))
    time_s = parameters.time_s(arguments["time"], "time", is_upper=True)
    record = blocks.at_time(current_request.reader(), time_s)
    return json_responses.json_body(
        current_request.reader().indexed(record, "No block at or before this time is indexed.")
    )


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> Response:
    current_request.query_arguments()
    key = None if block == "latest" else parameters.block_number_or_hash(block)
    return json_responses.json_body(blocks.record(current_request.reader(), key))


@blueprint.get("/blocks/<block>/transactions")
def list_transactions_of_block(block: str) -> Response:
    """Return a block's transactions; not of `latest`, whose pages would be of different blocks."""
    keys = filter_values.FILTER_KEYS["transactions"]
    arguments = current_request.query_arguments(*keys, *list_responses.LISTED, "orderBy")
    record = blocks.record(current_request.reader(), parameters.block_number_or_hash(block))
    number = orjson.loads(record)["number"]

    def read(window: Window) -> Page:
        window = window._replace(block_from=number, block_to=number)
        return entities.page(current_request.reader(), "transactions", window, arguments)

    return list_responses.list_response("transactions", arguments, read)


list_responses.add_list(blueprint, "/transactions", "transactions")
list_responses.add_list(blueprint, "/addresses/<address>/transactions", "transactions")


@blueprint.get("/transactions/<transaction_hash>")
def get_transaction(transaction_hash: str) -> Response:
    """Return a transaction's record, with fields of extensions."""
    record = indexed_transaction(transaction_hash)
    tag = blocks.finality_of(
        current_request.reader(), record["blockNumber"], record["confirmations"]
    )
    fields: dict[str, Any] = {**record, "finality": tag}
    fields["unproven"] = [*record["unproven"], "finality"]
    for part in registry.parts(Api):
        added = dict(part.transaction_fields(record))
        fields["unproven"] += added.pop("unproven", ())
        fields |= added
    return json_responses.json_value(fields)


@blueprint.get("/transactions/<transaction_hash>/adjacent")
def get_adjacent(transaction_hash: str) -> Response:
    """Return the transactions of the same sender before and after one."""
    current_request.query_arguments()
    adjacent = transactions.adjacent(current_request.reader(), parameters.hash32(transaction_hash))
    return json_responses.json_body(current_request.reader().indexed(adjacent))


def indexed_transaction(transaction_hash: str) -> Any:
    """Return a transaction's record; raises NotFound."""
    current_request.query_arguments()
    record = transactions.get(current_request.reader(), parameters.hash32(transaction_hash))
    return orjson.loads(current_request.reader().indexed(record))


list_responses.add_list(blueprint, "/token-transfers", "token_transfers")
list_responses.add_list(blueprint, "/addresses/<address>/transfers", "token_transfers")
list_responses.add_list(blueprint, "/dex-trades", "dex_trades")
list_responses.add_list(blueprint, "/addresses/<address>/trades", "dex_trades", ("maker",))


@blueprint.get("/tokens/<address>/transfers")
def list_transfers_of_token(address: str) -> Response:
    tokens.get(current_request.reader(), parameters.address(address))  # raises NotFound
    return list_responses.entity_list("token_transfers", tokenAddress=address)


@blueprint.get("/stats")
def stats() -> Response:
    current_request.query_arguments()
    record = network.stats(
        current_request.reader(), services.services().settings.chain_name or None
    )
    kept_from = current_request.reader().kept_from
    if kept_from is not None:
        record = f'{record[:-1]},"keptFrom":{orjson.dumps(kept_from.record()).decode()}}}'
    if incomplete := current_request.reader().incomplete:
        record = f'{record[:-1]},"completeFrom":{orjson.dumps(incomplete).decode()}}}'
    return json_responses.json_body(record)


@blueprint.get("/stats/finality")
def get_finality() -> Response:
    """Return the node's finality, as far as it answers."""
    current_request.query_arguments()
    finality = blocks.finality(current_request.reader())
    return json_responses.json_value(
        {
            "latestBlock": blocks.newest_number(current_request.reader()),
            "safeBlock": finality.safe,
            "finalizedBlock": finality.finalized,
            "unproven": ("safeBlock", "finalizedBlock"),
        }
    )
