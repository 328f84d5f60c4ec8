"""GET /api/v1/blocks, /blocks/latest, /blocks/:numberOrHash; /transactions, of all or an address,
/transactions/:hash and the paths below it; /token-transfers and /dex-trades, also those of a token
or an address; /stats and /stats/finality."""

from typing import Any

import orjson
from flask import Blueprint

from scan import parameters, registry
from scan.api.hooks import Api
from scan.http import services
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_body, json_value
from scan.http.list_responses import LISTED, ORDERED, add_list, entity_list, list_response
from scan.queries import blocks, entities, filter_values, network, tokens, transactions
from scan.queries.list_pages import Page, Window
from scan.server.responses import Kept

blueprint = Blueprint("blocks_and_transactions", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    arguments = query_arguments("time", *ORDERED)
    if "time" not in arguments:
        return list_response("blocks", arguments, lambda window: blocks.page(reader(), window))
    # The newest block at or before it; no other parameter goes with it.
    for name in arguments:
        if name and name != "time":
            raise parameters.unknown_argument(name, ("time",))
    time_s = parameters.time_s(arguments["time"], "time", is_upper=True)
    record = blocks.at_time(reader(), time_s)
    return json_body(reader().indexed(record, "No block at or before this time is indexed."))


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> Response:
    query_arguments()
    key = None if block == "latest" else parameters.block_number_or_hash(block)
    return json_body(blocks.record(reader(), key))


@blueprint.get("/blocks/<block>/transactions")
def list_transactions_of_block(block: str) -> Response:
    """Return a block's transactions; not of `latest`, whose pages would be of different blocks."""
    keys = filter_values.FILTER_KEYS["transactions"]
    arguments = query_arguments(*keys, *LISTED, "orderBy")
    record = blocks.record(reader(), parameters.block_number_or_hash(block))
    number = orjson.loads(record)["number"]

    def read(window: Window) -> Page:
        window = window._replace(block_from=number, block_to=number)
        return entities.page(reader(), "transactions", window, arguments)

    return list_response("transactions", arguments, read)


add_list(blueprint, "/transactions", "transactions")
add_list(blueprint, "/addresses/<address>/transactions", "transactions")


@blueprint.get("/transactions/<transaction_hash>")
def get_transaction(transaction_hash: str) -> Response:
    """Return a transaction's record, with fields of extensions; of one that is not indexed, that
    of an extension which knows it."""
    query_arguments()
    key = parameters.hash32(transaction_hash)
    body = transactions.get(reader(), key)
    if body is None:
        records = (part.unmined_transaction(key) for part in registry.parts(Api))
        response = json_value(reader().indexed(next(filter(None, records), None)))
        response.headers["Cache-Control"] = Kept.NEVER  # the next block may have it
        return response
    record = orjson.loads(body)
    tag = blocks.finality_of(reader(), record["blockNumber"], record["confirmations"])
    fields: dict[str, Any] = {**record, "finality": tag}
    fields["unproven"] = [*record["unproven"], "finality"]
    for part in registry.parts(Api):
        added = dict(part.transaction_fields(record))
        fields["unproven"] += added.pop("unproven", ())
        fields |= added
    return json_value(fields)


@blueprint.get("/transactions/<transaction_hash>/adjacent")
def get_adjacent(transaction_hash: str) -> Response:
    """Return the transactions of the same sender before and after one."""
    query_arguments()
    adjacent = transactions.adjacent(reader(), parameters.hash32(transaction_hash))
    return json_body(reader().indexed(adjacent))


def indexed_transaction(transaction_hash: str) -> Any:
    """Return a transaction's record; raises NotFound."""
    query_arguments()
    record = transactions.get(reader(), parameters.hash32(transaction_hash))
    advice = (part.advice_on_missing_transaction for part in registry.parts(Api))
    what = " ".join(filter(None, ("This transaction is not indexed.", *advice)))
    return orjson.loads(reader().indexed(record, what))


add_list(blueprint, "/token-transfers", "token_transfers")
add_list(blueprint, "/addresses/<address>/transfers", "token_transfers")
add_list(blueprint, "/addresses/<address>/token-transfers", "token_transfers")
add_list(blueprint, "/dex-trades", "dex_trades")
add_list(blueprint, "/addresses/<address>/trades", "dex_trades", ("maker",))
add_list(blueprint, "/addresses/<address>/dex-trades", "dex_trades", ("maker",))


@blueprint.get("/tokens/<address>/transfers")
def list_transfers_of_token(address: str) -> Response:
    tokens.get(reader(), parameters.address(address))  # raises NotFound
    return entity_list("token_transfers", tokenAddress=address)


@blueprint.get("/stats")
def stats() -> Response:
    query_arguments()
    record = network.stats(reader(), services.services().settings.chain_name or None)
    kept_from = reader().kept_from
    if kept_from is not None:
        record = f'{record[:-1]},"keptFrom":{orjson.dumps(kept_from.record()).decode()}}}'
    if incomplete := reader().incomplete:
        record = f'{record[:-1]},"completeFrom":{orjson.dumps(incomplete).decode()}}}'
    return json_body(record)


@blueprint.get("/stats/finality")
def get_finality() -> Response:
    """Return the node's finality, as far as it answers."""
    query_arguments()
    finality = blocks.finality(reader())
    return json_value(
        {
            "latestBlock": blocks.newest_number(reader()),
            "safeBlock": finality.safe,
            "finalizedBlock": finality.finalized,
            "unproven": ("safeBlock", "finalizedBlock"),
        }
    )
