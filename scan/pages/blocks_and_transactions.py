"""Pages of blocks and transactions: /blocks, /block/:numberOrHash, /txs and /tx/:hash, with a
transaction's token transfers and trades, and what extensions show of it.
"""

from itertools import chain

import orjson
from flask import Blueprint, Response

from scan import parameters, registry
from scan.database.statements import read_records
from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.http.current_request import reader
from scan.http.prerequisites import requires
from scan.pages import hooks, records, tabs
from scan.pages.filtered_lists import entity_list
from scan.pages.site import page
from scan.queries import blocks, transactions
from scan.queries.holdings import unit_prices
from scan.queries.list_pages import Window

MOST_SHOWN = 50  # of each list that extensions add to a block

blueprint = Blueprint("pages_blocks_and_transactions", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    return entity_list("blocks", "/blocks", "/blocks").show("blocks.html")


@blueprint.get("/block/<block>")
def get_block(block: str) -> Response:
    number_or_hash = None if block == "latest" else parameters.block_number_or_hash(block)
    record = orjson.loads(blocks.record(reader(), number_or_hash))
    number = record["number"]
    api_path = f"/blocks/{number}/transactions"
    tab = records.requested_tab(("transactions",))
    sent = entity_list("transactions", f"/block/{number}", api_path, block=number, tab=tab)
    hooks.complete_transactions(reader(), sent.records)
    whole = Window(MOST_SHOWN, 0, "asc", record["number"], record["number"])
    lists: dict[str, list[records.Record]] = {}
    for section in hooks.sections_of(hooks.BlockSection):
        lists |= section.read(record, whole)
    lists_of_block = (record.get("withdrawals", ()), record.get("uncles", ()), *lists.values())
    names = records.names_of([record, *sent.records, *chain.from_iterable(lists_of_block)])
    return sent.response(
        "block.html",
        tab=tab,
        block=record,
        facts=read_records()["records"]["Block"]["_facts"],
        lists=lists,
        transactions=sent,
        names=names,
        finality=records.finality_of(record["number"], record["confirmations"]),
        prices=unit_prices(reader()),
    )


ADDRESS_CHARACTERS = 42  # in hex; other fields of chains are longer


@blueprint.get("/txs")
def list_transactions() -> Response:
    transactions = entity_list("transactions", "/txs", "/transactions")
    hooks.complete_transactions(reader(), transactions.records)
    return transactions.show("transactions.html", prices=unit_prices(reader()))


@blueprint.get("/tx/<transaction_hash>")
@requires(tabs.prerequisite)
def get_transaction(transaction_hash: str) -> Response:
    key = records.hash_of(transaction_hash)
    body = transactions.get(reader(), key)
    if body is None:
        try:
            for pages in registry.parts(hooks.Pages):
                if (response := pages.page_of_missing(key)) is not None:
                    return response
            failure = ""
        except (UpstreamFailed, Unavailable) as error:
            failure = f" Whether one is pending is not known: {error.message}"
        if blocks.get(reader(), key) is not None:
            raise NotFound("This is the hash of a block, not of a transaction. Search for it.")
        raise reader().not_indexed(
            "No transaction or block with this hash is indexed. A transaction may still be pending,"
            f" may never have been sent, or may be on another chain.{failure}"
        )
    record: records.Record = orjson.loads(body)
    of_chain = (v for v in record.get("chainFields", {}).values() if isinstance(v, str))
    events = transactions.events(reader(), key)
    transfers, trades = orjson.loads(events.transfers), orjson.loads(events.trades)
    heads = [section.read(record) for section in hooks.sections_of(hooks.TransactionSection)]
    tab = tabs.requested(tabs.tabs())
    tab_values = tab.read(record)
    return page(
        "transaction.html",
        **{name: value for head in heads for name, value in head.values.items()},
        **tab_values.values,
        transaction=record,
        transfers=transfers,
        transfer_count=events.transfer_count,
        trades=trades,
        trade_count=events.trade_count,
        tab=tab,
        tab_titles=tabs.transaction_titles(heads),
        is_open=tabs.is_open(tab),
        finality=records.finality_of(record["blockNumber"], record["confirmations"]),
        adjacent=orjson.loads(transactions.adjacent(reader(), key) or "null"),
        prices=unit_prices(reader()),
        names=records.names_of(
            [record, *(r for head in heads for r in head.records), *transfers, *trades],
            *(v for v in of_chain if v.startswith("0x") and len(v) == ADDRESS_CHARACTERS),
            *(address for part in (*heads, tab_values) for address in part.addresses),
        ),
    )
