"""A consumer that is killed again and again, while blocks come and forks take them back, has in the
end exactly what the chain has: nothing lost, nothing twice."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
import requests

from scan.database.connection import Database
from scan.extensions.streams.tests.conftest import WITHOUT_LIMITS, announce_blocks
from tests.support import event_source, made_blocks, serving

pytestmark = pytest.mark.long

TYPES = ("heads", "transactions", "token_transfers")
PEOPLE = [made_blocks.address(name) for name in ("anna", "bert", "carl")]
# With 50 kills, 2,000 events and 5 restarts it takes minutes.
KILLS, EVENTS, RESTARTS = 12, 150, 1
CONSUMERS, RESUMES = 6, 60


class Growing(threading.Thread):
    """Adds blocks and takes some back, until it is stopped; the last block is empty. `changes` are
    the events that were added, and those that were removed."""

    def __init__(self, database_url, seed):
        super().__init__(name="growing", daemon=True)
        self._database = Database(database_url, statement_timeout_ms=0)
        announce_blocks(database_url)
        self.chain = made_blocks.Chain(self._database)
        self.chain.append()
        self._random = random.Random(seed)
        self._is_over = threading.Event()
        self.forks = self.changes = 0
        self._counts = [1]  # of each block's events

    def run(self):
        while not self._is_over.wait(self._random.random() / 20):
            if self._random.random() < 0.25:
                self._unwind(max(0, self.chain.number - self._random.randint(1, 4)))
            self._append([self._move() for _ in range(self._random.randint(0, 5))])
        self._append([])

    def _unwind(self, last_kept):
        self.chain.unwind(last_kept)
        self.forks += 1
        self.changes += sum(self._counts[last_kept + 1 :])
        del self._counts[last_kept + 1 :]

    def _append(self, moves):
        self.chain.append(moves)
        tokens = sum(move.tokens is not None for move in moves)
        self._counts.append(1 + len(moves) + tokens)
        self.changes += self._counts[-1]

    def stop(self):
        self._is_over.set()
        self.join(30)
        self._database.close()

    def _move(self):
        tokens = self._random.randint(1, 9) if self._random.random() < 0.4 else None
        return made_blocks.Move(*self._random.sample(PEOPLE, 2), tokens=tokens)


class Consumer:
    """Keeps what it received, and takes out again what was removed."""

    def __init__(self):
        self.held: list[tuple[str, dict[str, Any]]] = []
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
    blocks = requests.get(f"{server}/api/v1/blocks", params={"limit": 1}, timeout=10).json()
    return dict(blocks["blocks"][0])


def indexed(server):
    """What lists have, in the order of streams."""
    rows = []
    for place, entity in enumerate(("blocks", *TYPES[1:])):
        number = "number" if entity == "blocks" else "blockNumber"
        body = {"entity": entity, "orderBy": "asc", "limit": 100}
        records = []
        while page := query(server, {**body, "offset": len(records)}):
            records += page
        rows += [(record[number], place, i, record) for i, record in enumerate(records)]
    return [(TYPES[place], record) for _, place, _, record in sorted(rows, key=lambda r: r[:3])]


def query(server, body):
    return list(requests.post(f"{server}/api/v1/query", json=body, timeout=10).json()["data"])


def test_a_consumer_killed_again_and_again_has_what_the_chain_has(database_url):
    seed = random.randrange(10**6)
    growing, consumer, choice = Growing(database_url, seed), Consumer(), random.Random(seed)
    restart_at = choice.sample(range(KILLS), RESTARTS)
    with ExitStack() as servers:
        server = servers.enter_context(serving.gunicorn(database_url, **WITHOUT_LIMITS))
        consumer.last_id = f"0-{newest(server)['hash']}-0"
        growing.start()
        for kill in range(KILLS):
            consumer.consume(server, choice.randint(1, 2 * EVENTS // KILLS))
            if kill in restart_at:
                servers.pop_all().close()
                server = servers.enter_context(serving.gunicorn(database_url, **WITHOUT_LIMITS))
        while consumer.received < EVENTS:
            consumer.consume(server, EVENTS - consumer.received)
        growing.stop()
        consumer.reach(server, growing.chain.number)
        assert consumer.held == indexed(server), f"seed {seed}, {growing.forks} forks"


def test_consumers_that_resume_often_are_sent_each_change_at_most_once(database_url):
    seed = random.randrange(10**6)
    growing, consumers = Growing(database_url, seed), [Consumer() for _ in range(CONSUMERS)]
    with (
        serving.gunicorn(database_url, **WITHOUT_LIMITS) as server,
        ThreadPoolExecutor(CONSUMERS) as threads,
    ):

        def resume(consumer, choice):
            for _ in range(RESUMES):
                consumer.consume(server, choice.randint(1, 20))

        for consumer in consumers:
            consumer.last_id = f"0-{newest(server)['hash']}-0"
        growing.start()
        choices = [random.Random(seed + number) for number in range(CONSUMERS)]
        list(threads.map(resume, consumers, choices))
        growing.stop()
        for consumer in consumers:
            consumer.reach(server, growing.chain.number)
        of_chain = indexed(server)
    assert [c.received for c in consumers if c.received > growing.changes] == [], f"seed {seed}"
    assert all(consumer.held == of_chain for consumer in consumers), f"seed {seed}"
