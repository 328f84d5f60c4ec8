"""Events of followed contracts in streams and in bodies of webhooks, and what a fork removes."""

import json
from contextlib import closing

from scan.database.connection import Database
from scan.extensions.events.tests.coffers import ABI, Coffers, fill, following
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


def test_webhooks_have_the_event_of_logs_that_are_not_stored(postgres, template):
    with Anvil() as anvil, postgres.cloned(template) as url:
        coffers = Coffers(anvil)
        address = bytes.fromhex(coffers.proxy[2:])
        with Indexing(url, anvil.url, until=anvil.head(), logs="none") as index:
            connection, followed = following(url)
            with connection:
                followed.add(address, "coffer", json.dumps(ABI))
                followed.make_views()
            watch(url, address)
            coffers.deposit(6)
            index.wait_for(anvil.head())
        [(body,)] = execute(url, "SELECT body FROM event_bodies")
        assert json.loads(body)["data"]["event"]["args"]["amount"] == "6"
        assert execute(url, "SELECT count(*) FROM logs") == [(0,)]


def test_lists_and_views_have_all_versions_of_a_proxy_and_cursors_notice_a_deep_fork(
    postgres, template
):
    with Anvil() as anvil, postgres.cloned(template) as url:
        coffers = Coffers(anvil)
        for amount in range(1, 4):
            coffers.deposit(amount)
        coffers.upgrade()
        for amount in range(10, 30):
            coffers.deposit(amount)
        path = f"/api/v1/contracts/{coffers.proxy}/events/Deposited"
        with Indexing(url, anvil.url, until=anvil.head()) as index:
            coffers.build(url)
            connection, followed = following(url, anvil.url)
            with connection:
                followed.add(bytes.fromhex(coffers.proxy[2:]), "coffer")
                followed.make_views()
                fill(followed)
            client = index.client()
            query = "SELECT amount::integer, fee::integer FROM events.coffer_deposited"
            rows = execute(url, f"{query} ORDER BY block_number")
            assert rows == [
                *((n, None) for n in range(1, 4)),
                *((n, n // 10) for n in range(10, 30)),
            ]
            listed = client.get(f"{path}?orderBy=asc&limit=100").json["events"]
            assert [one["args"] for one in listed] == [
                {"owner": coffers.owner.lower(), "amount": str(amount)}
                | ({} if fee is None else {"fee": str(fee)})
                for amount, fee in rows
            ]
            assert len({one["signature"] for one in listed}) == 2
            first = client.get(f"{path}?limit=5").json
            old = client.get(f"{path}?limit=5&cursor={first['next']}")
            assert [one["args"]["amount"] for one in old.json["events"]] == "24 23 22 21 20".split()
            old_head = anvil.head()
            anvil.reorganise(12)
            for amount in range(40, 53):
                coffers.deposit(amount)
            index.wait_for(anvil.head())
            forked = client.get(f"{path}?limit=5&cursor={first['next']}")
            assert (forked.status_code, forked.json["code"]) == (409, "reorganised")
            assert forked.json["commonBlock"]["number"] == old_head - 12
            rows = execute(url, f"{query} ORDER BY block_number DESC")
            walked, cursor = [], ""
            while cursor is not None:
                page = client.get(f"{path}?limit=5{cursor}").json
                walked += [int(one["args"]["amount"]) for one in page["events"]]
                cursor = page["next"] and f"&cursor={page['next']}"
            assert walked == [amount for amount, _ in rows]
            assert walked[:13] == [*range(52, 39, -1)]


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
