"""How a token's holders changed in thirty days, against balances of the node."""

import re

import pytest

from scan.queries import tokens
from tests.support.database import execute
from tests.support.scenario.stage import STRANGERS

pytestmark = pytest.mark.thorough


def test_holders_that_came_and_went_are_counted(world):
    coin = world.deploy("Coin", "Coin", "COIN", 18)
    owner, gone, same, other, brief = world.accounts[:5]
    for person in (owner, gone, same):
        world.do(coin, "mint", person, 100)
    for _ in range(40):
        world.next_day()
    world.do(coin, "transfer", other, 100, sender=1)
    world.do(coin, "transfer", same, 5, sender=2)
    world.do(coin, "transfer", brief, 7)
    world.do(coin, "transfer", STRANGERS[0], 7)
    world.do(coin, "transfer", STRANGERS[1], 0)
    world.next_day()
    world.do(coin, "transfer", owner, 7, sender=4)
    world.do(coin, "burn", 1)
    world.read()
    change = world.token(coin, "/holders/change")
    counts = [change[name] for name in ("added", "removed", "change", "days")]
    assert counts == [2, 1, 1, 30]  # other and the first stranger came, gone left
    assert "2 joined, 1 left" in world.get(f"/token/{coin.address}")
    chart = world.get(f"/token/{coin.address}?tab=chart").partition("Holders by day")[2]
    *_, count = re.findall(r"<td>([0-9]+)</td></tr>", chart.partition("</figure>")[0])
    balances = {owner: 92, same: 100, other: 100, STRANGERS[0]: 7}
    assert world.holders(coin) == balances and int(count) == len(balances)
    nobody = f"/api/v1/tokens/{STRANGERS[0]}/holders/change"
    assert world.client.get(nobody).status_code == 404


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
