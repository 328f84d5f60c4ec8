"""Rows that are not kept: lists begin later and are exact, and nothing else changes."""

import itertools

import pytest

from scan.commands.audit import EXACT
from scan.extensions.retention.tests.removal import pruned, whole_settings
from scan.indexer.block_rows import BODIES
from scan.indexer.partitions import TABLES
from scan.settings import Settings
from tests.support import auditing, openapi_document, table_digest
from tests.support.partitions import lists

__all__ = ["pruned", "whole_settings"]

# What derives from all rows.
SUMS = """
    blocks addresses token_holders token_items item_balances tokens pools pool_candles dexes
    event_topics list_counts daily_stats contracts codes authorizations chain
""".split()


def queries(first, scenario):
    """Of every entity: all, by one key and by several, in ranges of blocks, each at some page."""
    head = scenario.anvil.head()
    people = [*scenario.stage.people[:3], "0x" + 40 * "0", "0x" + 40 * "9"]
    tokens = [t["address"] for t in first.get("/api/v1/tokens?limit=5").json["tokens"]]
    pools = [p["address"] for p in first.get("/api/v1/pools?limit=3").json["pools"]]
    topics = [log["topics"][0] for log in first.get("/api/v1/logs?limit=60").json["logs"][::20]]
    parties = [*({"address": a} for a in people), {"from": people[0]}, {"to": people[1]}]
    pair = {"from": people[0], "to": people[1]}
    filters = {
        "transactions": [{}, *parties, pair, {"from": people[0], "to": tokens[0]}],
        "token_transfers": [
            {},
            *parties,
            pair,
            *({"tokenAddress": a} for a in tokens),
            *({"tokenAddress": a, "from": people[1]} for a in tokens[:2]),
        ],
        "internal_transfers": [{}, *parties, pair],
        "dex_trades": [{}, *({"maker": a} for a in people), *({"pool": a} for a in pools)],
        "logs": [
            {},
            *({"address": a} for a in tokens),
            *({"topic0": t} for t in topics),
            {"address": tokens[0], "topic0": topics[0]},
        ],
    }
    ranges = ({}, {"blockFrom": head // 3, "blockTo": head // 2}, {"blockFrom": head - 5})
    pages = itertools.cycle(
        ({"limit": 7}, {"limit": 100}, {"limit": 9, "offset": 30, "orderBy": "asc"})
    )
    for entity, chosen in filters.items():
        for blocks, keys in itertools.product(ranges, chosen):
            yield {"entity": entity, "filter": keys | blocks, **next(pages)}


@pytest.mark.thorough
def test_queries_answer_as_over_all_rows_from_the_first_kept_block_on(pruned, scenario):
    whole, kept, _, first, _ = pruned
    kept_from = {"blockNumber": first, "timestamp": timestamp(whole, first)}
    rows = dict.fromkeys({*TABLES} - {BODIES}, 0)
    for body in queries(whole, scenario):
        given = body["filter"]
        bounded = {**body, "filter": given | {"blockFrom": max(given.get("blockFrom", 0), first)}}
        expected, answer = (
            whole.post("/api/v1/query", json=bounded).json,
            kept.post("/api/v1/query", json=body).json,
        )
        assert answer.pop("keptFrom") == kept_from
        assert answer | {"next": None} == expected | {"next": None}, body
        assert (answer["next"] is None) == (expected["next"] is None), body
        rows[body["entity"]] += len(answer["data"])
    assert min(rows.values()) > 10, rows


def timestamp(client, block):
    return client.get(f"/api/v1/blocks/{block}").json["timestamp"]


# Names of lists by block; of others a page has no order and no range of blocks.
BY_BLOCK = {
    "blocks",
    *("transactions", "token-transfers", "internal-transfers", "dex-trades", "logs"),
    *("history", "internal", "trades", "transfers"),
}


def pages_of_both(pruned, path, order):
    """The pages of a list with all rows from the first kept block on, and with those kept; what is
    no list, such as items of coins, is refused alike."""
    is_by_block = path.rpartition("/")[2] in BY_BLOCK
    fixed = f"limit=6&orderBy={order}" if is_by_block else "limit=6"
    bound = f"&blockFrom={pruned.first}" if is_by_block and path != "blocks" else ""
    cursors = [""] * 2
    for _ in range(12):
        queries = (f"{fixed}{bound}{cursors[0]}", f"{fixed}{cursors[1]}")
        answers = [
            client.get(f"/api/v1/{path}?{query}")
            for client, query in zip(pruned[:2], queries, strict=True)
        ]
        assert answers[0].status_code == answers[1].status_code, (path, queries)
        expected, answer = (answer.json for answer in answers)
        yield expected, answer
        assert (expected.get("next") is None) == (answer.get("next") is None), path
        if expected.get("next") is None:
            break
        cursors = [f"&cursor={body['next']}" for body in (expected, answer)]


def compared(body, names):
    """A page without what derives from rows that are not kept."""
    of_trades = {"lastTradeAt": None, "lastTradeHash": None}
    pools = {"pools": [pool | of_trades for pool in body.get("pools", ())]}
    return {name: (body | pools)[name] for name in names}


def test_lists_and_their_cursors_end_at_the_first_kept_block(pruned, scenario):
    orders = itertools.cycle(("desc", "asc"))
    pages = {
        (path, order): [*pages_of_both(pruned, path, order)]
        for path, order in zip(lists(pruned.whole, scenario), orders, strict=False)
    }
    for (path, order), page in ((of, page) for of, both in pages.items() for page in both):
        expected, answer = page
        names = answer.keys() - {"keptFrom", "next", "complete", "reason"}
        assert compared(answer, names) == compared(expected, names), (path, order)
    for (path, _), both in pages.items():
        names = path.rpartition("/")[2]
        assert all("keptFrom" in answer for _, answer in both) >= (names in BY_BLOCK - {"blocks"})
    histories = [path for path in pages if path[0].endswith("/history")]
    assert histories
    for path in histories:
        assert {(a["complete"], a["reason"]) for _, a in pages[path]} == {(False, "not_kept")}
    for path in pages.keys() - histories:
        assert all(a.keys() - {"keptFrom"} == e.keys() for e, a in pages[path]), path
    assert sum(len(both) - 1 for both in pages.values()) > 60


def test_items_follow_the_place_of_one_whose_transfers_are_removed(pruned, scenario):
    tokens = [t["address"] for t in pruned.whole.get("/api/v1/tokens?limit=20").json["tokens"]]
    paths = [f"addresses/{person}/nft" for person in scenario.stage.people[:4]]
    paths += [f"tokens/{token}/instances" for token in tokens]
    pages = 0
    for path in paths:
        params = {}
        while params is not None:
            expected, answer = (
                client.get(f"/api/v2/{path}", query_string=params).json for client in pruned[:2]
            )
            assert answer == expected, (path, params)
            params = expected.get("next_page_params")
            pages += params is not None
    assert pages > 1


def test_what_removed_transactions_said_of_blocks_is_unknown(pruned):
    whole, kept, _, first, _ = pruned
    whole_before, before = (c.get(f"/api/v2/blocks/{first - 1}").json for c in (whole, kept))
    unknown = ("transaction_fees", "priority_fee", "burnt_fees_percentage")
    assert all(whole_before[name] for name in unknown)
    assert before == whole_before | dict.fromkeys(unknown) | {"rewards": []}
    at = f"/api/v2/blocks/{first}"
    assert kept.get(at).json == whole.get(at).json
    reward = "/api?module=block&action=getblockreward&blockno="
    assert f"before block {first} are not kept" in kept.get(f"{reward}{first - 1}").json["result"]
    assert kept.get(f"{reward}{first}").json == whole.get(f"{reward}{first}").json
    miner = before["miner"]["hash"]
    mined = f"/api?module=account&action=getminedblocks&address={miner}&offset=1000"
    rows = whole.get(mined).json["result"]
    assert kept.get(mined).json["result"] == [r for r in rows if int(r["blockNumber"]) >= first]


def test_transactions_are_found_from_the_first_kept_block_on(pruned):
    whole, kept, _, first, _ = pruned
    for number, results, status in ((first - 1, 0, 404), (first, 1, 200)):
        block = f"/api/v1/transactions?blockFrom={number}&blockTo={number}&limit=1"
        one = whole.get(block).json["transactions"][0]["hash"]
        assert len(kept.get(f"/api/v1/search?q={one}").json["results"]) == results
        assert kept.get(f"/api/v1/transactions/{one}").status_code == status


def test_statistics_and_etherscans_lists_tell_where_rows_begin(pruned, scenario):
    stats = pruned.kept.get("/api/v1/stats")
    assert stats.json["keptFrom"]["blockNumber"] == pruned.first
    assert "keptFrom" not in pruned.whole.get("/api/v1/stats").json
    openapi_document.check_answer("get", "/api/v1/stats", stats)
    person = scenario.stage.people[0]
    filters = {
        "txlist": {"address": person},
        "tokentx": {"address": person},
        "txlistinternal": {},
        "getLogs": {"address": scenario.truth.tokens[0]["address"]},
    }
    for action, given in filters.items():
        module = "logs" if action == "getLogs" else "account"
        query = {"module": module, "action": action, **given}
        whole, kept = (c.get("/api", query_string=query) for c in (pruned.whole, pruned.kept))
        assert whole.json["message"] == "OK" and "X-Scan-Kept-From" not in whole.headers
        assert kept.headers["X-Scan-Kept-From"] == str(pruned.first), action
        rows, message = kept.json["result"], kept.json["message"]
        assert message == f"OK-Rows before block {pruned.first} are not kept", (action, rows)
        assert len(rows) < len(whole.json["result"])


def test_what_derives_from_all_rows_stays(pruned):
    after = table_digest.digest(pruned.settings.database_url)
    for table in SUMS:
        assert after[table] == pruned.before[table], table


@pytest.mark.thorough
def test_an_audit_of_all_tables_and_of_a_range_of_blocks_is_exact(pruned):
    assert auditing.run(pruned.settings) == EXACT
    assert auditing.run(pruned.settings, node=True, first=0, last=10**6) == EXACT


@pytest.mark.thorough
def test_tokens_held_at_a_kept_block_are_known(pruned, scenario):
    whole, kept, _, first, _ = pruned
    held = 0
    for person in scenario.stage.people[:4]:
        for block in (first - 1, first, first + 20, scenario.anvil.head()):
            path = f"/api/v1/addresses/{person}/tokens?limit=100&block={block}"
            expected = whole.get(path).json
            assert kept.get(path).json == expected
            held += len(expected["tokens"])
        older = kept.get(f"/api/v1/addresses/{person}/tokens?block={first - 2}")
        assert (older.status_code, older.json["code"]) == (422, "history_unavailable")
    assert held > 20


@pytest.mark.parametrize(("text", "value"), [("2", (None, 172_800)), ("5000 blocks", (5000, None))])
def test_rows_are_kept_for_days_or_blocks(text, value):
    assert Settings.from_environment({"SCAN_KEEP_DAYS": text}).keep == value
