"""A chain whose forks take blocks, and a client that pages through lists by cursor meanwhile."""

import random
from contextlib import contextmanager

from eth_utils import keccak

from scan.database.connection import Database
from scan.ethereum.blocks import EventLog
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from tests.support import indexing
from tests.support.database import store_all_logs
from tests.support.made_blocks import DEX, FIRST_TIMESTAMP_S, TOKEN, Chain, Move, address

PEOPLE = [address(name) for name in ("anna", "bert", "carl", "dora")]
SIGNATURES = ("Rained()", "Snowed()")
TOPICS = TOPIC, _ = [keccak(text=signature) for signature in SIGNATURES]
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
