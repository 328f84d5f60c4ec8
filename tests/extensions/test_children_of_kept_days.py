"""Children of a factory whose logs are removed after some days: those that they named stay."""

import json
import time
from contextlib import closing

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


def test_children_of_removed_logs_stay_also_where_the_extension_was_off(database_url):
    """Of a block a day half are kept: in each a contract is created, or none, and those that are
    there emit a log."""
    keep, first_s = Keep(None, DAYS * DAY_S // 2), int(time.time()) - DAYS * DAY_S
    pair_created = "PairCreated(address indexed token, address pair)"
    made, created = [], children_of(FACTORY, pair_created, "pair")
    topics = (keccak(text="PairCreated(address,address)"), bytes(32))
    sync = keccak(text="Sync()")
    abi = [{"type": "event", "name": "Sync", "inputs": []}]
    rows = "SELECT contract, count(*) FROM events.pair_sync GROUP BY 1 ORDER BY 1"
    with closing(Database(database_url, statement_timeout_ms=0)) as database:
        writer, following = Writer(database, 10**6, keep), Following(database)
        retention = Retention(database, keep, FINALITY, wait_s=0.0)

        def append(chain):
            day, logs = chain.number + 1, []
            if day % 5 == 1:
                made.append(address(f"child {day}"))
                logs.append(EventLog(0, 0, FACTORY, topics, bytes(12) + made[-1]))
            for child in made:
                logs.append(EventLog(0, len(logs), child, (sync,), b""))
            chain.append([Move(FACTORY, OTHER)], logs, timestamp_s=first_s + day * DAY_S)
            while retention.step(day):
                pass

        append(Chain(database, writer))
        following.add_children(created, "pair", json.dumps(abi))
        following.make_views()
        while fills := following.fills():
            following.fill(fills[0])
            following.begin_children()
        while following.decode():
            pass
        chain = Chain(database, writer)
        for _ in range(DAYS):
            append(chain)
        assert execute(database_url, "SELECT first_block > 10 FROM retention") == [(True,)]
        assert len(execute(database_url, rows)) == len(made)
        assert auditing.run(indexing.settings_for(database_url, NOWHERE)) == auditing.EXACT
        execute(database_url, "DELETE FROM filled_tables WHERE name = 'contract_events'")
        Chain(database, writer)  # the indexer starts again
    named = {
        bytes(one) for (one,) in execute(database_url, "SELECT address FROM followed_children")
    }
    assert len(named) > 1 and named == {*made[: len(named)]}
