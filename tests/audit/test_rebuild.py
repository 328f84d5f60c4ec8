"""Tables derived again from stored blocks equal those of a fresh index, and no node is asked."""

import signal
import subprocess
import sys
import threading
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from scan import registry
from scan.audit.derived_tables import DERIVED
from scan.audit.rebuild import RANGE_BLOCKS, CannotRebuild, Rebuild, from_blocks
from scan.commands import database_commands, long_work
from scan.commands.rebuild import run_beside
from scan.database import connection, migrations
from tests.support import auditing, request_contracts
from tests.support.database import execute, name_in
from tests.support.indexing import Indexing, index_apart, settings_for
from tests.support.scan_command import scan
from tests.support.serving import NOWHERE, ROOT, wait_until
from tests.support.table_digest import digest, fresh_digest

# Extensions that are turned on later, with one that needs the first.
LATE = ("block_records", "backfill", "user_operations")
OTHERS = ",".join(name for name in registry.installed() if name not in LATE)


def rebuild(url, *tables, workers=1, stop_after=None, logs="", range_blocks=RANGE_BLOCKS):
    """Derive tables again, or what extensions lack; the number of ranges."""
    stop, ranges = threading.Event(), 0
    with closing(connection.Database(url, statement_timeout_ms=0)) as database:
        run = Rebuild(database, url, stop, workers, range_blocks=range_blocks)
        if tables:
            run.request(tables, logs=logs)
        else:
            run.request_missing()
        for _ in run.run():
            ranges += 1
            if ranges == stop_after:
                stop.set()
    return ranges


@pytest.fixture(scope="module")
def late_template(postgres, template, scenario):
    """The name of a database of the scenario's chain, whose extensions were turned on at its
    head."""
    with postgres.cloned(template) as url:
        index_apart(url, scenario.anvil, OTHERS)
        Indexing(url, scenario.anvil.url).run_until(scenario.anvil.head())
        yield name_in(url)


@pytest.fixture(scope="module")
def fresh(indexed):
    return digest(indexed.url)


@pytest.mark.thorough
@pytest.mark.parametrize("workers", [1, 2])
def test_an_extension_turned_on_later_gets_the_rows_of_a_fresh_index(
    clone, late_template, fresh, workers
):
    late_url = clone(late_template)
    assert {"authorizations", "blobs"} <= fresh.keys()
    assert not fresh.keys() <= digest(late_url).keys()
    assert rebuild(late_url, workers=workers) > 1
    assert digest(late_url) == fresh
    assert rebuild(late_url) == 0


@pytest.mark.thorough
def test_the_indexer_has_missing_rows_derived_beside_it(clone, late_template, fresh, monkeypatch):
    late_url = clone(late_template)
    monkeypatch.setattr(long_work, "CHECK_EVERY_S", 0.1)
    stop = threading.Event()
    with ThreadPoolExecutor(1) as thread, ExitStack() as ended:
        ended.callback(stop.set)
        thread.submit(run_beside, settings_for(late_url, NOWHERE), stop)
        lacking = "SELECT name FROM filled_tables WHERE first_block > 0"
        wait_until(lambda: not execute(late_url, lacking))
    assert digest(late_url) == fresh


@pytest.mark.thorough
def test_a_rebuild_that_is_killed_goes_on(clone, late_template, fresh):
    late_url = clone(late_template)
    program = """
import os, signal, sys, threading
from scan.audit import rebuild
from scan.database.connection import Database
database = Database(sys.argv[1], statement_timeout_ms=0)
run = rebuild.Rebuild(database, sys.argv[1], threading.Event(), range_blocks=20)
run.request_missing()
for ranges, _ in enumerate(run.run()):
    if ranges == 2:
        os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program, late_url], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    [(first, last, following)] = execute(
        late_url, "SELECT first_block, last_block, next_block FROM table_rebuilds LIMIT 1"
    )
    assert first < following < last
    whole = (last - first) // RANGE_BLOCKS + 1
    assert 0 < rebuild(late_url) <= whole
    assert digest(late_url) == fresh
    assert not execute(late_url, "SELECT FROM pg_class WHERE starts_with(relname, 'expected_')")


@pytest.mark.thorough
def test_of_two_that_derive_the_same_one_gives_way(clone, late_template, fresh):
    """As one that is started beside an indexer, which begins another."""
    late_url = clone(late_template)
    with (
        closing(connection.Database(late_url, statement_timeout_ms=0)) as one,
        closing(connection.Database(late_url, statement_timeout_ms=0)) as other,
    ):
        runs = [
            Rebuild(database, late_url, threading.Event(), range_blocks=20)
            for database in (one, other)
        ]
        for run in runs:
            run.request_missing()
        first, second = (run.run() for run in runs)
        next(first)
        next(second)
        with pytest.raises(CannotRebuild, match="another process"):
            next(first)
        assert len([*second]) > 1
    assert digest(late_url) == fresh
    assert rebuild(late_url) == 0


def test_all_tables_that_can_be_are_derived_as_they_were(clone, indexed_template, fresh):
    spoilt_url = clone(indexed_template)
    tables = [*dict.fromkeys((*from_blocks(), *DERIVED))]
    for statement in (
        "DELETE FROM user_operations",
        "DELETE FROM contract_creations WHERE mod(ordinal, 2) = 0",
        "DELETE FROM log_emitters WHERE block_number = 20",
        "UPDATE authorizations SET nonce = '\\x09', is_valid = NOT is_valid",
        "INSERT INTO blobs SELECT ordinal + 1, block_number, 9, 9, versioned_hash FROM blobs",
        "UPDATE transactions SET method = NULL, value = value + 1, type = '\\x05'"
        " WHERE ordinal < 20",
        "DELETE FROM token_transfers WHERE mod(ordinal, 3) = 0",
        "UPDATE dex_trades SET amount_in = 0, token_in = token_out",
        "UPDATE list_counts SET count = count + 1",
        "DELETE FROM list_checkpoints",
        "UPDATE addresses SET transaction_count = 7",
        "DELETE FROM token_holders",
    ):
        execute(spoilt_url, statement)
    assert digest(spoilt_url) != fresh
    rebuild(spoilt_url, *tables)
    assert digest(spoilt_url) == fresh


def test_tables_that_are_derived_of_others_are_derived_alone(clone, indexed_template, fresh):
    spoilt_url = clone(indexed_template)
    execute(spoilt_url, "UPDATE addresses SET transaction_count = 7")
    execute(spoilt_url, "DELETE FROM token_holders")
    assert rebuild(spoilt_url, "token_holders", "addresses") == 0  # ranges of blocks
    assert digest(spoilt_url) == fresh
    assert not execute(spoilt_url, "SELECT FROM table_rebuilds")


@pytest.mark.thorough
def test_more_logs_are_stored_later(clone, indexed_template, postgres, template, scenario):
    spoilt_url = clone(indexed_template)
    for workers, logs in enumerate(("standard", "all"), 1):
        rebuild(spoilt_url, "logs", logs=logs, workers=workers)
        assert digest(spoilt_url) == fresh_digest(postgres, template, scenario.anvil, logs=logs)
        assert execute(spoilt_url, "SELECT stored_logs FROM chain") == [(logs,)]
    with pytest.raises(CannotRebuild, match="cannot become standard"):
        rebuild(spoilt_url, "logs", logs="standard")


def test_a_damaged_block_is_named_and_refused(clone, late_template):
    late_url = clone(late_template)
    [(number,)] = execute(late_url, "SELECT max(block_number) - 3 FROM block_bodies")
    damage = "set_byte(body, 40, 255 - get_byte(body, 40))"
    execute(late_url, f"UPDATE block_bodies SET body = {damage} WHERE block_number = %s", number)  # noqa: S608
    with pytest.raises(CannotRebuild, match=f"of block {number} are damaged"):
        rebuild(late_url)
    assert auditing.run(settings_for(late_url, NOWHERE)) == 1
    execute(late_url, "DELETE FROM block_bodies WHERE block_number = %s", number)
    with pytest.raises(CannotRebuild, match="missing"):
        rebuild(late_url)


@pytest.mark.thorough
def test_the_audit_compares_rows_with_stored_blocks_and_derives_them(
    clone, indexed_template, fresh, capsys
):
    spoilt_url = clone(indexed_template)
    settings = settings_for(spoilt_url, NOWHERE)
    assert auditing.run(settings) == 0
    assert "blocks that differ from the stored blocks: 0 differences in" in capsys.readouterr().out
    execute(spoilt_url, "UPDATE blobs SET versioned_hash = '\\x0a'")
    assert auditing.run(settings) == 1
    assert "versioned_hash is 0x0a, the stored block has" in capsys.readouterr().out
    assert auditing.run(settings, repair=True) == 0
    assert digest(spoilt_url) == fresh
    execute(spoilt_url, "UPDATE transactions SET method = '\\x01020304' WHERE ordinal = 40")
    assert auditing.run(settings, first=0) == 1
    assert auditing.run(settings, repair=True) == 0
    assert digest(spoilt_url) == fresh
    assert "method is 0x01020304, the stored block has" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_fork_below_the_filled_blocks_begins_anew(postgres, template, anvil, database_url):
    request = "0x604c5fa000"  # code that logs 76 bytes, as the contract does for a request
    anvil.call("anvil_setCode", request_contracts.WITHDRAWALS, request)

    def mine(blocks):
        for _ in range(blocks):
            anvil.send(anvil.accounts[0], request_contracts.WITHDRAWALS)
            anvil.mine()

    mine(6)
    index_apart(database_url, anvil, OTHERS)
    mine(2)
    Indexing(database_url, anvil.url).run_until(anvil.head())
    for depth in (4, 6):  # of the blocks 1 to 6 of which rows are derived, some are replaced
        assert rebuild(database_url, stop_after=1, range_blocks=2) == 1
        anvil.reorganise(depth)
        mine(1)
        Indexing(database_url, anvil.url).run_until(anvil.head())
    rebuild(database_url, range_blocks=2)
    assert digest(database_url) == fresh_digest(postgres, template, anvil)


@pytest.mark.thorough
def test_a_migration_names_the_tables_to_derive_again(
    clone, indexed_template, fresh, monkeypatch, capsys
):
    spoilt_url = clone(indexed_template)
    text = "-- Other blobs.\n-- rebuilds: blobs, daily_stats\nDELETE FROM blobs;"
    migration = migrations.Migration(9001, "9001_blobs.sql", text)
    expected = migrations.expected_schema()._replace(migrations=(migration,))
    monkeypatch.setattr(migrations, "expected_schema", lambda: expected)
    settings = settings_for(spoilt_url, NOWHERE)
    for plan in (True, False):
        assert database_commands.migrate(settings, Namespace(plan=plan)) == 0
        assert "blobs, daily_stats: the indexer derives them again" in capsys.readouterr().out
    assert digest(spoilt_url) != fresh
    rebuild(spoilt_url)
    assert digest(spoilt_url) == fresh
    assert not execute(spoilt_url, "SELECT FROM table_rebuilds")


@pytest.mark.thorough
def test_what_no_stored_block_has_is_refused(clone, late_template, indexed_template):
    late_url, spoilt_url = clone(late_template), clone(indexed_template)
    for table, words in (
        ("internal_transfers", "scan backfill traces"),
        ("contracts", "from the chain's state"),
        ("withdrawals", "does not have what its rows have"),
        ("blob", "did you mean blobs?"),
    ):
        result = scan("rebuild", table, DATABASE_URL=late_url)
        assert (result.returncode, words in result.stderr) == (2, True), result.stderr
    execute(spoilt_url, "DELETE FROM bodies_from")
    result = scan("rebuild", "blobs", DATABASE_URL=spoilt_url)
    assert (result.returncode, "no block is stored" in result.stderr) == (1, True)
    execute(spoilt_url, "DELETE FROM blobs")
    assert scan("rebuild", "--missing", "--workers", "1", DATABASE_URL=late_url).returncode == 0
