"""Events of followed contracts in streams and in bodies of webhooks, and what a fork removes."""

import json
from contextlib import closing

from scan.database.connection import Database
from scan.extensions.events.tests.test_following import ABI, Coffers, fill, following
from scan.extensions.streams.block_events import OrphanedEvents, Position, read_next
from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing


def test_streams_and_webhooks_have_the_event_also_of_removed_logs(postgres, template):
    with Anvil() as anvil, postgres.cloned(template) as url:
        coffers = Coffers(anvil)
        address = bytes.fromhex(coffers.proxy[2:])
        with Indexing(url, anvil.url, until=anvil.head(), logs="all") as index:
            connection, followed = following(url)
            with connection:
                followed.add(address, "coffer", json.dumps(ABI))
                followed.make_views()
                fill(followed)
            watch(url, address)
            coffers.deposit(6)
            index.wait_for(anvil.head())
            [(block, block_hash)] = execute(
                url, "SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1"
            )
            event = {
                "name": "Deposited",
                "signature": "Deposited(address,uint256)",
                "args": {"owner": coffers.owner.lower(), "amount": "6"},
            }
            [(before, parent)] = execute(
                url, "SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1 OFFSET 1"
            )
            with closing(Database(url, statement_timeout_ms=0)) as database:
                after = Position(before, bytes(parent), 2**31 - 1)
                [added] = read_next(database, after, ("logs",), OrphanedEvents(database)).events
                assert added.record["event"] == event
                [(body,)] = execute(url, "SELECT body FROM event_bodies ORDER BY id")
                assert json.loads(body)["data"]["event"] == event
                execute(url, "UPDATE deliveries SET sent = true")
                anvil.reorganise(1)
                anvil.mine()
                index.wait_for(anvil.head())
                at = Position(block, bytes(block_hash), 2**31 - 1)
                [removed] = read_next(database, at, ("logs",), OrphanedEvents(database)).events
                assert removed.record == {**added.record, "removed": True}
            bodies = [
                json.loads(b) for (b,) in execute(url, "SELECT body FROM event_bodies ORDER BY id")
            ]
            assert [one["data"]["event"] for one in bodies[:2]] == [event] * 2


def watch(url, address):
    """A webhook for all logs of an address."""
    execute(
        url,
        "INSERT INTO webhooks (id, owner_address, watch_address, url, event_types, created_at)"
        " VALUES (1, %s, %s, 'https://localhost:1/', '{log}', now());"
        " INSERT INTO delivery_queues (webhook_id, host) VALUES (1, 'localhost')",
        address,
        address,
    )
