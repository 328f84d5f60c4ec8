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

STATEMENTS = [
    " ".join(statement.split())
    for block in blocks(ROOT / "deploy/README.md", "sql")
    if Path(__file__).name in block.note
    for statement in re.sub(r"--.*", "", block.text).split(";")
    if statement.strip()
]


@pytest.fixture
def servers():
    with Postgres() as primary, Postgres() as warehouse:
        primary.make_template()
        warehouse.make_template()  # what `scan migrate` makes
        yield primary, warehouse


def rows(url, table):
    return execute(url, f"SELECT t::text FROM {table} t ORDER BY 1")  # noqa: S608


def wait_for_subscriber(primary, warehouse):
    # Where the last commit ends: it may not be written yet, since nothing waits for the disk here.
    [(newest,)] = execute(primary, "SELECT pg_current_wal_insert_lsn()")

    def has_it():
        copied = execute(
            warehouse, "SELECT 1 FROM pg_subscription_rel HAVING bool_and(srsubstate = 'r')"
        )
        confirmed = execute(
            primary,
            "SELECT 1 FROM pg_replication_slots WHERE slot_name = 'chain' AND active"
            " AND confirmed_flush_lsn >= %s::pg_lsn",
            newest,
        )
        return bool(copied and confirmed)

    wait_until(has_it)


def transfer(anvil, token, count):
    sender, recipient = anvil.accounts[:2]
    for amount in range(1, count + 1):
        anvil.transact(sender, token, "mint", recipient, amount)
        anvil.send(sender, recipient, value=amount)
        anvil.mine()


def test_chosen_tables_follow_into_another_postgresql(servers):
    primary, warehouse = servers
    publish, (partition, subscribe) = STATEMENTS[:-2], STATEMENTS[-2:]
    assert publish[0].startswith("ALTER SYSTEM") and subscribe.startswith("CREATE SUBSCRIPTION")
    url, copy = primary.url("template_scan"), warehouse.url("template_scan")
    execute(url, publish[0])
    primary.halt()
    primary.resume()
    for statement in publish[1:]:
        execute(url, statement)
    folder = primary.url("x").partition("host=")[2]
    address = f"host={folder} dbname=template_scan user=replicator"
    parts = "SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'transactions'::regclass"
    with Anvil() as anvil:
        token = anvil.deploy(anvil.accounts[0], "Coin", "Replica Coin", "RPL", 18)
        transfer(anvil, token, 5)
        # Of 20 rows: transactions get partitions while they follow.
        with Indexing(url, anvil.url, until=anvil.head(), partition_rows=20) as indexing:
            assert execute(url, parts) == [(1,)]
            execute(copy, partition)
            # What is there is copied; what comes, forks included, follows.
            execute(copy, re.sub(r"CONNECTION '[^']*'", f"CONNECTION '{address}'", subscribe))
            transfer(anvil, token, 5)
            indexing.wait_for(anvil.head())
            wait_for_subscriber(url, copy)
            anvil.reorganise(4)
            transfer(anvil, token, 2)
            indexing.wait_for(anvil.head())
            # Another fork while the subscriber is away.
            execute(copy, "ALTER SUBSCRIPTION chain DISABLE")
            anvil.reorganise(6)
            transfer(anvil, token, 3)
            indexing.wait_for(anvil.head())
            execute(copy, "ALTER SUBSCRIPTION chain ENABLE")
        wait_for_subscriber(url, copy)
        hashes = execute(copy, "SELECT '0x' || encode(hash, 'hex') FROM blocks ORDER BY number")
        heads = [anvil.call("eth_getBlockByNumber", hex(n), False) for n in range(len(hashes))]
        assert [hash for (hash,) in hashes] == [block["hash"] for block in heads]
        assert len(hashes) == anvil.head() + 1
    assert execute(url, parts) > [(1,)]
    tables = ("blocks", "transactions", "token_transfers", "tokens", "token_holders")
    for table in tables:
        assert rows(copy, table) and rows(copy, table) == rows(url, table), table
    execute(copy, "DROP SUBSCRIPTION chain")
