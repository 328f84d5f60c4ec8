"""Clients of an index with unit prices."""

import json

from scan.extensions.markets.unit_prices.settings import Settings as PriceSettings
from tests.support.database import execute, insert
from tests.support.serving import wait_until


class OneReader:
    """A request, whose reads are those of the database above."""

    first_block = 0

    def __init__(self, database):
        self.sources = self
        self.database = database
        self.is_cached = True

    def do_not_cache(self):
        self.is_cached = False

    def row(self, statement, **params):
        [row] = self.database.rows(statement, **params)
        return tuple(row[1:])


def add_pool(url, address, tokens, closes, dex="uniswap-v2"):
    """A pool with closes, each of an hour and two amounts of its tokens."""
    execute(url, "INSERT INTO dexes (name) VALUES (%s) ON CONFLICT DO NOTHING", dex)
    of_dex = "INSERT INTO pools SELECT %s, 0, dex_id, %s, %s FROM dexes WHERE name = %s"
    execute(url, of_dex, address, *tokens, dex)
    for hour, amount0, amount1 in closes:
        close = {"close_amount0": amount0, "close_amount1": amount1}
        volumes = {"volume0": amount0 or 0, "volume1": amount1 or 0}
        insert(url, "pool_candles", pool_address=address, hour=hour, **close, **volumes)


TIME = "2026-01-31T23:59:59Z"


def priced_by(indexed, source, **settings):
    """Return a client of an index with prices of a source."""
    return indexed.client(of_extensions={PriceSettings: PriceSettings(str(source))}, **settings)


def priced_by_file(indexed, folder, prices):
    """Return a client of an index that has read these prices of a file."""
    file = folder / "prices.json"
    file.write_text(json.dumps(prices))
    client = priced_by(indexed, file)
    read(client)
    return client


def document(scenario, **changed):
    tokens = {token["address"]: "2.5" for token in scenario.truth.tokens}
    given = {"currency": "<b>U", "time": TIME, "coin": "3000", "minDepth": "1000"}
    return {**given, "tokens": tokens, **changed}


def read(client):
    """Return what the API has once the source and prices by pools have been read."""
    prices = {}

    def is_read():
        prices.update(client.get("/api/v1/prices").get_json())
        return "not been read yet" not in (prices["problem"] or "")

    wait_until(is_read)
    return prices
