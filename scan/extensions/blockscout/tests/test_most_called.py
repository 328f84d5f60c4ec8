"""The contracts that transactions called most, counted from the chain's transactions."""

import pytest

from scan.extensions.chain_statistics.statistics import CountedBounds
from scan.extensions.chain_statistics.tests.called import counted
from tests.support.indexing import sources

PATH = "/stats/hot-smart-contracts"


@pytest.mark.parametrize("scale", ["5m", "30d"])
def test_contracts_are_listed_by_their_calls(ask, scenario, truth, scale):
    expected = counted(scenario, truth, {"5m": 300, "30d": 30 * 86_400}[scale])
    assert expected
    for sort in ("transactions_count", "total_gas_used"):
        for order in ("desc", "asc"):
            rows = ask.rows(PATH, scale=scale, sort=sort, order=order)
            shown = {
                row["contract_address"]["hash"].lower(): (
                    row["transactions_count"],
                    row["total_gas_used"],
                )
                for row in rows
            }
            assert shown == expected and len(rows) == len(expected)
            ranks = [row[sort] for row in rows]
            assert ranks == sorted(ranks, reverse=order == "desc")


def test_a_time_with_too_many_transactions_is_refused(client):
    sources(client).get(CountedBounds).transactions = 5
    refused = client.get(f"/api/v2{PATH}?scale=30d&=many")
    assert refused.status_code == 422 and "shorter" in refused.json["errors"][0]["detail"]
    assert client.get(f"/api/v2{PATH}").status_code == 422
