"""`scan index` and `scan backfill chain` on the same synthetic chain, one after the other.

    python -m bench.bulk --transactions 5000000 --traces callTracer
    python -m bench.bulk --transactions 20000000 --shared-buffers 128MB --cgroup-memory-mb 512

Elapsed and processor seconds by stage, transactions over time, WAL and pages of disk by
transaction, bytes from the node and its own processor time, and digests of both databases: JSON on
standard output. Stages are seen in the database and in the files, five times a second, so that the
programs measured are those of users.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.chain import made_hashes
from bench.databases import Databases, connected
from bench.node import HASHES, TRACERS, node_totals
from bench.processes import (
    family,
    free_port,
    parent,
    processor_seconds,
    resident_bytes,
    running,
    wait_until_it_answers,
)
from bench.shape import TRANSACTIONS
from scan.database.statements import load_statements

SAMPLE_S = 0.2
MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")  # of version 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transactions", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("var/bench-bulk"))
    parser.add_argument("--shared-buffers", default="512MB")
    parser.add_argument(
        "--cgroup-memory-mb", type=int, help="of PostgreSQL with its part of the page cache"
    )
    parser.add_argument("--wal-level", default="replica", choices=("minimal", "replica"))
    parser.add_argument("--memory", type=int, help="GB, as of scan backfill chain")
    parser.add_argument("--only", choices=("index", "bulk"))
    parser.add_argument("--traces", choices=TRACERS, default="none")
    parser.add_argument("--gzip", action="store_true")
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    blocks = options.transactions // TRANSACTIONS
    databases = databases_in(folder, options.shared_buffers, options.wal_level)
    results: dict[str, Any] = {
        "transactions": blocks * TRANSACTIONS,
        "shared_buffers": options.shared_buffers,
        "cgroup_memory_mb": options.cgroup_memory_mb,
        "wal_level": options.wal_level,
        "traces": options.traces,
        "load_before": os.getloadavg(),
    }
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    node_log = folder / "node.log"
    made_hashes(HASHES, blocks)
    command = [sys.executable, "-m", "bench.node", f"--port={port}", f"--blocks={blocks}"]
    command += [f"--traces={options.traces}", *(["--gzip"] if options.gzip else [])]
    try:
        with running(command, node_log) as node:
            wait_until_it_answers(url, node, node_log)
            for name in ("index", "bulk"):
                if options.only in (None, name):
                    with _limited_memory(databases, options.cgroup_memory_mb):
                        before = node_totals(url, node.pid)
                        results[name] = measure(name, folder, databases, url, blocks, options)
                        results[name]["node"] = {
                            key: (value - before[key]) / (blocks * TRANSACTIONS)
                            for key, value in node_totals(url, node.pid).items()
                        }
                    print(json.dumps(results[name]), file=sys.stderr, flush=True)
    finally:
        databases.stop()
    results["load_after"] = os.getloadavg()
    print(json.dumps(results, indent=1))


def databases_in(folder: Path, shared_buffers: str, wal_level: str) -> Databases:
    databases = Databases(folder)
    with connected(databases.url("postgres")) as cursor:
        cursor.execute(f"ALTER SYSTEM SET shared_buffers = '{shared_buffers}'")
        cursor.execute("ALTER SYSTEM SET track_io_timing = on")
        cursor.execute(f"ALTER SYSTEM SET wal_level = {wal_level}")
        cursor.execute(f"ALTER SYSTEM SET max_wal_senders = {0 if wal_level == 'minimal' else 10}")
    databases.stop()
    return Databases(folder)


@contextmanager
def _limited_memory(databases: Databases, limit_mb: int | None) -> Iterator[None]:
    """PostgreSQL in a cgroup of its own, whose limit counts the pages of files that it reads and
    writes, too; needs root."""
    if limit_mb is None:
        yield
        return
    group = MEMORY_GROUPS / f"scan_bench_{os.getpid()}"
    group.mkdir(exist_ok=True)
    (group / "memory.limit_in_bytes").write_text(str(limit_mb * 1024 * 1024))
    (group / "memory.swappiness").write_text("0")
    server = _server(databases)
    try:
        for pid in family(server):  # what it starts from now on is in it by itself
            with suppress(ProcessLookupError):  # of a session that has just ended
                (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                (MEMORY_GROUPS / "cgroup.procs").write_text(pid)
        group.rmdir()


def measure(
    name: str,
    folder: Path,
    databases: Databases,
    url: str,
    blocks: int,
    options: Any,
    arguments: Sequence[str] = (),
) -> dict[str, Any]:
    log = folder / f"{name}.log"
    files = folder / "files"
    command = [sys.executable, "-m", "scan", "index"]
    if name == "bulk":
        command = [sys.executable, "-m", "scan", "backfill", "chain", f"--folder={files}"]
        command += [f"--last-block={blocks - 1}", *arguments]
        command += [f"--memory={options.memory}"] if options.memory else []
    with databases.empty(f"scan_bench_{name}") as database_url:
        environment = {
            "DATABASE_URL": database_url,
            "RPC_URL": url,
            "SCAN_TRACES": "off" if options.traces == "none" else "auto",
            "SCAN_BULK_BACKFILL": "off",
        }
        server = _server(databases)
        with connected(database_url) as cursor:
            before = _disk(cursor)
            with running(command, log, environment) as process:
                samples = _samples(cursor, process, server, files, blocks - 1, log)
            after = _disk(cursor)
            cursor.execute("SELECT pg_database_size(current_database())")
            [size] = cursor.fetchone()
            cursor.execute(load_statements()["audit/tables_digest"].text)
            digests = {table: [rows, digest] for table, rows, digest in cursor.fetchall()}
    transactions = blocks * TRANSACTIONS
    return {
        "elapsed_s": samples[-1]["seconds"],
        "transactions_per_s": transactions / samples[-1]["seconds"],
        "microseconds": {
            key: (samples[-1][f"{key}_s"] - samples[0][f"{key}_s"]) / transactions * 1e6
            for key in ("scan", "postgres")
        },
        "bytes_per_transaction": size / transactions,
        "per_transaction": {key: (after[key] - before[key]) / transactions for key in after},
        "stages": _stages(samples),
        "file_bytes": max(s.get("file_bytes", 0) for s in samples) / transactions,
        "largest_resident_bytes": {
            "scan": max(max(s["resident_bytes"]) for s in samples),
            "scan, all processes": max(sum(s["resident_bytes"]) for s in samples),
        },
        "slices": _slices(samples, 20),
        "digests": digests,
    }


def _server(databases: Databases) -> int:
    with connected(databases.url("postgres")) as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [pid] = cursor.fetchone()
        return parent(pid)


def _samples(
    cursor: Any, process: Any, server: int, files: Path, last_block: int, log: Path
) -> list[dict[str, Any]]:
    """Until the last block is there; the first when the process has started. Beside the log they
    are written at once, for whom the whole takes too long."""
    lines = log.with_suffix(".samples").open("w", buffering=1)
    samples: list[dict[str, Any]] = []
    began = time.monotonic()
    is_analysed = False
    while True:
        cursor.execute(
            "SELECT (SELECT b.transactions_before + b.transaction_count FROM blocks b"
            " ORDER BY b.number DESC LIMIT 1), (SELECT max(number) FROM blocks),"
            " (SELECT stage FROM bulk_backfill), (SELECT cardinality(loaded) FROM bulk_backfill)"
        )
        transactions, number, stage, loaded = cursor.fetchone()
        samples.append(
            {
                "seconds": time.monotonic() - began,
                "stage": stage or "",
                "transactions": transactions or 0,
                "files": sum(1 for _ in (files / "blocks").glob("0*")),
                "loaded": loaded or 0,
                "scan_s": sum(map(processor_seconds, family(process.pid))),
                "postgres_s": sum(map(processor_seconds, family(server))),
                "resident_bytes": [resident_bytes(pid) for pid in family(process.pid)],
            }
        )
        if stage != samples[max(len(samples) - 2, 0)]["stage"]:
            samples[-1]["file_bytes"] = sum(
                path.stat().st_size for path in files.rglob("*") if path.is_file()
            )
        if number == last_block or len(samples) % 50 == 1:
            disk = _disk(cursor)
            print(json.dumps({**samples[-1], **disk}), file=lines)
        if number == last_block:
            return samples
        if process.poll() is not None:
            raise RuntimeError("it ended before the last block; see its log")
        if not is_analysed and number is not None and number >= last_block // 10:
            cursor.execute("ANALYZE")  # as autovacuum would in a longer run
            is_analysed = True
        time.sleep(SAMPLE_S)


def _stages(samples: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Seconds in each stage: elapsed, and of processors."""
    stages: dict[str, dict[str, float]] = {}
    for one, next_ in pairwise(samples):
        sums = stages.setdefault(one["stage"], {"elapsed_s": 0, "scan_s": 0, "postgres_s": 0})
        for key, of in (("elapsed_s", "seconds"), ("scan_s", "scan_s"), ("postgres_s",) * 2):
            sums[key] += next_[of] - one[of]
    return stages


def _slices(samples: list[dict[str, Any]], count: int) -> list[dict[str, float]]:
    """The run in parts of equal time: what was reached at the end of each."""
    ends = [samples[-1]["seconds"] * (number + 1) / count for number in range(count)]
    keys = ("seconds", "stage", "transactions", "files", "loaded", "scan_s", "postgres_s")
    first = samples[0]
    slices = [
        {key: next(s for s in samples if s["seconds"] >= end)[key] for key in keys} for end in ends
    ]
    return [
        {**part, **{key: part[key] - first[key] for key in ("scan_s", "postgres_s")}}
        for part in slices
    ]


def _disk(cursor: Any) -> dict[str, float]:
    cursor.execute(
        "SELECT pg_current_wal_lsn() - '0/0', (SELECT sum(reads) FROM pg_stat_io),"
        " (SELECT sum(writes) FROM pg_stat_io)"
    )
    wal, reads, writes = map(float, cursor.fetchone())
    return {"wal_bytes": wal, "page_reads": reads, "page_writes": writes}


if __name__ == "__main__":
    main()
