"""Both ways to older holders, from the beginning and back from the present ones, on chains of real
tokens (OpenZeppelin's) with forks, an index that begins late, and one that keeps few rows."""

import pytest

from scan.extensions.past_holders import queries
from scan.extensions.past_holders.tests.holders import Tokens, get
from tests.support.indexing import Indexing


@pytest.mark.parametrize("is_from_end", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_each_way_leads_to_the_balances_of_the_node(world, monkeypatch, is_from_end):
    """Also after a fork: what was summed before it is of another block."""
    monkeypatch.setattr(queries.Way, "rows", lambda self, number: (0, is_from_end))
    tokens, client = Tokens(world.anvil, seed=7), world.client
    tokens.act(24)
    world.read()
    assert tokens.check(client, range(tokens.born - 2, world.head + 1, 3)) > 3
    path = f"/tokens/{tokens.coin.address}/holders?block={world.head - 2}&limit=1"
    before = get(client, path)
    world.anvil.reorganise(9)
    tokens.act(6)
    world.read()
    refused = get(client, f"{path}&cursor={before['next']}", 409)
    assert refused["code"] == "reorganised" and refused["cursor"] is None
    assert tokens.check(client, range(world.head - 16, world.head + 1, 2)) > 3


def test_an_index_that_begins_late_knows_tokens_that_are_younger(postgres, template, anvil):
    older = Tokens(anvil, seed=3)
    older.act(6)
    first = anvil.head() + 1
    younger = Tokens(anvil, seed=4)
    younger.act(16)
    older.act(4)
    head = anvil.head()
    with (
        postgres.cloned(template) as url,
        Indexing(url, anvil.url, until=head, start_block=first) as indexing,
    ):
        client = indexing.client()
        assert younger.check(client, range(first, head + 1, 4)) > 2
        path = f"/tokens/{younger.coin.address}/holders"
        for number in (0, first - 1):
            page = get(client, f"{path}?block={number}")
            assert (page["holders"], page["total"], page["next"]) == ([], 0, None)
        assert get(client, f"{path}?block={head + 1}", 404)["code"] == "not_found"
        for number in (0, first - 1, first, head):
            path = f"/tokens/{older.coin.address}/holders?block={number}"
            refused = get(client, path, 422)
            assert refused["code"] == "history_unavailable"
            assert f"begins at block {first}" in refused["error"]


def test_a_token_whose_events_are_not_its_balances_is_refused(world):
    coin = world.deploy("SilentCoin", 1000, False, True)
    world.do(coin, "transfer", world.you, 100)
    world.read()
    for given in (f"block={world.head}", "timeTo=2100-01-01", "block=1&format=csv"):
        refused = get(world.client, f"/tokens/{coin.address}/holders?{given}", 422)
        assert refused["code"] == "history_unavailable"
        assert "are not its balances" in refused["error"]
    page = world.client.get(f"/token/{coin.address}?tab=holders&block={world.head}")
    assert page.status_code == 422 and "are not its balances" in page.text
    assert world.token(coin, "/holders")["total"] > 1


def test_more_rows_than_are_summed_are_counted_and_refused(scenario, client, monkeypatch):
    """None is read: the counters say how many there are on either side of the block."""
    address, head = scenario.stage.contracts["dollar"].address, scenario.anvil.head()
    moved = [t for t in scenario.truth.token_transfers if t["tokenAddress"] == address]
    numbers = range(0, head, 9)
    before = {n: sum(t["blockNumber"] <= n for t in moved) for n in numbers}
    present = get(client, f"/tokens/{address}/holders")["total"]
    fewest = {n: min(before[n], len(moved) - before[n] + present) for n in numbers}
    assert len({*fewest.values()}) > 5
    monkeypatch.setattr(queries, "MAX_ROWS", 9)
    for number, rows in fewest.items():
        path, status = f"/tokens/{address}/holders?block={number}", 422 if rows > 9 else 200
        answer = get(client, path, status)
        assert (f"not summed: {rows:,} transfers" in answer.get("error", "")) is (rows > 9)
