"""Memos: GET /api/v1/memos; the page /memos, of all or with a text; and the memo of a transaction
on its page and in lists."""

import json
from collections.abc import Sequence

from flask import Blueprint, Response

from scan.api.hooks import Api
from scan.hex import data
from scan.http import requests
from scan.pages import filtered_lists, formatting
from scan.pages.hooks import Pages, Shown, TransactionSection
from scan.pages.records import Record
from scan.queries.reader import Reader

api_views = Blueprint("memos", __name__)
requests.add_list(api_views, "/memos", "memos")


page_views = Blueprint("pages_memos", __name__)


@page_views.get("/memos")
def list_memos() -> Response:
    return filtered_lists.entity_list("memos", "/memos", "/memos").show("memos.html")


def add_to_transactions(reader: Reader, records: Sequence[Record]) -> None:
    """Set `memo` of those that have one, cut after one character more than lists show."""
    # Texts of pending transactions are in no block.
    mined = [r for r in records if r["methodId"] and r["toAddress"] and r.get("blockNumber")]
    if not mined:
        return
    (texts,) = reader.row(
        "queries/memos_list_of_transactions",
        blocks=[record["blockNumber"] for record in mined],
        transaction_indexes=[record["transactionIndex"] for record in mined],
        to_addresses=[data(record["toAddress"]) for record in mined],
        most=formatting.MAX_NAME + 1,
    )
    memos = {(number, index): text for number, index, text in json.loads(texts)}
    for record in mined:
        text = memos.get((record["blockNumber"], record["transactionIndex"]))
        if text is not None:
            record["memo"] = text


HOOKS = (
    Api(blueprints=(api_views,)),
    Pages(
        blueprints=(page_views,),
        menu=(("Chain", "/memos", "Memos"),),
        add_to_transactions=add_to_transactions,
        sections=(
            TransactionSection({"transaction_facts": "transaction_memo.html"}, lambda _: Shown({})),
        ),
    ),
)
