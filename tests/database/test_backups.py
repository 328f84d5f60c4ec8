"""docs/operation.md, followed to the letter: what is restored serves, and is exact."""

import pytest
import requests

from scan.accounts.api_keys import new_key
from scan.indexer.block_rows import TABLES
from tests.support import WAIT_S, auditing, backups, serving, table_digest
from tests.support.database import Postgres, execute, insert, name_in
from tests.support.indexing import Indexing, settings_for

pytestmark = pytest.mark.long

# What the chain says, or follows from it, or is of no use after a restore, as orphaned_blocks: a
# journal of forks, of which a new index has seen none.
INDEXED = {
    *"""
        blocks transactions log_emitters codes contracts tokens token_transfers token_holders
        token_holder_ranges dexes pools rejected_emitters contract_changes dex_trades addresses
        chain list_checkpoints daily_stats indexer_status migrations schema_state pool_candles
        pool_volumes filled_tables label_state bulk_backfill transaction_failures trace_backfill
        genesis_balances verification_jobs token_items item_balances internal_transfers withdrawals
        logs event_topics orphaned_blocks table_rebuilds bodies_from
        block_bodies
    """.split(),
    *TABLES,
    *"""
        credits uncles list_counts creation_comparisons stored_verifications retention removed_items
        earlier_sightings contract_creations replaced_codes
        followed_contracts unfollowed_contracts event_views contract_event_counts
    """.split(),
}


@pytest.fixture
def server(open_folder):
    """One that keeps what it writes, and ends before the folder that it archives to."""
    with Postgres() as server:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            execute(server.url("postgres"), f"ALTER SYSTEM SET {setting} = on")
        yield server


def assert_serves(url, head):
    assert auditing.run(settings_for(url, serving.NOWHERE)) == auditing.EXACT
    with serving.gunicorn(url, RPC_URL=serving.NOWHERE) as address:
        newest = requests.get(f"{address}/api/v1/blocks?limit=1", timeout=WAIT_S).json()["blocks"]
        assert newest[0]["number"] == head
        assert requests.get(f"{address}/readyz", timeout=WAIT_S).status_code == 200


def test_a_moment_is_restored_from_incremental_backups_and_wal(server, anvil, open_folder):
    archive = backups.Archive(server, open_folder)
    with server.cloned(server.make_template()) as url, Indexing(url, anvil.url) as indexing:
        for number, since in ((10, None), (20, "10"), (30, "20")):
            anvil.mine(10)
            indexing.wait_for(number)
            archive.back_up(str(number), since=since)
        anvil.mine(5)
        indexing.wait_for(35)
        before = table_digest.digest(url)
        archive.name_moment("before_the_mistake")
        execute(url, "DELETE FROM blocks WHERE number > 5")
        archive.name_moment("after")
        with archive.restored("before_the_mistake", "10", "20", "30") as restored:
            copy = restored.url(name_in(url))
            assert table_digest.digest(copy) == before
            assert_serves(copy, 35)


def test_every_table_is_indexed_again_or_dumped(database_url):
    tables = execute(
        database_url,
        "SELECT relname FROM pg_class"
        " WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND relnamespace = current_schema()::regnamespace",
    )
    assert {name for (name,) in tables} == INDEXED | set(backups.owners_tables())


def rows(url, tables):
    return {
        name: execute(url, f"SELECT to_jsonb(t)::text FROM {name} t ORDER BY 1")  # noqa: S608
        for name in tables
    }


def test_what_cannot_be_indexed_again_is_restored(postgres, template, anvil, open_folder):
    tables = backups.owners_tables()
    dump = str(open_folder / "owners.dump")
    key = new_key()
    anvil.mine(5)
    with postgres.cloned(template) as old, postgres.cloned(template) as new:
        Indexing(old, anvil.url).run_until(5)
        fill_owners(old, key.id, key.hash, key.prefix)
        expected = rows(old, tables)
        assert all(expected.values())
        options = (f"--table={name}" for name in tables)
        arguments = ("--data-only", "--format=custom", f"--file={dump}", *options, old)
        postgres.run_program("pg_dump", *arguments)
        Indexing(new, anvil.url).run_until(5)
        postgres.run_program("pg_restore", "--single-transaction", "-d", new, dump)
        assert rows(new, tables) == expected
        assert table_digest.digest(new) == table_digest.digest(old)
        assert_serves(new, 5)
        with serving.gunicorn(new, RPC_URL=serving.NOWHERE) as address:
            headers = {"X-API-Key": key.text}
            asked = requests.get(f"{address}/api/v1/stats", headers=headers, timeout=WAIT_S)
            assert asked.headers["X-RateLimit-Limit"] == "77"
        [(last,)] = execute(new, "SELECT max(id) FROM deliveries")
        [(next_,)] = execute(
            new,
            "INSERT INTO deliveries (webhook_id, event, created_at, body_id, body_bytes)"
            " VALUES (1, 'tx', now(), 1, 2) RETURNING id",
        )
        [(last_body, next_body)] = execute(
            new, "SELECT max(id), nextval('event_bodies_id_seq') FROM event_bodies"
        )
        assert isinstance(last_body, int) and isinstance(next_body, int) and next_body > last_body
        assert isinstance(last, int) and isinstance(next_, int) and next_ > last


def fill_owners(url, key_id, key_hash, prefix):
    owner, hash_ = bytes(range(20)), bytes(32)
    key = {"id": key_id, "key_hash": key_hash, "key_prefix": prefix, "label": "mine"}
    verified = {"address": owner, "code_hash": hash_, "match": "full", "contract_name": "C"}
    for table, row in (
        ("api_keys", {**key, "owner_address": owner, "requests_per_minute": 77}),
        ("labels", {"address": owner, "label": "a label"}),
        (
            "webhooks",
            {"id": 1, "owner_address": owner, "watch_address": owner, "event_types": "{tx}"},
        ),
        ("contract_claims", {"address": owner, "code_hash": hash_, "outcome": "absent"}),
        ("listed_tokens", {"address": owner, "list": "A list", "decimals": 18, "logo": hash_}),
        ("delivery_queues", {"webhook_id": 1, "host": "example.com"}),
        ("verified_contracts", {**verified, "abi": "[]", "variable_ranges": "[]"}),
    ):
        insert(url, table, **row)
    for statement, *values in (
        ("INSERT INTO logos VALUES (%s, 'image/png', 'x')", hash_),
        ("INSERT INTO signatures VALUES ('abcd', 'f()')",),
        ("INSERT INTO verified_functions VALUES ('abcd', 'f()')",),
        ("INSERT INTO source_maps VALUES (%s, %s, 'zlib', '[]')", owner, hash_),
        (
            "INSERT INTO creation_maps VALUES (%s, %s, 1, 'ab', 'cd', '[]', 'zlib', '[]')",
            *(owner, hash_),
        ),
        ("INSERT INTO storage_layouts VALUES (%s, %s, 'zlib')", owner, hash_),
        ("INSERT INTO interfaces VALUES (%s, %s, '[]')", owner, hash_),
        ("INSERT INTO built_abis VALUES (%s, 'Built', '[]', now())", hash_),
        ("INSERT INTO webhook_secrets VALUES (1, 'secret')",),
        ("INSERT INTO event_bodies (id, body) VALUES (nextval('event_bodies_id_seq'), '{}')",),
        (
            "INSERT INTO deliveries (webhook_id, block_number, event, created_at, body_id,"
            " body_bytes) SELECT 1, 3, 'tx', now(), id, 2 FROM event_bodies",
        ),
    ):
        execute(url, statement, *values)
