"""Prices by pools are read in the background: what requests get while they are slow, or fail."""

from decimal import Decimal
from threading import Event

from scan.database.errors import QueryTooSlow
from scan.extensions.markets.tests.unit_prices.pricing import OneReader
from scan.extensions.markets.unit_prices.pool_prices import FAILED, READ_AGAIN_S, UNREAD, PoolPrices
from scan.queries import holdings
from tests.support import WAIT_S
from tests.support.serving import wait_until

TOKEN, BASE, POOL = (f"0x{digit * 40}" for digit in "123")
ROW = (
    f'[{{"token":"{TOKEN}","pool":"{POOL}","price":"2","depth":"9000",'
    f'"at":"2026-01-31T00:00:00Z","unused":null}}]'
)
GIVEN = holdings.UnitPrices("USD", "us", "2026-01-31T00:00:00Z", None, {BASE: Decimal(1)})


class SlowDatabase:
    """A database whose statement returns when it is let, or fails at the time-out; `now_s` is the
    time at which it is asked."""

    now_s = 1000.0

    def __init__(self):
        self.readings = self.closed = 0
        self.is_let = Event()
        self.fails = False

    def rows(self, statement, **_):
        assert statement == "queries/pool_prices_list"
        self.readings += 1
        assert self.is_let.wait(WAIT_S)
        if self.fails:
            raise QueryTooSlow
        return [(1, ROW)]

    def close(self):
        self.closed += 1


def reading(database):
    prices = PoolPrices(lambda: database.now_s)

    def read(given=GIVEN):
        request = OneReader(database)
        read = prices.add_to(given, request)
        return read.pools, read.pool_problem, request.is_cached

    return read


def read_once():
    """A database whose prices were read."""
    database = SlowDatabase()
    read = reading(database)
    database.is_let.set()
    wait_until(lambda: read()[1] is None)
    return database, read


def test_no_request_waits_for_the_statement_and_one_thread_runs_it():
    database = SlowDatabase()
    read = reading(database)
    for _ in range(5):
        assert read() == ({}, UNREAD, False)
    database.is_let.set()
    wait_until(lambda: database.closed == 1)
    wait_until(lambda: read()[1] is None)
    prices, _, is_cached = read()
    assert (prices[TOKEN].price, prices[TOKEN].pool, is_cached) == (Decimal(2), POOL, True)
    assert (database.readings, database.closed) == (1, 1)


def test_a_failed_reading_keeps_the_older_prices_and_pauses():
    database, read = read_once()
    database.fails = True
    for readings in (2, 3):
        database.now_s += READ_AGAIN_S
        read()
        wait_until(lambda: database.closed == readings)  # noqa: B023 (called at once)
        wait_until(lambda: read()[1] == FAILED)
        for _ in range(5):
            prices, problem, _ = read()
            assert (prices[TOKEN].price, problem) == (Decimal(2), FAILED)
        assert database.readings == readings
    database.fails = False
    database.now_s += READ_AGAIN_S
    read()
    wait_until(lambda: read()[1] is None)


def test_other_bases_are_read_at_once_and_prices_in_another_currency_are_not_shown():
    database, read = read_once()
    database.is_let.clear()
    priced = GIVEN._replace(tokens={**GIVEN.tokens, TOKEN: Decimal(3)})
    assert read(priced) == ({}, None, True)  # the operator's price goes before that of a pool
    wait_until(lambda: database.readings == 2)
    assert read(GIVEN._replace(currency="EUR")) == ({}, UNREAD, False)
    database.is_let.set()
