"""`scan index` and `scan backfill chain` on the same synthetic chain, as users run them; the latter
also from files, beside a node that has pruned all blocks.

Elapsed and processor seconds by stage, WAL and pages of disk by transaction, memory, and digests of
both databases, which must be equal; from files, senders are others. Stages are seen in the
database, five times a second, so that the programs measured are those of users.
"""

import logging
import os
import sys
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from bench.chain import made_hashes
from bench.databases import Databases, connected
from bench.floor import floor_us
from bench.history import made_files
from bench.node import HASHES
from bench.options import Options
from bench.processes import (
    family,
    post,
    processor_seconds,
    resident_bytes,
    running,
    server,
    server_process,
)
from bench.shape import TRANSACTIONS
from scan.database.statements import read_statement

log = logging.getLogger(__name__)

SAMPLE_S = 0.2
NAMES = ("index", "bulk", "files")
STAGE_SECONDS = ("seconds", "scan_s", "postgres_s")


def measure(options: Options, databases: Databases) -> dict[str, Any]:
    """Of index, bulk and files, those that are wanted."""
    made_hashes(HASHES, options.ingest_blocks)
    results = {name: _measure(name, options, databases) for name in filter(options.wants, NAMES)}
    compared = (str(result["digests"]) for name, result in results.items() if name != "files")
    if len(set(compared)) > 1:
        raise RuntimeError("index and bulk have made different tables")
    return results


def _measure(name: str, options: Options, databases: Databases) -> dict[str, Any]:
    command = ["bench.node", "--port=PORT", f"--traces={options.traces}"]
    command.append(f"--blocks={options.ingest_blocks}")
    arguments: list[str] = []
    if name == "files":
        folder = options.folder / "history"
        first, last = made_files(folder, options.ingest_blocks)
        command.append(f"--genesis=0x{first.hex()}")
        arguments = [f"--history={folder}", f"--last-hash=0x{last.hex()}"]
    with server(command, options.folder / "node.log") as node:
        before = processor_seconds(node.pid)
        result = _run(name, options, databases, node.url, arguments)
        first_request_at = orjson.loads(post(node.url, "bench_first_request"))["result"]
        spent = processor_seconds(node.pid) - before
        result["floor_us"] = {} if name == "files" else floor_us(node.url)  # its node has no blocks
    # From files no receipts are requested: what starting takes is not known.
    result["start_s"] = max(first_request_at - result.pop("began"), 0.0)
    seconds = result["elapsed_s"] - result["start_s"]
    result["transactions_per_s"] = result["transactions"] / seconds
    result["microseconds"]["node"] = spent / result["transactions"] * 1e6
    log.info("%s: %.0f transactions/s", name, result["transactions_per_s"])
    return result


def _run(
    name: str, options: Options, databases: Databases, url: str, arguments: list[str]
) -> dict[str, Any]:
    log_file, last_block = options.folder / f"{name}.log", options.ingest_blocks - 1
    command = [sys.executable, "-m", "scan", "index"]
    if name != "index":
        command[-1:] = ["backfill", "chain", f"--folder={options.folder / 'files'}"]
        command += [f"--last-block={last_block}", *arguments]
    with databases.empty(f"scan_bench_{name}") as database_url, connected(database_url) as cursor:
        environment = {
            "DATABASE_URL": database_url,
            "RPC_URL": url,
            "SCAN_TRACES": "off" if options.traces == "none" else "auto",
            "SCAN_BULK_BACKFILL": "off",
        }
        before = _disk(cursor)
        began = time.monotonic()
        with running(command, log_file, environment) as process:
            filling = watched(cursor, process, options.ingest_blocks, options.folder / "files")
        after = _disk(cursor)
        cursor.execute(read_statement("audit/tables_digest").text)
        digests = {table: [rows, digest] for table, rows, digest in cursor.fetchall()}
    transactions = options.ingest_blocks * TRANSACTIONS
    return {
        **filling,
        "began": began,
        "per_transaction": {
            **filling["per_transaction"],
            **{key: (after[key] - before[key]) / transactions for key in after},
        },
        "digests": digests,
    }


def watched(cursor: Any, process: Any, blocks: int, files: Path) -> dict[str, Any]:
    """Return what a process takes that fills the cursor's database up to so many blocks: elapsed
    and processor seconds, memory, bytes of the database and of files."""
    samples = _samples(cursor, process, blocks - 1, files)
    cursor.execute("SELECT pg_database_size(current_database())")
    [size] = cursor.fetchone()
    transactions = blocks * TRANSACTIONS
    return {
        "transactions": transactions,
        "elapsed_s": samples[-1]["seconds"],
        "microseconds": {
            key: (samples[-1][f"{key}_s"] - samples[0][f"{key}_s"]) / transactions * 1e6
            for key in ("scan", "postgres")
        },
        "per_transaction": {
            "bytes": size / transactions,
            "file_bytes": max(sample["file_bytes"] for sample in samples) / transactions,
        },
        "stages": _stages(samples),
        "resident_bytes": max(sample["resident_bytes"] for sample in samples),
    }


def _samples(cursor: Any, process: Any, last_block: int, files: Path) -> list[dict[str, Any]]:
    """Until the last block is there; the first when the process has started.

    After a tenth of the blocks the tables are analysed, as autovacuum does in any longer run:
    statistics that end before the newest rows have made for bad plans.
    """
    server = server_process(cursor)
    samples: list[dict[str, Any]] = []
    began = time.monotonic()
    is_analysed = False
    while True:
        cursor.execute("SELECT (SELECT max(number) FROM blocks), (SELECT stage FROM bulk_backfill)")
        number, stage = cursor.fetchone()
        is_new = not samples or stage != samples[-1]["stage"]
        samples.append(
            {
                "seconds": time.monotonic() - began,
                "stage": stage,
                "scan_s": sum(map(processor_seconds, family(process.pid))),
                "postgres_s": sum(map(processor_seconds, family(server))),
                "resident_bytes": sum(map(resident_bytes, family(process.pid))),
                "file_bytes": _size(files) if is_new else 0,
            }
        )
        if number == last_block:
            return samples
        if process.poll() is not None:
            raise RuntimeError("it ended before the last block; see its log")
        if not is_analysed and number is not None and number >= last_block // 10:
            cursor.execute("ANALYZE")
            is_analysed = True
        time.sleep(SAMPLE_S)


def _size(files: Path) -> int:
    """Bytes of the files in a folder; those that a program removes meanwhile do not count."""
    size = 0
    for folder, _, names in os.walk(files):
        for name in names:
            with suppress(FileNotFoundError):
                size += (Path(folder) / name).stat().st_size
    return size


def _stages(samples: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Seconds in each stage: elapsed, and of processors."""
    stages: dict[str, dict[str, float]] = {}
    for sample, next_sample in pairwise(samples):
        sums = stages.setdefault(sample["stage"] or "", dict.fromkeys(STAGE_SECONDS, 0.0))
        for key in STAGE_SECONDS:
            sums[key] += next_sample[key] - sample[key]
    return stages


def _disk(cursor: Any) -> dict[str, float]:
    cursor.execute(
        "SELECT pg_current_wal_lsn() - '0/0', (SELECT sum(reads) FROM pg_stat_io),"
        " (SELECT sum(writes) FROM pg_stat_io)"
    )
    wal, reads, writes = map(float, cursor.fetchone())
    return {"wal_bytes": wal, "page_reads": reads, "page_writes": writes}
