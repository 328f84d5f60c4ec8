"""Every route of API v2: its responses are as published, and its lists have each row once."""

import re
from collections import Counter
from unittest.mock import patch
from urllib.parse import urlencode

import pytest

from scan.extensions.blockscout.tests.asking import REQUIRED, Asking, filled, most
from scan.extensions.blockscout.tests.published import faults, route_of
from tests.support.indexing import client_over
from tests.support.made_blocks import Move, address


def test_every_response_is_as_published(ask, examples, client):
    """What is 404 for an example is another kind of thing; each route has one that is not."""
    rules = [
        rule.rule
        for rule in client.application.url_map.iter_rules()
        if rule.rule.startswith(("/api/v2/", "/stats-service/")) and "GET" in (rule.methods or ())
    ]
    own = {"/api/v2/blocks/<block>/countdown": {"block": ["99999"]}}
    answers = {}
    for rule in rules:
        paths = filled(rule, {**examples, **own.get(rule, {})})
        responses = [client.get(path, query_string=REQUIRED.get(rule)) for path in paths]
        assert {response.status_code for response in responses} <= {200, 404}, rule
        answers[rule] = [response for response in responses if response.status_code == 200]
    files = {rule: answers[rule] for rule in rules if rule.endswith("/csv")}
    assert files and all(files.values())
    wrong = [
        fault
        for rule in answers.keys() - files.keys()
        for response in answers[rule]
        for fault in faults(route_of(rule), response.json)
    ]
    assert not wrong, "\n".join(dict.fromkeys(re.sub(r"\d+", "0", message) for message in wrong))
    unanswered = {rule for rule in rules if not answers[rule]}
    without_examples = r"/account-abstraction/.*<"  # the scenario has no user operations
    assert unanswered == {rule for rule in rules if re.search(without_examples, rule)}


def test_lists_of_all_have_each_row_once(ask, truth):
    assert [b["hash"] for b in ask.rows("/blocks")] == [b["hash"] for b in truth.blocks]
    hashes = [t["hash"] for t in truth.transactions]
    assert [t["hash"] for t in ask.rows("/transactions")] == hashes
    transfers = [(t["transactionHash"], t["logIndex"], t["value"]) for t in truth.token_transfers]
    shown = ask.rows("/token-transfers")
    assert [(t["transaction_hash"], t["log_index"]) for t in shown] == [t[:2] for t in transfers]
    internal = [(t["transactionHash"], t["transferIndex"]) for t in truth.internal_transfers]
    rows = ask.rows("/internal-transactions")
    assert [(t["transaction_hash"], t["index"]) for t in rows] == internal


@pytest.mark.thorough
def test_pages_by_type_that_end_early_have_every_row_once(ask, monkeypatch):
    every = ask.rows("/token-transfers")
    monkeypatch.setattr("scan.queries.filtered_pages.MAX_UNLISTED_ENTRIES", 10)
    for standard in ("ERC-20", "ERC-721", "ERC-1155"):
        pages = [*ask.pages("/token-transfers", type=standard)]
        assert len(pages) > len(every) / 11 - 1
        rows = [row for page in pages for row in page]
        assert rows == [row for row in every if row["token_type"] == standard] != []


def test_places_can_be_made_of_items(ask, truth):
    """As Blockscout's MCP server makes them, with fewer names than next_page_params has."""
    busy = most(truth, "txCount")
    for path in ("/transactions", f"/addresses/{busy}/transactions"):
        rows = ask.rows(path)
        for index in (3, 57, len(rows) - 1):
            at = {"block_number": rows[index]["block_number"], "index": rows[index]["position"]}
            assert ask(path, **at)["items"] == rows[index + 1 : index + 51]
    moved = Counter(transfer["tokenAddress"] for transfer in truth.token_transfers)
    [(emitter, _)] = moved.most_common(1)
    logs = ask.rows(f"/addresses/{emitter}/logs")
    for index in (0, len(logs) // 2, len(logs) - 1):
        at = {"block_number": logs[index]["block_number"], "index": logs[index]["index"]}
        assert ask(f"/addresses/{emitter}/logs", **at)["items"] == logs[index + 1 : index + 51]
    newest = ask("/transactions")["items"]
    assert ask("/transactions", block_number=2**62, index=2**62)["items"] == newest
    assert ask("/transactions", block_number=0)["items"] == []


@pytest.mark.parametrize(("kept", "replaced"), [(15, 3), (8, 0)], ids=["above", "shorter"])
def test_a_list_goes_on_by_place_after_a_fork(database_url, chain, kept, replaced):
    """Rows of blocks that are still in the chain come once, and none of the other branch's."""
    ask = Asking(client_over(database_url))
    for _ in range(20):
        chain.append([Move(address("sender"), address("receiver"))] * 5)
    pages = ask.pages("/transactions", _=kept)
    first = next(pages)
    chain.unwind(kept)
    for _ in range(replaced):
        chain.append([Move(address("sender"), address("receiver"))] * 3)
    rest = [row["hash"] for page in pages for row in page]
    now = ask.rows("/transactions", _="now")
    cursor = (first[-1]["block_number"], first[-1]["position"])
    common = [row["hash"] for row in now if row["block_number"] <= kept]
    seen = [row["hash"] for row in first if row["block_number"] <= kept] + rest
    assert [hash_ for hash_ in seen if hash_ in common] == common
    assert rest == [row["hash"] for row in now if (row["block_number"], row["position"]) < cursor]


def test_search_redirects_to_hashes_alone(ask, truth):
    symbols = {token["symbol"] for token in truth.tokens if 0 < len(token["symbol"]) <= 100}
    assert not any(ask("/search/check-redirect", q=text)["redirect"] for text in symbols)
    symbol = truth.tokens[0]["symbol"]
    assert ask("/search/quick", q=symbol) == ask("/search", q=symbol)["items"] != []
    with patch.multiple("scan.queries.blocks", get=lambda *_: None):  # they vanish meanwhile
        with patch.multiple("scan.queries.transactions", get=lambda *_: None):
            for vanished in (truth.blocks[4]["hash"], truth.transactions[6]["hash"]):
                assert ask("/search", q=vanished)["items"] == []
        assert ask("/search/check-redirect", q=truth.blocks[4]["hash"])["redirect"] is False


def test_an_index_without_blocks_has_nothing(database_url):
    ask = Asking(client_over(database_url))
    stats = ask("/stats")
    totals = ("total_addresses", "total_blocks", "total_transactions", "transactions_today")
    assert {stats[name] for name in totals} == {"0"}
    assert ask("/blocks") == ask("/transactions") == {"items": [], "next_page_params": None}


def test_paths_may_end_in_a_slash_and_with_a_key(ask):
    assert ask("/tokens/", apikey="unknown", key="x") == ask("/tokens")


def test_query_strings_urlencoded_as_clients_do(client):
    first = client.get("/api/v2/tokens").json
    cursor = {**{"fiat_value": "", "value": "null"}, **(first["next_page_params"] or {})}
    assert client.get(f"/api/v2/tokens?{urlencode(cursor)}").status_code == 200
