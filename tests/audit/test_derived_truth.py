"""Derived tables hold what tests/support/derived_truth.py makes of the node's blocks."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import psycopg2
import pytest

from scan.settings import Settings
from tests.conftest import Played
from tests.support import derived_truth
from tests.support.derived_truth import Rows
from tests.support.truth import Truth

# Each table's key.
TABLES: dict[Callable[[Truth], Rows], tuple[str, ...]] = {
    derived_truth.addresses: ("address",),
    derived_truth.token_holders: ("holder", "token_address"),
    derived_truth.tokens: ("address",),
    derived_truth.token_items: ("token_address", "first_ordinal"),
    derived_truth.item_balances: ("holder", "first_ordinal"),
    derived_truth.event_topics: ("topic0",),
    derived_truth.dexes: ("name",),
    derived_truth.daily_stats: ("day",),
}


def stored(settings: Settings, table: str, key: tuple[str, ...], columns: list[str]) -> Rows:
    connection = psycopg2.connect(settings.database_url)
    with connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join((*key, *columns))} FROM {table}")  # noqa: S608
        rows = [[_plain(value) for value in row] for row in cursor.fetchall()]
    connection.close()
    return {
        row[0] if len(key) == 1 else tuple(row[: len(key)]): dict(
            zip(columns, row[len(key) :], strict=True)
        )
        for row in rows
    }


def _plain(value: Any) -> Any:
    if isinstance(value, memoryview):
        return "0x" + bytes(value).hex()
    if isinstance(value, datetime):
        return int(value.timestamp())
    return value.isoformat() if isinstance(value, date) else value


def require_same(found: Rows, expected: Rows, *, null_is_zero: bool = False) -> None:
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        values = {n: v or 0 if null_is_zero else v for n, v in found[key].items()}
        assert values == {name: row.get(name, 0) for name in values}, key


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_derived_tables_are_as_the_node_has_it(
    finished: Settings, scenario: Played, make: Callable[[Truth], Rows]
) -> None:
    expected = make(scenario.truth)
    columns = list(dict.fromkeys(name for row in expected.values() for name in row))
    found = stored(finished, make.__name__, TABLES[make], columns)
    require_same(found, expected, null_is_zero=make is derived_truth.addresses)


def test_candles_and_volumes_are_as_the_node_has_it(finished: Settings, scenario: Played) -> None:
    pools = stored(finished, "pools", ("address",), ["token0", "trade_count", "volume0", "volume1"])
    token0 = {address: pool["token0"] for address, pool in pools.items()}
    expected = derived_truth.pool_candles(scenario.truth, token0)
    columns = list(next(iter(expected.values())))
    require_same(stored(finished, "pool_candles", ("pool_address", "hour"), columns), expected)
    for address, pool in pools.items():
        candles = [row for (of, _), row in expected.items() if of == address]
        for name in ("trade_count", "volume0", "volume1"):
            assert pool[name] == sum(candle[name] for candle in candles), (address, name)
