"""What producers earned, beside their balances before and after a block."""

from collections import Counter

from scan.extensions.block_records.tests.uncles.mined_blocks import UNCLE_MINERS, mined  # noqa: F401  # a fixture
from tests.support.lists import Listed, by_links, get

EARNINGS = Listed("/stats/earnings", "earnings", is_counted=False)


def earned_by_balance(node, number, miner):
    before, after = (
        int(node.call("eth_getBalance", miner, hex(block)), 16) for block in (number - 1, number)
    )
    return after - before


def test_a_block_brings_its_producer_what_its_balance_gains(client, scenario):
    days = Counter()
    burnt, blocks = days.copy(), days.copy()
    for block in scenario.truth.blocks[:-1]:  # without the first one
        record = get(client, f"/blocks/{block['number']}")
        gained = earned_by_balance(scenario.anvil, block["number"], block["miner"])
        assert int(record["earned"]) == int(record["producerFees"]) == gained, block["number"]
        assert record["withdrawn"] == "0"
        key = block["timestamp"][:10], block["miner"]
        days[key] += gained
        burnt[key] += int(block["burntFees"] or 0)
        blocks[key] += 1
    assert len(days) == 3
    rows = [row for row in by_links(client, EARNINGS, 2) if (row["date"], row["miner"]) in days]
    shown = {
        (r["date"], r["miner"]): (int(r["earned"]), int(r["burntFees"]), r["blocks"]) for r in rows
    }
    assert shown == {key: (days[key], burnt[key], blocks[key]) for key in days}
    assert len(rows) == len(shown)
    order = [(r["date"], r["blocks"]) for r in by_links(client, EARNINGS, 100)]
    assert order == sorted(order, reverse=True)


def test_days_of_one_producer_are_chosen_and_shown(client, scenario):
    newest = scenario.truth.blocks[0]
    day, miner = newest["timestamp"][:10], newest["miner"]
    every = by_links(client, EARNINGS, 100)
    of_miner = [row for row in every if row["miner"] == miner]
    assert by_links(client, EARNINGS, 1, miner=miner) == of_miner
    of_day = [row for row in every if row["date"] == day]
    assert by_links(client, EARNINGS, 100, **{"from": day, "to": day}) == of_day
    assert client.get(f"/earnings?from={day}&to={day}").text.count("<tr") == 1 + len(of_day)
    assert ">Earnings by day</a>" in client.get(f"/block/{newest['number']}").text
    for name, value in (("from", "today"), ("miner", "0x1"), ("cursor", "x"), ("page", "2")):
        answer = client.get("/api/v1/stats/earnings", query_string={name: value})
        assert (answer.status_code, answer.json["field"]) == (400, name)


def test_rewards_of_proof_of_work_are_in_what_a_miner_earned(mined):  # noqa: F811
    """The test's node keeps no rewards: the chain in front of it says which there were."""
    client, chain = mined.client, mined.chain
    gained = Counter()
    for header in chain.headers[1:]:
        number, miner = int(header["number"], 16), header["miner"]
        given = chain.earned(miner, hex(number)) - chain.earned(miner, hex(number - 1))
        expected = earned_by_balance(chain.node, number, miner) + given
        assert int(get(client, f"/blocks/{number}")["earned"]) == expected
        gained[miner] += expected
    gained |= {miner: chain.earned(miner, "latest") for miner in UNCLE_MINERS}
    shown, rows = Counter(), by_links(client, EARNINGS, 2)
    for row in rows:
        shown[row["miner"]] += int(row["earned"])
    assert {miner: shown[miner] for miner in gained} == gained
    assert {(row["burntFees"], row["blobFees"]) for row in rows} == {("0", "0")}
