"""A client that pages through lists by cursor while blocks arrive and forks take some back.

SCAN_TEST_TRAVERSALS=1000 has it do so a thousand times.
"""

import os
import random
from contextlib import contextmanager

import pytest

from scan.database.connection import Database
from scan.ethereum.blocks import EventLog
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from tests.support import brute_force, indexing
from tests.support.database import execute, store_all_logs
from tests.support.made_blocks import DEX, FIRST_TIMESTAMP_S, TOKEN, Chain, Move, address

PEOPLE = [address(name) for name in ("anna", "bert", "carl", "dora")]
TOPICS = TOPIC, _ = b"\1" * 32, b"\2" * 32
POOLS = address("pool"), address("other pool")
MIDDLE_S = FIRST_TIMESTAMP_S + 12 * 20


class Weather:
    """A chain that grows, and whose tip is replaced now and then."""

    def __init__(self, url, seed, deepest=12):
        self.url = url
        self.deepest = deepest
        self.append_next = self.append
        self.ended_early = 0  # pages that were not full, and went on
        self.random = random.Random(seed)
        store_all_logs(url)
        self.database = Database(url, statement_timeout_ms=0)
        self.chain = Chain(self.database)
        self.client = indexing.client_over(url)
        self.chain.append([Move(*PEOPLE[:2], pool=pool) for pool in POOLS], pools=POOLS)
        for _ in range(29):
            self.append()

    def append(self):
        moves = [
            Move(
                *self.random.choices(PEOPLE, k=2),
                tokens=self.random.choice((None, 5)),
                pool=self.random.choice((None, *POOLS)),
            )
            for _ in range(self.random.randint(0, 6))
        ]
        self.chain.append(
            moves,
            [EventLog(n, n, self.random.choice(PEOPLE), (TOPIC,), b"") for n in range(len(moves))],
            internal_transfers=[
                InternalTransfer(n, 0, TransferType.CALL, *self.random.choices(PEOPLE, k=2), 7)
                for n in range(len(moves))
            ],
            is_traced=True,
        )

    def append_busy(self):
        """A block with rows of all entities, of two busy people who seldom meet."""
        moves, logs, transfers = [], [], []
        for n in range(30):
            index, is_rare = self.random.choice((0, 1)), self.random.random() < 0.05
            pair = PEOPLE[index], PEOPLE[1 - index] if is_rare else self.random.choice(PEOPLE[2:])
            own = index ^ is_rare
            moves.append(Move(*pair, tokens=5, pool=POOLS[own], status=not is_rare))
            logs.append(EventLog(n, n, PEOPLE[index], (TOPICS[own],), b""))
            transfers.append(InternalTransfer(n, 0, TransferType.CALL, *pair, 7))
        self.chain.append(moves, logs, internal_transfers=transfers, is_traced=True)

    def change(self):
        """Most often nothing, or blocks; sometimes others in the place of those there were."""
        self.client.get("/api/v1/stats")  # which reads notifications, as the worker's loop does
        chance = self.random.random()
        if chance < 0.15:
            self.chain.unwind(max(2, self.chain.number - self.random.randint(1, self.deepest)))
        if chance < 0.5:
            for _ in range(self.random.randint(0, 3)):
                self.append_next()

    def body(self):
        entity = self.random.choice(
            "transactions token_transfers internal_transfers dex_trades logs blocks history".split()
        )
        possible = {"blockFrom": 10, "timeFrom": MIDDLE_S, "timeTo": 2 * MIDDLE_S}
        if entity != "blocks":
            possible["address"] = "0x" + self.random.choice(PEOPLE).hex()
        if entity not in ("blocks", "logs", "history", "dex_trades"):
            possible["from"] = "0x" + self.random.choice(PEOPLE).hex()
        if entity == "token_transfers":
            possible["tokenAddress"] = "0x" + TOKEN.hex()
        if entity == "dex_trades":
            pool = "0x" + self.random.choice(POOLS).hex()
            possible |= {"dex": DEX, "pool": pool, "tokenAddress": pool}
        keys = self.random.sample(sorted(possible), k=self.random.choice((0, 1, 1, 2)))
        if entity == "history":
            keys = list({*keys, "address"})
        return {
            "entity": entity,
            "filter": {key: possible[key] for key in keys},
            "orderBy": self.random.choice(("asc", "desc")),
        }


@pytest.fixture
def weather(database_url):
    weather = Weather(database_url, seed=25)
    yield weather
    weather.database.close()


def ask(client, body, **more):
    """A page of /query, or of a history in the same form."""
    if body["entity"] != "history":
        response = client.post("/api/v1/query", json={**body, **more})
        return response.status_code, response.json
    filters = {**body["filter"], "orderBy": body["orderBy"], **more}
    address = filters.pop("address")
    response = client.get(f"/api/v1/addresses/{address}/history", query_string=filters)
    page = response.json
    return response.status_code, {**page, "data": page.get("history")}


def whole(client, body):
    """Of a chain that stands still: by offsets, as far as the list has them."""
    rows = []
    more = {}
    while True:
        status, page = ask(client, body, limit=100, **more)
        assert status == 200
        rows += page["data"]
        if page["next"] is None:
            return rows
        more = {"offset": len(rows)}
        if body["entity"] == "history":
            more = {"cursor": page["next"]}


@contextmanager
def fresh_index(weather, postgres, template):
    """Of the chain as it is now."""
    with postgres.cloned(template) as url:
        store_all_logs(url)
        database = Database(url, statement_timeout_ms=0)
        weather.chain.copy_to(database)
        database.close()
        yield indexing.client_over(url)


def block_of(row):
    return int(row.get("blockNumber", row.get("number")))


def traverse(weather, body, matching=None):
    """The rows of a client that drops what it is told to, up to which block it has them, and how
    often it was told so. `matching` are those of the list as it is, where its pages may be empty
    before it ends."""
    rows = []
    newest, reorganised, cursor = 2**62, 0, None
    while True:
        weather.change()
        more = {"limit": weather.random.randint(30 if matching else 1, 40)}
        if cursor is not None:
            more["cursor"] = cursor
        status, page = ask(weather.client, body, **more)
        if status == 409:
            assert page["code"] == "reorganised"
            reorganised += 1
            common = page["commonBlock"]["number"]
            rows = [row for row in rows if block_of(row) <= common]
            newest, cursor = common, page["cursor"]
            continue
        assert status == 200, page
        first = matching() if matching and cursor is None else page["data"]
        if not rows and newest == 2**62 and body["orderBy"] == "desc" and first:
            newest = block_of(first[0])
        rows += page["data"]
        weather.ended_early += page["next"] is not None and len(page["data"]) < more["limit"]
        if page["next"] is None:
            return rows, newest if body["orderBy"] == "desc" else 2**62, reorganised
        cursor = page["next"]


TRAVERSALS = int(os.environ.get("SCAN_TEST_TRAVERSALS", "10"))


@pytest.mark.thorough
def test_every_row_comes_once_while_forks_take_blocks(weather, postgres, template):
    """The rows are those of numbered pages, and at the end of a round of a fresh index."""
    reorganised = 0
    a_round = 10  # traversals, after which the client is compared with an index that saw no fork
    for _ in range(TRAVERSALS // a_round):
        for _ in range(a_round):
            body = weather.body()
            rows, newest, times = traverse(weather, body)
            reorganised += times
            expected = [row for row in whole(weather.client, body) if block_of(row) <= newest]
            assert rows == expected, body
        with fresh_index(weather, postgres, template) as fresh:
            expected = [row for row in whole(fresh, body) if block_of(row) <= newest]
            assert rows == expected, body
            for other in (weather.body() for _ in range(6)):
                assert whole(weather.client, other) == whole(fresh, other), other
        weather.chain.unwind(min(weather.chain.number, 30))  # or rounds would become ever longer
    assert reorganised > TRAVERSALS / 20


@pytest.mark.thorough
@pytest.mark.parametrize("order", [pytest.param("asc", marks=pytest.mark.long), "desc"])
def test_pages_that_end_early_go_on_through_forks(database_url, monkeypatch, order):
    """Lists by several filters end a page after so many rows were compared, also without one that
    matches; each row comes once for all that."""
    monkeypatch.setattr("scan.api.query.MAX_ENTRIES", 128)  # checkpoints are as far apart
    one, other, pool = ("0x" + holder.hex() for holder in (*PEOPLE[:2], POOLS[0]))
    parties = {"address": one, "counterparty": other}
    weather = Weather(database_url, seed=25, deepest=30)
    weather.append_next = weather.append_busy
    reorganised = 0
    for entity, filters in (
        *((entity, parties) for entity in ("transactions", "token_transfers")),
        ("internal_transfers", parties),
        ("transactions", {"status": False}),
        ("transactions", {"from": other, "status": False}),
        ("logs", {"address": other, "topic0": "0x" + TOPICS[0].hex()}),
        ("dex_trades", {"maker": other, "pool": pool}),
        ("dex_trades", {"maker": other, "tokenAddress": pool}),
        ("dex_trades", {"dex": DEX, "maker": other, "pool": pool}),
    ):
        body = {"entity": entity, "filter": filters, "orderBy": order}

        def matching(body=body):
            every = whole(weather.client, {"entity": body["entity"]})
            return brute_force.Chain({body["entity"]: every}, {}).find(body)

        weather.ended_early = 0
        for _ in range(2):
            while weather.chain.number < 45:
                weather.append_busy()
            rows, newest, times = traverse(weather, body, matching)
            reorganised += times
            assert rows == [row for row in matching() if block_of(row) <= newest], body
        assert weather.ended_early, body
    weather.database.close()
    assert reorganised


def test_the_response_names_what_to_drop_and_where_to_go_on(weather):
    while weather.chain.number < 40:
        weather.append()
    path = "/api/v1/blocks?limit=3"
    first = weather.client.get(path).json
    weather.chain.unwind(weather.chain.number - 10)
    head = weather.client.get("/api/v1/blocks/latest").json
    for _ in range(20):
        weather.append()
    answer = weather.client.get(f"{path}&cursor={first['next']}")
    assert (answer.status_code, answer.json["code"]) == (409, "reorganised")
    assert answer.json["commonBlock"] == {"number": head["number"], "hash": head["hash"]}
    onward = weather.client.get(f"{path}&cursor={answer.json['cursor']}").json
    assert onward["blocks"][0]["hash"] == head["hash"]


@pytest.mark.thorough
def test_a_block_that_no_journal_has(weather):
    """Where everything was taken back, a client begins again."""
    path = "/api/v1/blocks?limit=3"
    weather.chain.unwind(29)
    cursor = weather.client.get(path).json["next"]
    oldest = weather.client.get("/api/v1/blocks/0").json
    weather.chain.unwind(10)
    execute(weather.url, "DELETE FROM orphaned_blocks")
    for number in (20, 60):  # the index is behind, or may be a replica's that is
        while weather.chain.number < number:
            weather.append()
        behind = weather.client.get(f"{path}&cursor={cursor}")
        assert (behind.status_code, behind.json["code"]) == (503, "unavailable")
        assert behind.headers["Retry-After"] == "1"
    while weather.chain.number < 120:
        weather.append()
    lost = weather.client.get(f"{path}&cursor={cursor}")
    assert (lost.status_code, lost.json["code"]) == (409, "reorganised")
    assert lost.json["commonBlock"] == {"number": 0, "hash": oldest["hash"]}
    cursor = weather.client.get(path).json["next"]
    weather.chain.unwind(-1)
    for _ in range(9):
        weather.append()
    answer = weather.client.get(f"{path}&cursor={cursor}")
    assert (answer.status_code, answer.json["cursor"]) == (409, None)
    assert answer.json["commonBlock"]["number"] == -1
