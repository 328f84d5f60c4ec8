"""Rows that are not kept: lists begin later and are exact, and nothing else changes."""

import itertools

import pytest

from scan.commands.audit import EXACT
from scan.settings import Settings
from tests.support import auditing, openapi_document, table_digest
from tests.support.partitions import lists

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


def test_lists_and_their_cursors_end_at_the_first_kept_block(pruned, scenario):
    def compared(body, names):
        """A page without what derives from rows that are not kept."""
        of_trades = {"lastTradeAt": None, "lastTradeHash": None}
        pools = {"pools": [pool | of_trades for pool in body.get("pools", ())]}
        return {name: (body | pools)[name] for name in names}

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
    sums = """
        blocks addresses token_holders token_items item_balances tokens pools pool_candles dexes
        event_topics list_counts daily_stats contracts codes authorizations chain
    """
    for table in sums.split():
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
