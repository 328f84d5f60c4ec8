"""The balances of an address over time in Blockscout's form."""

import random

from scan.extensions.blockscout.tests.test_responses import most


def test_coin_balances_follow_each_other(ask, scenario, truth):
    node = scenario.anvil
    assert len(ask.rows(f"/addresses/{most(truth, 'txCount')}/coin-balance-history")) > 60
    for person in [most(truth, "txCount"), *random.Random(4).sample(sorted(truth.addresses), 6)]:
        rows = ask.rows(f"/addresses/{person}/coin-balance-history")
        for row in rows[:: max(1, len(rows) // 8)]:
            wei = int(node.call("eth_getBalance", person, hex(row["block_number"])), 16)
            assert row["value"] == str(wei), (person, row)
        if rows:
            days = ask(f"/addresses/{person}/coin-balance-history-by-day")["items"]
            assert days[-1]["value"] == rows[0]["value"]
