"""The history of an address: its rows add up to what the node says it has, however it is read."""

import random
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.conftest import Played
from tests.support.indexing import Indexing
from tests.support.scenario import MINERS, STRANGERS

Row = dict[str, Any]
DEV_BALANCE = 10_000 * 10**18
SIGN = {"in": 1, "out": -1, "self": 0}


def history(client: FlaskClient, address: str, limit: int = 100, **filters: Any) -> list[Row]:
    """Every row, page by page."""
    rows: list[Row] = []
    cursor: dict[str, str] = {}
    while True:
        page = get(client, address, limit=limit, **filters, **cursor)
        rows += page["history"]
        if page["next"] is None:
            assert page["total"] in (None, len(rows)), (address, filters)
            return rows
        assert len(page["history"]) == limit
        cursor = {"cursor": page["next"]}


def get(client: FlaskClient, address: str, **arguments: Any) -> Any:
    response = client.get(f"/api/v1/addresses/{address}/history", query_string=arguments)
    assert response.status_code == 200, response.text
    return response.json


def asset(row: Row) -> tuple[str | None, str | None]:
    return row["tokenAddress"], row["tokenId"] if row["tokenType"] == "BEP1155" else None


def sums(rows: list[Row]) -> Counter[Any]:
    totals: Counter[Any] = Counter()
    for row in rows:
        totals[asset(row)] += SIGN[row["direction"]] * int(row["amount"])
    return totals


@pytest.fixture(scope="module")
def addresses(scenario: Played) -> list[str]:
    contracts = [contract.address for contract in scenario.stage.contracts.values()]
    return [*scenario.stage.people, *STRANGERS, *MINERS, *contracts, "0x" + 40 * "0"]


@pytest.fixture(scope="module")
def histories(client: FlaskClient, addresses: list[str]) -> dict[str, list[Row]]:
    return {address: history(client, address) for address in addresses}


def test_coin_adds_up_to_the_balance(
    scenario: Played, client: FlaskClient, histories: dict[str, list[Row]]
) -> None:
    given: dict[str, int] = {}
    for address, rows in histories.items():
        balance = int(scenario.anvil.call("eth_getBalance", address, "latest"), 16)
        opening = int(scenario.anvil.call("eth_getBalance", address, "0x0"), 16)
        page = get(client, address)
        given[address] = balance - sums(rows)[None, None]
        assert page["unexplained"] == str(given[address])
        assert page["complete"] is (given[address] == 0)
        if address not in scenario.stage.people:
            print(address, given[address], [k for k,v in scenario.stage.contracts.items() if v.address==address]) if given[address] else 0
        else:
            assert given[address] == opening == DEV_BALANCE, address
    assert 0
