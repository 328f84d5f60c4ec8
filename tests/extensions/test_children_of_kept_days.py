"""Children of a factory whose logs are removed after some days: those that they named stay."""

import json
import time
from contextlib import closing

import pytest
from eth_utils import keccak

from scan.database.connection import Database
from scan.ethereum.blocks import EventLog
from scan.extensions.events.following import Following, children_of
from scan.extensions.retention.maintenance import Retention
from scan.indexer.writer import Writer
from scan.settings import Keep
from tests.support import auditing, indexing
from tests.support.database import execute
from tests.support.made_blocks import Chain, Move, address
from tests.support.serving import NOWHERE

DAYS, DAY_S, FINALITY = 40, 86_400, 4
FACTORY, OTHER = address("factory"), address("other")
CREATED = "PairCreated(address indexed token, address pair)"
ABI = [{"type": "event", "name": "Sync", "inputs": []}]
TOPICS = {name: (keccak(text=name),) for name in ("PairCreated(address,address)", "Sync()")}
ROWS = "SELECT contract, count(*) FROM events.pair_sync GROUP BY 1 ORDER BY 1"


class KeptDays:
    """A block a day, of which half are kept: in each a contract is created, or none, and those that
    are there emit a log."""

    def __init__(self, database):
        self.keep = Keep(None, DAYS * DAY_S // 2)
        self.database, self.writer = database, Writer(database, 10**6, self.keep)
        self.first_s = int(time.time()) - DAYS * DAY_S
        self.following, self.children = Following(database), []
        self.begin()

    def begin(self):
        """The indexer starts."""
        self.chain = Chain(self.database, self.writer)

    def append(self):
        day, logs = self.chain.number + 1, []
        if day % 5 == 1:
            self.children.append(address(f"child {day}"))
            topics = (*TOPICS["PairCreated(address,address)"], bytes(32))
            logs.append(EventLog(0, 0, FACTORY, topics, bytes(12) + self.children[-1]))
        for child in self.children:
            logs.append(EventLog(0, len(logs), child, TOPICS["Sync()"], b""))
        self.chain.append([Move(FACTORY, OTHER)], logs, timestamp_s=self.first_s + day * DAY_S)
        retention = Retention(self.database, self.keep, FINALITY, wait_s=0.0)
        while retention.step(day):
            pass

    def fill(self):
        while fills := self.following.fills():
            self.following.fill(fills[0])
            self.following.begin_children()
        while self.following.decode():
            pass


@pytest.fixture
def days(database_url):
    with closing(Database(database_url, statement_timeout_ms=0)) as database:
        yield KeptDays(database)


def test_children_of_removed_logs_stay_also_where_the_extension_was_off(days, database_url):
    days.append()
    created = children_of(FACTORY, CREATED, "pair")
    days.following.add_children(created, "pair", json.dumps(ABI))
    days.following.make_views()
    days.fill()
    days.begin()
    for _ in range(DAYS):
        days.append()
    first = execute(database_url, "SELECT first_block::integer FROM retention")[0][0]
    assert first > 10
    rows = execute(database_url, ROWS)
    assert len(rows) == len(days.children)
    assert auditing.run(indexing.settings_for(database_url, NOWHERE)) == auditing.EXACT
    execute(database_url, "DELETE FROM filled_tables WHERE name = 'contract_events'")
    days.begin()
    named = execute(database_url, "SELECT address FROM followed_children")
    removed = days.children[: len(named)]
    assert (len(named) > 1, {bytes(one) for (one,) in named}) == (True, {*removed})
