"""GET /api/v1/blocks, /blocks/latest, /blocks/:numberOrHash; /transactions, of all or an address,
/transactions/:hash and the paths below it; /token-transfers and /dex-trades, also those of a token
or an address; /stats and /stats/finality."""

from typing import Any

import orjson
from flask import Blueprint

from scan import parameters, registry
from scan.api.hooks import Api
from scan.http import request_state, requests
from scan.queries import blocks, entities, network, pages, tokens, transactions

blueprint = Blueprint("blocks_and_transactions", __name__)


@blueprint.get("/blocks")
def list_blocks() -> requests.Response:
    arguments = requests.query_arguments("time", *requests.ORDERED)
    if "time" not in arguments:
        return requests.list_response(
            "blocks", arguments, lambda window: blocks.page(requests.reader(), window)
        )
    # The newest block at or before it; no other parameter goes with it.
    for name in arguments:
        if name and name != "time":
            raise parameters.unknown_argument(name, ("time",))
    time_s = parameters.time_s(arguments["time"], "time", is_upper=True)
    record = blocks.at_time(requests.reader(), time_s)
    return requests.json_body(
        requests.reader().indexed(record, "No block at or before this time is indexed.")
    )


@blueprint.get("/blocks/<block>")
def get_block(block: str) -> requests.Response:
    requests.query_arguments()
    key = None if block == "latest" else parameters.block_number_or_hash(block)
    return requests.json_body(blocks.record(requests.reader(), key))


@blueprint.get("/blocks/<block>/transactions")
def list_transactions_of_block(block: str) -> requests.Response:
    """Return a block's transactions; not of `latest`, whose pages would be of different blocks."""
    keys = pages.FILTER_KEYS["transactions"]
    arguments = requests.query_arguments(*keys, *requests.LISTED, "orderBy")
    record = blocks.record(requests.reader(), parameters.block_number_or_hash(block))
    number = orjson.loads(record)["number"]

    def read(window: pages.Window) -> pages.Page:
        window = window._replace(block_from=number, block_to=number)
        return entities.page(requests.reader(), "transactions", window, arguments)

    return requests.list_response("transactions", arguments, read)


requests.add_list(blueprint, "/transactions", "transactions")
requests.add_list(blueprint, "/addresses/<address>/transactions", "transactions")


@blueprint.get("/transactions/<transaction_hash>")
def get_transaction(transaction_hash: str) -> requests.Response:
    """Return a transaction's record, with fields of extensions."""
    record = indexed_transaction(transaction_hash)
    tag = blocks.finality_of(requests.reader(), record["blockNumber"], record["confirmations"])
    fields: dict[str, Any] = {**record, "finality": tag}
    fields["unproven"] = [*record["unproven"], "finality"]
    for part in registry.parts(Api):
        added = dict(part.transaction_fields(record))
        fields["unproven"] += added.pop("unproven", ())
        fields |= added
    return requests.json_value(fields)


@blueprint.get("/transactions/<transaction_hash>/adjacent")
def get_adjacent(transaction_hash: str) -> requests.Response:
    """Return the transactions of the same sender before and after one."""
    requests.query_arguments()
    adjacent = transactions.adjacent(requests.reader(), parameters.hash32(transaction_hash))
    return requests.json_body(requests.reader().indexed(adjacent))


def indexed_transaction(transaction_hash: str) -> Any:
    """Return a transaction's record; raises NotFound."""
    requests.query_arguments()
    record = transactions.get(requests.reader(), parameters.hash32(transaction_hash))
    advice = (part.advice_on_missing_transaction for part in registry.parts(Api))
    what = " ".join(filter(None, ("This transaction is not indexed.", *advice)))
    return orjson.loads(requests.reader().indexed(record, what))


requests.add_list(blueprint, "/token-transfers", "token_transfers")
requests.add_list(blueprint, "/addresses/<address>/transfers", "token_transfers")
requests.add_list(blueprint, "/dex-trades", "dex_trades")
requests.add_list(blueprint, "/addresses/<address>/trades", "dex_trades", ("maker",))


@blueprint.get("/tokens/<address>/transfers")
def list_transfers_of_token(address: str) -> requests.Response:
    tokens.get(requests.reader(), parameters.address(address))  # raises NotFound
    return requests.entity_list("token_transfers", tokenAddress=address)


@blueprint.get("/stats")
def stats() -> requests.Response:
    requests.query_arguments()
    record = network.stats(requests.reader(), request_state.services().settings.chain_name or None)
    kept_from = requests.reader().kept_from
    if kept_from is not None:
        record = f'{record[:-1]},"keptFrom":{orjson.dumps(kept_from.record()).decode()}}}'
    if requests.reader().incomplete:
        record = (
            f'{record[:-1]},"completeFrom":{orjson.dumps(requests.reader().incomplete).decode()}}}'
        )
    return requests.json_body(record)


@blueprint.get("/stats/finality")
def get_finality() -> requests.Response:
    """Return the node's finality, as far as it answers."""
    requests.query_arguments()
    finality = blocks.finality(requests.reader())
    return requests.json_value(
        {
            "latestBlock": blocks.newest_number(requests.reader()),
            "safeBlock": finality.safe,
            "finalizedBlock": finality.finalized,
            "unproven": ("safeBlock", "finalizedBlock"),
        }
    )
