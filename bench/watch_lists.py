"""What the events of blocks take at the head by the webhooks that watch their addresses.

    python -m bench.watch_lists

The events of two blocks of TRANSACTIONS transactions are inserted, as the head inserts them, in a
transaction that is taken back, with four sets of webhooks in turn: none, an address each, a list
each of this address alone, and a list each of ADDRESSES addresses with this one. So the last three
have the same events. 100 lists of 100,000 take 2 GB of disk and some minutes to fill.
"""

import logging
import os
import statistics
import sys
import time
from contextlib import closing, suppress
from io import BytesIO
from typing import Any

from bench.databases import Databases, connected
from bench.head import SETTINGS
from bench.options import Options
from bench.processes import running, server
from scan.database.connection import Database
from scan.indexer.derivation import insert, read_block_range

TRANSACTIONS, BLOCKS = 100, 60  # a range has two blocks
WEBHOOKS = int(os.environ.get("BENCH_WEBHOOKS", "100"))
ADDRESSES = int(os.environ.get("BENCH_WATCHED", "100000"))
ROUNDS = 15
PLANNED_AFTER = 6  # executions, from which on a prepared statement keeps its plan
WAIT_S = 300.0
CLEAR = "DELETE FROM webhooks"
# The senders of the newest transactions, one a webhook.
WATCH = """
    INSERT INTO webhooks
        (id, owner_address, watch_address, url, event_types, created_at, address_count)
    SELECT s.n, 'owner', CASE WHEN %(has_list)s THEN NULL ELSE s.from_address END,
        'https://receiver.example', '{tx,token_transfer}', now(), 1
    FROM (SELECT t.from_address, row_number() OVER () AS n FROM (
        SELECT DISTINCT from_address FROM transactions WHERE ordinal >= %(first)s) AS t) AS s
    WHERE s.n <= %(webhooks)s"""
QUEUES = (
    "INSERT INTO delivery_queues (webhook_id, host) SELECT id, 'receiver.example:443' FROM webhooks"
)
OWN = """
    INSERT INTO webhook_addresses (address, webhook_id)
    SELECT t.from_address, t.n FROM (
        SELECT s.from_address, row_number() OVER () AS n FROM (
            SELECT DISTINCT from_address FROM transactions WHERE ordinal >= %(first)s) AS s) AS t
    WHERE t.n <= %(webhooks)s"""
OTHERS = """
    INSERT INTO webhook_addresses (address, webhook_id)
    SELECT substr(sha256(int8send(n)), 1, 20), n %% %(webhooks)s + 1
    FROM generate_series(1, %(webhooks)s * (%(addresses)s - 1)) AS n
    ORDER BY 1"""


def main() -> int:
    logging.basicConfig(level=logging.WARNING)
    options = Options.from_environment()
    options.folder.mkdir(parents=True, exist_ok=True)
    databases = Databases(options.folder)
    try:
        with databases.empty("scan_bench_watch_lists") as url:
            _index(options, url)
            with (
                connected(url) as cursor,
                closing(Database(url, statement_timeout_ms=0)) as database,
            ):
                _measure(cursor, database)
    finally:
        databases.stop()
    return 0


def _index(options: Options, url: str) -> None:
    """Fill the database by `scan index`."""
    node = ["bench.node", "--port=PORT", "--traces=none", f"--blocks={BLOCKS}"]
    size = {"BENCH_BLOCK_TRANSACTIONS": str(TRANSACTIONS)}
    with server(node, options.folder / "node.log", size) as served:
        settings = {**SETTINGS, "DATABASE_URL": url, "RPC_URL": served.url, "SCAN_TRACES": "off"}
        command = [sys.executable, "-m", "scan", "index"]
        log, deadline = options.folder / "watch-lists.log", time.monotonic() + WAIT_S
        with running(command, log, settings), connected(url) as cursor:
            while time.monotonic() < deadline:
                cursor.execute("SELECT coalesce(max(number), -1) FROM blocks")
                if cursor.fetchone()[0] == BLOCKS - 1:
                    return
                time.sleep(0.2)
    raise TimeoutError(f"block {BLOCKS - 1} does not follow; see {log}")


def _measure(cursor: Any, database: Database) -> None:
    cursor.execute("SELECT max(ordinal) FROM transactions")
    [last] = cursor.fetchone()
    values = {"first": last - 2 * TRANSACTIONS, "webhooks": WEBHOOKS, "addresses": ADDRESSES}
    ways = {
        "no webhook": (),
        "an address each": ((WATCH, False), (QUEUES, False)),
        "a list of this address each": ((WATCH, True), (QUEUES, True), (OWN, True)),
        f"a list of {ADDRESSES:,} each": ((OTHERS, True),),
    }
    for way, statements in ways.items():
        if len(statements) != 1:  # the last one adds to the lists of the one before
            cursor.execute(CLEAR)
        began = time.monotonic()
        for statement, has_list in statements:
            cursor.execute(statement, {**values, "has_list": has_list})
        filled_s = time.monotonic() - began
        cursor.execute("VACUUM ANALYZE webhooks, webhook_addresses, delivery_queues")
        events, seconds = 0, []
        for _ in range(ROUNDS + PLANNED_AFTER):
            events, spent = _events(database)
            seconds.append(spent)
        del seconds[:PLANNED_AFTER]
        print(
            f"{WEBHOOKS} webhooks, {way}: {statistics.median(seconds) * 1000:.1f} ms for {events}"
            f" events of {2 * TRANSACTIONS} transactions, worst {max(seconds) * 1000:.1f} ms;"
            f" filled in {filled_s:.0f} s; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )


class _TakenBack(Exception):
    """The end of a transaction that leaves nothing."""


def _events(database: Database) -> tuple[int, float]:
    """Return how many events the two newest blocks have, and the seconds that they took."""
    spent, events = 0.0, 0
    with suppress(_TakenBack), database.transaction(prepared=True) as tx:
        tx.defer("indexer/planner_plan_for_few_rows")  # as the head does
        written = read_block_range(tx, BLOCKS - 2, BLOCKS - 1)
        began = time.monotonic()
        insert(tx, written, [])
        tx.value("indexer/webhooks_find_active")  # with it what was deferred is sent
        spent = time.monotonic() - began
        tx.copy_out("deliveries", deliveries := BytesIO())
        events = deliveries.getvalue().count(b"\n")
        raise _TakenBack
    return events, spent


if __name__ == "__main__":
    sys.exit(main())
