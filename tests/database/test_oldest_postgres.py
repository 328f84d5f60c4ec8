"""Scan on PostgreSQL 16, its oldest one, where test_statements.py also plans each statement."""

import re
import sys
import time

import pytest

from tests.support.database import execute
from tests.support.scan_run import scan_run
from tests.support.table_digest import digest

pytestmark = pytest.mark.thorough


def test_a_service_indexes_the_same_and_no_thread_fails(
    oldest_postgres, scenario, indexed, open_folder
):
    node = scenario.anvil
    scan = (sys.executable, "-m", "scan")
    workers_s = 15.0  # until each thread beside serving has looked for work
    of_the_node = ("are not proven: ", "node")  # in warnings that say nothing of the database
    with oldest_postgres.cloned("template0") as url:
        with scan_run(scan, open_folder, DATABASE_URL=url, RPC_URL=node.url) as run:
            run.wait_for_block(node.head())
            time.sleep(workers_s)
        lines = [line for line in run.output().splitlines() if re.search(" WARNING | ERROR ", line)]
        assert [line for line in lines if not any(words in line for words in of_the_node)] == []
        assert digest(url) == digest(indexed.url)


def test_functions_of_the_schema_call_none_that_is_newer(database_url, oldest_database_url):
    """PostgreSQL looks for what PL/pgSQL names only where it is run; SQL is checked when it is
    created."""
    built_in = """
        SELECT proname, proargtypes::regtype[]::text FROM pg_proc
        WHERE pronamespace = 'pg_catalog'::regnamespace
    """
    bodies = """
        SELECT p.proname, regexp_replace(p.prosrc, '--[^\\n]*', '', 'g') FROM pg_proc p
        JOIN pg_language l ON l.oid = p.prolang WHERE l.lanname = 'plpgsql'
    """
    newer = {*execute(database_url, built_in)} - {*execute(oldest_database_url, built_in)}
    names = {name for name, _ in newer}
    assert names
    of_schema = execute(oldest_database_url, bodies)
    assert len(of_schema) > 30
    called = {
        (function, name)
        for function, body in of_schema
        for name in names.intersection(re.findall(r"(\w+)\s*\(", body.lower()))
    }
    # Functions that are older for some arguments, each with why PostgreSQL 16 has it for these.
    older = {
        ("first_block_since", "max"): "of numbers",
        ("first_block_since", "min"): "of numbers",
        ("token_transfer_records", "max"): "of numbers",
        ("transaction_records", "max"): "of numbers",
        ("unproven_blocks", "max"): "of numbers",
        ("unproven_blocks", "min"): "of numbers",
    }
    assert called == older.keys()
