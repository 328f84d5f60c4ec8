"""A consumer that is killed again and again, while blocks come and forks take them back, has in the
end exactly what the chain has: nothing lost, nothing twice."""

import random
import threading
from itertools import pairwise

import pytest
import requests

from scan.database.connection import Database
from scan.extensions.streams.tests.conftest import WITHOUT_LIMITS, announce_blocks
from tests.support import WAIT_S, event_source, made_blocks, serving

pytestmark = pytest.mark.long

TYPES = ("heads", "transactions", "token_transfers")
PEOPLE = [made_blocks.address(name) for name in ("anna", "bert", "carl")]
# With 50 kills, 2,000 events and 5 restarts it takes minutes.
KILLS, EVENTS, RESTARTS = 12, 150, 1


class Growing(threading.Thread):
    """Adds blocks and takes some back, until it is stopped; the last block is empty."""

    def __init__(self, database_url, seed):
        super().__init__(name="growing", daemon=True)
        self._database = Database(database_url, statement_timeout_ms=0)
        announce_blocks(database_url)
        self.chain = made_blocks.Chain(self._database)
        self.chain.append()
        self._random = random.Random(seed)
        self._is_over = threading.Event()
        self.forks = 0

    def run(self):
        while not self._is_over.wait(self._random.random() / 20):
            if self._random.random() < 0.25:
                self.chain.unwind(max(0, self.chain.number - self._random.randint(1, 4)))
                self.forks += 1
            self.chain.append([self._move() for _ in range(self._random.randint(0, 5))])
        self.chain.append([])

    def stop(self):
        self._is_over.set()
        self.join(WAIT_S)
        self._database.close()

    def _move(self):
        tokens = self._random.randint(1, 9) if self._random.random() < 0.4 else None
        return made_blocks.Move(*self._random.sample(PEOPLE, 2), tokens=tokens)


class Consumer:
    """Keeps what it received, and takes out again what was removed."""

    def __init__(self):
        self.held = []
        self.last_id = ""
        self.received = 0

    def consume(self, server, count):
        """So many events, after which it is killed: what has come beyond is lost to it."""
        source = event_source.EventSource(server, types=",".join(TYPES))
        source.last_id = self.last_id
        with source:
            for event in source.events():
                self.received += 1
                if event.data.pop("removed", False):
                    assert self.held.pop() == (event.type, event.data)
                else:
                    self.held.append((event.type, event.data))
                self.last_id = event.id
                count -= 1
                if count == 0:
                    return

    def reach(self, server, number):
        while not self.held or self.held[-1] != ("heads", newest(server)):
            self.consume(server, 1)
        assert self.held[-1][1]["number"] == number


def newest(server):
    blocks = requests.get(f"{server}/api/v1/blocks", params={"limit": 1}, timeout=WAIT_S).json()
    return dict(blocks["blocks"][0])


def indexed(server):
    """What lists have, in the order of streams."""
    rows = []
    for index, entity in enumerate(("blocks", *TYPES[1:])):
        number = "number" if entity == "blocks" else "blockNumber"
        body = {"entity": entity, "orderBy": "asc", "limit": 100}
        records = []
        while page := query(server, {**body, "offset": len(records)}):
            records += page
        rows += [(record[number], index, i, record) for i, record in enumerate(records)]
    return [(TYPES[index], record) for _, index, _, record in sorted(rows, key=lambda r: r[:3])]


def query(server, body):
    return list(requests.post(f"{server}/api/v1/query", json=body, timeout=WAIT_S).json()["data"])


def test_a_consumer_killed_again_and_again_has_what_the_chain_has(database_url):
    seed = random.randrange(10**6)
    growing, consumer, choice = Growing(database_url, seed), Consumer(), random.Random(seed)
    restarts = sorted(choice.sample(range(1, KILLS), RESTARTS))
    kills_between = [end - start for start, end in pairwise((0, *restarts, KILLS))]

    def consume_and_kill(server, kills):
        for _ in range(kills):
            consumer.consume(server, choice.randint(1, 2 * EVENTS // KILLS))

    with serving.gunicorn(database_url, **WITHOUT_LIMITS) as server:
        consumer.last_id = f"0-{newest(server)['hash']}-0"
        growing.start()
        consume_and_kill(server, kills_between[0])
    for kills in kills_between[1:-1]:
        with serving.gunicorn(database_url, **WITHOUT_LIMITS) as server:
            consume_and_kill(server, kills)
    with serving.gunicorn(database_url, **WITHOUT_LIMITS) as server:
        consume_and_kill(server, kills_between[-1])
        while consumer.received < EVENTS:
            consumer.consume(server, EVENTS - consumer.received)
        growing.stop()
        consumer.reach(server, growing.chain.number)
        assert consumer.held == indexed(server), f"seed {seed}, {growing.forks} forks"
