"""How a token's holders changed in thirty days, against balances of the node."""

import re

import pytest

from scan.queries import tokens
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.scenario.stage import STRANGERS, Stage

pytestmark = pytest.mark.thorough


def test_holders_that_came_and_went_are_counted(postgres, template, anvil):
    stage = Stage(anvil)
    coin = stage.deploy("coin", "Coin", "Coin", "COIN", 18)
    owner, gone, same, *new = stage.people[:5]
    for person in (owner, gone, same):
        stage.do(0, "coin", "mint", person, 100)
    stage.mine()
    parties = [*stage.people, *STRANGERS[:3]]
    before = {party: anvil.read(coin, "balanceOf", party) for party in parties}
    day_s = 86_400
    anvil.call("anvil_setBlockTimestampInterval", 40 * day_s)
    stage.mine()
    anvil.call("anvil_setBlockTimestampInterval", 12)
    stage.do(1, "coin", "transfer", new[0], 100)
    stage.do(2, "coin", "transfer", same, 5)
    stage.do(0, "coin", "transfer", new[1], 7)
    stage.do(0, "coin", "transfer", STRANGERS[0], 7)
    stage.do(0, "coin", "transfer", STRANGERS[1], 0)
    stage.mine()
    anvil.call("anvil_setBlockTimestampInterval", day_s)
    stage.do(4, "coin", "transfer", owner, 7)
    stage.do(0, "coin", "burn", 1)
    stage.mine()
    now = {party: anvil.read(coin, "balanceOf", party) for party in parties}
    with postgres.cloned(template) as url:
        indexing = Indexing(url, anvil.url).run_until(anvil.head())
        client = indexing.client()
        path = f"/api/v1/tokens/{coin.address}/holders/change"
        change = client.get(path).json
        added = sum(now[p] > 0 and not before[p] for p in parties)
        assert (added, sum(before[p] > 0 and not now[p] for p in parties)) == (2, 1)
        assert (change["added"], change["removed"], change["change"]) == (2, 1, 1)
        assert change["days"] == 30
        assert "2 joined, 1 left" in client.get(f"/token/{coin.address}").text
        chart = client.get(f"/token/{coin.address}?tab=chart").text.partition("Holders by day")[2]
        *_, count = re.findall(r"<td>([0-9]+)</td></tr>", chart.partition("</figure>")[0])
        assert int(count) == sum(map(bool, now.values()))
        assert client.get(f"/api/v1/tokens/{STRANGERS[0]}/holders/change").status_code == 404


def test_no_balance_is_read_of_more_transfers_than_are_counted(seeded_service, monkeypatch):
    [[token, count]] = execute(
        seeded_service.url,
        "SELECT address, transfer_count FROM tokens ORDER BY transfer_count DESC LIMIT 1",
    )
    page = f"/token/0x{bytes(token).hex()}"
    assert "joined" in seeded_service.client.get(page).text
    for most, is_read in ((count, True), (3, False)):
        monkeypatch.setattr(tokens, "MAX_CHANGES", most)
        plans, change = seeded_service.plans(f"/api/v1{page.replace('n/', 'ns/')}/holders/change")
        [plan] = [p for p in plans if p.statement == "queries/tokens_get_holder_change"]
        tables = {n["Table"] for n in plan.nodes if n["Actual Loops"]}
        assert ("token_holders" in tables) == is_read
        assert [change[n] is not None for n in ("added", "removed", "change")] == [is_read] * 3
        transfers = [n for n in plan.nodes if n["Table"] == "token_transfers" and n["Actual Loops"]]
        assert sum(n["Actual Rows"] for n in transfers) <= most + 1
    assert "joined" not in seeded_service.client.get(f"{page}?=anew").text
    assert "Holders by day" not in seeded_service.client.get(f"{page}?tab=chart").text
