"""The commands of deploy/README.md: chosen tables follow into another PostgreSQL, through forks."""

import re
from pathlib import Path

import pytest

from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute
from tests.support.documents import blocks
from tests.support.indexing import Indexing
from tests.support.serving import ROOT, wait_until

pytestmark = pytest.mark.long


def test_chosen_tables_follow_into_another_postgresql():
    documented = "".join(
        block.text
        for block in blocks(ROOT / "deploy/README.md", "sql")
        if Path(__file__).name in block.note
    )
    *publish, partition, subscribe = re.findall(r"\S[^;]*;", re.sub(r"--.*", "", documented))
    assert publish[0].startswith("ALTER SYSTEM") and subscribe.startswith("CREATE SUBSCRIPTION")
    count_partitions = (
        "SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'transactions'::regclass"
    )
    with Postgres() as primary, Postgres() as warehouse, Anvil() as anvil:
        url, copy = (server.url(server.make_template()) for server in (primary, warehouse))
        sender, recipient, *_ = anvil.accounts

        def transfer(count):
            for amount in range(1, count + 1):
                anvil.transact(sender, token, "mint", recipient, amount)
                anvil.send(sender, recipient, value=amount)
                anvil.mine()

        def wait_for_subscriber():
            # Where the last commit ends: it may not be written yet, since nothing waits for the
            # disk here.
            [(newest,)] = execute(url, "SELECT pg_current_wal_insert_lsn()")
            copied = "SELECT 1 FROM pg_subscription_rel HAVING bool_and(srsubstate = 'r')"
            confirmed = (
                "SELECT 1 FROM pg_replication_slots WHERE slot_name = 'chain' AND active"
                " AND confirmed_flush_lsn >= %s::pg_lsn"
            )
            wait_until(lambda: execute(copy, copied) and execute(url, confirmed, newest))

        execute(url, publish[0])
        primary.halt()
        primary.resume()
        for statement in publish[1:]:
            execute(url, statement)
        folder = primary.url("x").partition("host=")[2]
        address = f"host={folder} dbname=template_scan user=replicator"
        token = anvil.deploy(sender, "Coin", "Replica Coin", "RPL", 18)
        transfer(5)
        # Of 20 rows: transactions get partitions while they follow.
        with Indexing(url, anvil.url, until=anvil.head(), partition_rows=20) as indexing:
            assert execute(url, count_partitions) == [(1,)]
            execute(copy, partition)
            # What is there is copied; what comes, forks included, follows.
            execute(copy, re.sub(r"CONNECTION '[^']*'", f"CONNECTION '{address}'", subscribe))
            transfer(5)
            indexing.wait_for(anvil.head())
            wait_for_subscriber()
            anvil.reorganise(4)
            transfer(2)
            indexing.wait_for(anvil.head())
            # Another fork while the subscriber is away.
            execute(copy, "ALTER SUBSCRIPTION chain DISABLE")
            anvil.reorganise(6)
            transfer(3)
            indexing.wait_for(anvil.head())
            execute(copy, "ALTER SUBSCRIPTION chain ENABLE")
        wait_for_subscriber()
        hashes = execute(copy, "SELECT '0x' || encode(hash, 'hex') FROM blocks ORDER BY number")
        heads = [anvil.call("eth_getBlockByNumber", hex(n), False) for n in range(len(hashes))]
        assert [hash for (hash,) in hashes] == [block["hash"] for block in heads]
        assert len(hashes) == anvil.head() + 1
        assert execute(url, count_partitions) > [(1,)]
        for table in ("blocks", "transactions", "token_transfers", "tokens", "token_holders"):
            rows = f"SELECT t::text FROM {table} t ORDER BY 1"  # noqa: S608
            assert execute(copy, rows) and execute(copy, rows) == execute(url, rows), table
        execute(copy, "DROP SUBSCRIPTION chain")
