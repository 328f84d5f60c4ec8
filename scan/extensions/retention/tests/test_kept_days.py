"""SCAN_KEEP_DAYS over forty days of blocks: what is kept, forks near the head, kills."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from datetime import datetime

import psycopg2
import pytest

from app import create_app
from scan.commands.audit import DIFFERS, EXACT
from scan.database.connection import Database
from scan.database.errors import LockNotGranted
from scan.ethereum.blocks import StoredBody
from scan.ethereum.client import Node
from scan.extensions.retention.maintenance import Retention
from scan.extensions.retention.tests import forty_days as days
from scan.indexer import block_source, partitions, writer
from scan.indexer.fork_finder import ForkFinder, ForkTooDeep
from scan.settings import Keep
from tests.support import auditing, indexing, table_digest
from tests.support.database import execute, insert, name_in
from tests.support.faulty_node import FaultyNode, Reply
from tests.support.forked_python import Forked
from tests.support.made_blocks import Chain, Move, address
from tests.support.partitions import PARTS
from tests.support.serving import NOWHERE

pytestmark = pytest.mark.thorough


@pytest.fixture
def client(followed):
    return create_app(followed.settings).test_client()


def test_twenty_days_are_kept_and_the_disk_stays_flat(followed, client):
    kept_from = client.get("/api/v1/transactions").json["keptFrom"]
    newest = client.get("/api/v1/blocks?limit=1").json["blocks"][0]
    since, until = (
        datetime.fromisoformat(text) for text in (kept_from["timestamp"], newest["timestamp"])
    )
    assert kept_from["blockNumber"] == followed.first
    kept_s, kept_rows = days.KEPT_DAYS * days.DAY_S, 2 * days.KEPT_DAYS
    assert kept_s <= (until - since).total_seconds() <= kept_s * 18 / 16
    assert max(followed.rows[kept_rows // 2 :]) <= kept_rows * 3 // 2
    assert min(followed.rows[kept_rows // 2 + 10 :]) >= kept_rows


def test_blocks_are_kept_by_their_number(database_url, database, monkeypatch):
    monkeypatch.setattr(partitions, "LEAST_KEPT_ROWS", 1)
    keep = Keep(16, None)
    own = Retention(database, keep, days.FINALITY, wait_s=0.0)
    chain = Chain(database, writer.Writer(database, 10**6, keep))
    for number in range(40):
        at_s = 1_700_000_000 + number * 3600
        chain.append(days.moves(number), timestamp_s=at_s, body=StoredBody(bytes(16), b"body"))
    days.remove(own, 40 + days.FINALITY)
    assert execute(database_url, "SELECT min(block_number) FROM block_bodies") == [(24,)]
    assert execute(database_url, days.FIRST) == [(24,)]
    steps = database.row("indexer/retention_get_step", **keep._asdict())
    assert steps[partitions.TABLES.index("transactions")] == 4  # of two blocks


def test_a_removed_transaction_is_told_apart(followed, client):
    removed = client.get(f"/api/v1/transactions/0x{followed.hashes[2][0].hex()}")
    assert removed.status_code == 404
    assert f"before block {followed.first} are not kept" in removed.text
    for number, status, total in ((followed.first - 1, 404, 0), (followed.first, 200, 2)):
        one = f"0x{followed.hashes[number][0].hex()}"
        assert client.get(f"/api/v1/transactions/{one}").status_code == status
        assert client.get(f"/api/v1/transactions/{one}/internal").status_code == status
        assert client.get(f"/api/v1/blocks/{number}").json["txCount"] == 2
        of_block = client.get(f"/api/v1/transactions?blockFrom={number}&blockTo={number}").json
        assert of_block["total"] == total


def test_pages_and_files_tell_where_lists_begin(followed, client):
    note = f"block {followed.first}</a> are not kept"
    assert note in client.get("/txs").text
    assert note not in client.get("/blocks").text
    file = client.get("/api/v1/transactions?format=ndjson")
    assert file.headers["X-Scan-Kept-From"] == str(followed.first)
    assert file.text.count("\n") == 2 * (days.DAYS - followed.first)


def test_a_fork_near_the_head_restores_what_removed_rows_said(followed):
    url, chain = followed.settings.database_url, followed.chain
    seen = "SELECT first_seen::int, last_seen::int FROM addresses WHERE address = %s"
    before, head = table_digest.digest(url), chain.number
    now_s = int(time.time())
    chain.append([Move(days.ANNA, days.CARL)], timestamp_s=now_s)
    assert execute(url, seen, days.CARL) == [(3, head + 1)]
    chain.append(days.moves(7), timestamp_s=now_s)
    chain.unwind(head)
    assert execute(url, seen, days.CARL) == [(3, 3)]
    assert table_digest.digest(url) == before
    assert auditing.run(followed.settings) == EXACT


def test_a_fork_below_what_is_kept_says_that_no_setting_helps(followed):
    number, url = followed.chain.number, followed.settings.database_url
    other = {
        "eth_chainId": lambda: "0x1",
        "eth_getBlockByNumber": lambda number, _: {"hash": "0x" + number[2:].zfill(64)},
    }

    def answer_other_hashes(calls, _):
        """Of a chain whose blocks all have other hashes."""
        results = [(call["id"], other[call["method"]](*call["params"])) for call in calls]
        return Reply(body=[{"jsonrpc": "2.0", "id": id_, "result": r} for id_, r in results])

    with (
        FaultyNode(NOWHERE, answer_other_hashes) as node,
        closing(Database(url, statement_timeout_ms=0)) as database,
    ):
        source = block_source.BlockSource(Node([node.url]))
        source.expect(1)
        for finality, advice in (
            (1, "raise SCAN_FINALITY or index anew into an empty database"),
            (10**6, "index anew into an empty database: older rows are not kept"),
        ):
            finder = ForkFinder(source, database, 0, finality, is_development=False)
            with pytest.raises(ForkTooDeep, match=f"if it is right, {advice}$"):
                finder.find(writer.IndexedHead(number, bytes(32), writer.RowCounts()), number)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE list_checkpoints SET ordinal = ordinal + 1 WHERE place = 60",
        "UPDATE daily_stats SET fees_wei = fees_wei + 1 WHERE first_block IN (33, 34)",
    ],
)
def test_an_audit_finds_what_was_changed(followed, change):
    assert auditing.run(followed.settings) == EXACT
    auditing.spoil(followed.settings, change)
    assert auditing.run(followed.settings) == DIFFERS


def test_a_node_that_names_a_time_in_the_future_has_no_more_removed(followed):
    in_years_s = int(time.time()) + 10_000 * days.DAY_S
    for number in range(3 * days.FINALITY):
        followed.chain.append(days.moves(number), timestamp_s=in_years_s + number)
        days.remove(followed.retention, followed.chain.number)
    [(first,)] = execute(followed.settings.database_url, days.FIRST)
    assert first <= days.DAYS - days.KEPT_DAYS + 1


def test_a_reader_delays_a_partition_that_is_dropped_and_nobody_else(followed, client):
    url, head = followed.settings.database_url, followed.chain.number
    partitions = execute(url, PARTS, "transactions")
    execute(url, "UPDATE retention SET first_block = first_block + 10, decided_block = 0")
    with closing(psycopg2.connect(url)) as reader, reader.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM transactions")
        with pytest.raises(LockNotGranted):
            days.remove(followed.retention, head)
        assert execute(url, PARTS, "transactions") == partitions
        assert client.get("/api/v1/transactions?limit=1").status_code == 200
        followed.retention.advance(head)  # logs it, and tries again later
    days.remove(followed.retention, head)
    assert execute(url, PARTS, "transactions") < partitions
    assert auditing.run(followed.settings) == EXACT


@pytest.mark.parametrize("kept", [[], [days.CARL, address("somebody 7")]])
def test_kills_while_rows_are_removed_leave_nothing_half(database_url, database, clone, kept):
    program = """
import sys
from scan.database.connection import Database
from scan.database.errors import LockNotGranted
from scan.extensions.retention import maintenance as retention
from scan.settings import Keep
retention.REMOVED_TRANSACTIONS = 8
own = retention.Retention(Database(sys.argv[1], statement_timeout_ms=0), Keep(10**9, None), 0)
while own.step(10**9):
    print("step", flush=True)
print("done", flush=True)
"""

    def removed_in_process(url, steps):
        """Whether a process came to the end that is killed while it takes the step after so
        many."""
        command = [sys.executable, "-c", program, url]
        with Forked(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line == "done\n":
                    return True
                if steps == 0:
                    os.kill(process.pid, signal.SIGKILL)
                    return False
                steps -= 1
        raise AssertionError("the process ended by itself")

    chain = Chain(database, writer.Writer(database, 10))
    for number in range(24):
        chain.append(days.moves(number))
    database.close()
    for one in kept:
        insert(database_url, "kept_addresses", address=one)
    insert(database_url, "retention", first_block=21, decided_at="2020-01-01")
    whole = clone(name_in(database_url))
    kills = 0
    while not removed_in_process(database_url, steps=kills % 3):
        kills += 1
    assert kills > 1
    assert removed_in_process(whole, steps=10**9)
    assert table_digest.digest(database_url) == table_digest.digest(whole)
    removed = (
        "SELECT i::text FROM removed_items i UNION ALL SELECT r::text FROM retention r ORDER BY 1"
    )
    assert execute(database_url, removed) == execute(whole, removed)
    kept_rows = "SELECT count(*)::int FROM transactions WHERE block_number < 21"
    in_next_partition = 2
    assert execute(database_url, kept_rows) == [(in_next_partition + len(kept),)]
    assert auditing.run(indexing.settings_for(database_url, NOWHERE)) == EXACT
