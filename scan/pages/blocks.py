"""/blocks and /block/:numberOrHash."""

import json
from itertools import chain

from flask import Blueprint, Response

from scan import parameters
from scan.http.requests import reader
from scan.pages.filtered_lists import entity_list
from scan.pages.hooks import BlockSection, complete_transactions, sections_of
from scan.pages.records import Record, finality_of, names_of, requested_tab
from scan.queries import blocks
from scan.queries.pages import Window
from scan.queries.prices import unit_prices

MOST_SHOWN = 50  # of each list that extensions add to a block

blueprint = Blueprint("pages_blocks", __name__)


@blueprint.get("/blocks")
def list_blocks() -> Response:
    shown = entity_list("blocks", "/blocks", "/blocks")
    return shown.response("blocks.html", shown=shown, names=names_of(shown.records))


@blueprint.get("/block/<block>")
def get_block(block: str) -> Response:
    named = None if block == "latest" else parameters.block_number_or_hash(block)
    body = blocks.get(reader(), named)
    if body is None:
        raise blocks.not_indexed(reader(), named)
    record = json.loads(body)
    number = record["number"]
    api_path = f"/blocks/{number}/transactions"
    tab = requested_tab(("transactions",))
    sent = entity_list("transactions", f"/block/{number}", api_path, block=number, tab=tab)
    complete_transactions(sent.records)
    whole = Window(MOST_SHOWN, 0, "asc", record["number"], record["number"])
    lists: dict[str, list[Record]] = {}
    for section in sections_of(BlockSection):
        lists |= section.read(record, whole)
    own = (record.get("withdrawals", ()), record.get("uncles", ()), *lists.values())
    names = names_of([record, *sent.records, *chain.from_iterable(own)])
    return sent.response(
        "block.html",
        tab=tab,
        block=record,
        lists=lists,
        transactions=sent,
        names=names,
        finality=finality_of(record["number"], record["confirmations"]),
        prices=unit_prices(reader()),
    )
