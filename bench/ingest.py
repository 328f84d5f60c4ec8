"""How fast the indexer fills an empty database, beside a raw COPY and beside ethereum-etl."""

import io
import json
import logging
import subprocess
import sys
import time
from typing import Any, NamedTuple

from bench import peer
from bench.chain import made_hashes
from bench.databases import Databases, connected
from bench.node import HASHES
from bench.options import Options
from bench.processes import (
    family,
    free_port,
    parent,
    processor_seconds,
    resident_bytes,
    running,
    stop,
    wait_until_it_answers,
)
from bench.shape import TRANSACTIONS

log = logging.getLogger(__name__)

SAMPLE_S = 1.0
COPY_BLOCKS = 40  # a batch of the indexer's: 6,000 transactions
BASE_TABLES = {
    "blocks": "number",
    "transactions": "block_number",
    "log_emitters": "block_number",
    "contracts": "block_number",
    "tokens": "block_number",
    "pools": "block_number",
    "token_transfers": "block_number",
    "dex_trades": "block_number",
}


class Sample(NamedTuple):
    """Where the indexer was, so many seconds after its first block was asked for."""

    seconds: float
    transactions: int
    resident_bytes: int  # of the indexer with the process that fetches for it


def measure(options: Options, databases: Databases) -> dict[str, Any]:
    """Indexer, raw COPY and peer, one after the other, on the same blocks."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    made_hashes(HASHES, options.ingest_blocks)
    command = [sys.executable, "-m", "bench.node", f"--port={port}"]
    node_log = options.folder / "node.log"
    with (
        running([*command, f"--blocks={options.ingest_blocks}"], node_log) as node,
        databases.empty("scan_bench_ingest") as filled,
        databases.empty("scan_bench_copy") as copied,
    ):
        wait_until_it_answers(url, node, node_log)
        log.info("indexing %d blocks of %d transactions", options.ingest_blocks, TRANSACTIONS)
        results = _index(options, filled, url, node.pid)
        log.info("copying the same rows")
        results["raw_copy"] = _copy(filled, copied, results["transactions"])
        log.info("exporting the same range with ethereum-etl")
        results["ethereum_etl"] = peer.export(options, url)
    return results


def _index(options: Options, database_url: str, node_url: str, node_pid: int) -> dict[str, Any]:
    log_file = options.folder / "indexer.log"
    environment = {"DATABASE_URL": database_url, "RPC_URL": node_url, "SCAN_TRACES": "auto"}
    node_before = processor_seconds(node_pid)
    command = [sys.executable, "-m", "bench.timed_index"]
    database_before = _database_processor_s(database_url)
    with running(command, log_file, environment) as indexer:
        samples = _follow(indexer, database_url, options.ingest_blocks - 1)
        database_after = _database_processor_s(database_url)
        stop(indexer)
    lines = log_file.read_text(encoding="utf-8").splitlines()
    last = samples[-1]
    return {
        "blocks": options.ingest_blocks,
        "transactions": last.transactions,
        "seconds": last.seconds,
        "transactions_per_s": last.transactions / last.seconds,
        "node_processor_s": processor_seconds(node_pid) - node_before,
        "database_processor_s": database_after - database_before,
        "samples": [sample._asdict() for sample in samples],
        "steps": json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {},
    }


def _follow(indexer: "subprocess.Popen[bytes]", database_url: str, last_block: int) -> list[Sample]:
    """Samples until the last block is written; the first is taken when the chain is known.

    After a tenth of the blocks the tables are analysed, as autovacuum does within a minute of any
    longer catch-up: statistics that end before the newest rows have made for bad plans.
    """
    samples: list[Sample] = []
    began = 0.0
    is_analysed = False
    with connected(database_url) as cursor:
        while indexer.poll() is None:
            cursor.execute(
                "SELECT (SELECT count(*) FROM chain), b.number,"
                " b.transactions_before + b.transaction_count"
                " FROM (VALUES (1)) AS one LEFT JOIN"
                " (SELECT * FROM blocks ORDER BY number DESC LIMIT 1) AS b ON true"
            )
            known, number, transactions = cursor.fetchone()
            now = time.monotonic()
            began = began or (now if known else 0.0)
            if began and (number == last_block or not samples or _is_due(samples, now - began)):
                resident = sum(map(resident_bytes, family(indexer.pid)))
                samples.append(Sample(now - began, transactions or 0, resident))
            if number == last_block:
                return samples
            if not is_analysed and (number or 0) >= last_block // 10:
                cursor.execute("ANALYZE")
                is_analysed = True
            time.sleep(0.02)
    raise RuntimeError("the indexer ended before the last block; see indexer.log")


def _database_processor_s(database_url: str) -> float:
    """Of the whole server, which has nothing else to do."""
    with connected(database_url) as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [pid] = cursor.fetchone()
        return sum(map(processor_seconds, family(parent(pid))))


def _is_due(samples: list[Sample], seconds: float) -> bool:
    return seconds - samples[-1].seconds >= SAMPLE_S


def _copy(filled: str, copied: str, transactions: int) -> dict[str, Any]:
    """The limit: the rows as text, ready in memory, into the same tables with their indexes.

    One COPY a table and one transaction for as many blocks as the indexer writes at once.
    """
    spent = 0.0
    with connected(filled) as source, connected(copied) as target:
        for table in (
            "transactions",
            "token_transfers",
            "dex_trades",
        ):  # to read spans of blocks by
            source.execute(f"CREATE INDEX ON {table} USING brin (block_number)")
        source.execute("SELECT max(number) FROM blocks")
        [head] = source.fetchone()
        target.execute("SET synchronous_commit = on")
        for first in range(0, head + 1, COPY_BLOCKS):
            rows = {
                table: _rows(source, table, column, first) for table, column in BASE_TABLES.items()
            }
            began = time.perf_counter()
            target.execute("BEGIN")
            for table, text in rows.items():
                target.copy_expert(f"COPY {table} FROM STDIN", io.BytesIO(text))
            target.execute("COMMIT")
            spent += time.perf_counter() - began
    return {"seconds": spent, "transactions_per_s": transactions / spent}


def _rows(cursor: Any, table: str, column: str, first: int) -> bytes:
    text = io.BytesIO()
    span = f"{column} BETWEEN {first} AND {first + COPY_BLOCKS - 1}"
    cursor.copy_expert(f"COPY (SELECT * FROM {table} WHERE {span}) TO STDOUT", text)  # noqa: S608
    return text.getvalue()


def memory_growth(samples: list[dict[str, Any]]) -> float | None:
    """The most resident memory of the last third over that after a third; None for a short run.

    The very last sample may lack the process that fetches, which has nothing to do any more.
    """
    if len(samples) < 6:
        return None
    third = len(samples) // 3
    return float(
        max(sample["resident_bytes"] for sample in samples[-third:])
        / samples[third]["resident_bytes"]
    )


def slowest_steps(steps: dict[str, list[float]], most: int = 14) -> list[tuple[str, float, float]]:
    """(step, wall seconds, processor seconds), largest wall time first."""
    ordered = sorted(steps.items(), key=lambda step: -step[1][0])
    return [(name, sums[0], sums[1]) for name, sums in ordered if "process" not in name][:most]
