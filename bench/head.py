"""The head beside a node that shows blocks at a pace, with their traces: how far the index lags.

Node, indexer, PostgreSQL, the API and this process share the machine. A block's lag is the time
from the moment at which the node shows it until it is committed, until a stream sends it, and until
the first page of blocks has it, which is asked for PAGES_PER_S times a second.
"""

import logging
import select
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.request import urlopen

import orjson
import psycopg2

from bench.databases import Databases
from bench.options import Options
from bench.processes import Server, family, post, processor_seconds, server, server_process

log = logging.getLogger(__name__)

TRANSACTIONS = 50  # of a block
INDEXED_FIRST = 200  # blocks that the index has before the first at the pace
WARM_UP_S = 3.0  # after these, as the index refreshes balances while it is idle
PAGES_PER_S = 5
MOST_LAG_S = 60.0
SETTINGS = {"SCAN_RATE_LIMIT_ANONYMOUS": "900000000/second", "SCAN_BULK_BACKFILL": "off"}

Record = Callable[[int], None]  # takes a block that was seen, which all before it were, too


class Programs(NamedTuple):
    pids: dict[str, int]
    node_url: str
    api_url: str
    metrics_url: str


class Seen:
    """The time.monotonic() at which each block was first seen."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.sightings = 0  # at which there were new blocks

    def record(self, newest: int) -> None:
        missing = newest + 1 - len(self.times)
        self.times += [time.monotonic()] * missing
        self.sightings += missing > 0


def measure(options: Options, databases: Databases) -> dict[str, Any] | None:
    """Return lags, and what a block took of the processors; None where it is not wanted."""
    if not options.wants("head"):
        return None
    with databases.empty("scan_bench_head") as url, _started(options, url) as programs:
        seen = {"commit": _in_thread(partial(_watch_commits, url))}
        _wait(seen["commit"], INDEXED_FIRST)
        seen["stream"] = _in_thread(partial(_watch_stream, programs.api_url))
        seen["page"] = _in_thread(partial(_watch_pages, programs.api_url))
        time.sleep(WARM_UP_S)
        result = _at_pace(options, programs, seen)
    of_commits = result["lag_s"]["commit"]
    log.info("head: lag %.2f s, at most %.2f s", of_commits["median"], of_commits["worst"])
    return result


def _at_pace(options: Options, programs: Programs, seen: dict[str, Seen]) -> dict[str, Any]:
    blocks, pace = options.head_blocks, options.head_pace
    before, sent_before = _seconds(programs), _requests_sent(programs)
    commits_before = seen["commit"].sightings
    began: float = orjson.loads(post(programs.node_url, "bench_start", pace))["result"]
    for of_blocks in seen.values():
        _wait(of_blocks, INDEXED_FIRST + blocks)
    spent = {name: seconds - before[name] for name, seconds in _seconds(programs).items()}
    elapsed_s = time.monotonic() - began
    shown_at = [began + (index + 1) / pace for index in range(blocks)]
    return {
        "pace": pace,
        "blocks": blocks,
        "transactions": TRANSACTIONS,
        "lag_s": {name: lags(of.times[INDEXED_FIRST:], shown_at) for name, of in seen.items()},
        "milliseconds_a_block": {name: 1000 * s / blocks for name, s in spent.items()},
        "processor_shares": {name: seconds / elapsed_s for name, seconds in spent.items()},
        "requests_a_block": (_requests_sent(programs) - sent_before) / blocks,
        "blocks_a_commit": blocks / (seen["commit"].sightings - commits_before),
    }


def lags(seen_at: list[float], shown_at: list[float]) -> dict[str, float]:
    waits = sorted(seen - shown for seen, shown in zip(seen_at, shown_at, strict=True))
    p99 = waits[min(len(waits) - 1, len(waits) * 99 // 100)]
    return {"median": statistics.median(waits), "p99": p99, "worst": waits[-1]}


@contextmanager
def _started(options: Options, database_url: str) -> Iterator[Programs]:
    with ExitStack() as stack:

        def start(name: str, arguments: list[str], **environment: str) -> Server:
            log_file = options.folder / f"{name}.log"
            return stack.enter_context(server(arguments, log_file, environment))

        node = ["bench.node", "--port=PORT", "--traces=callTracer", f"--shown={INDEXED_FIRST}"]
        node.append(f"--blocks={INDEXED_FIRST + options.head_blocks}")
        node_url, node_pid = start("node", node, BENCH_BLOCK_TRANSACTIONS=str(TRANSACTIONS))
        settings = SETTINGS | {"DATABASE_URL": database_url, "RPC_URL": node_url}
        api_url, api = start("head-api", ["scan", "serve"], **settings)
        index = ["scan", "index", "--metrics-port=PORT"]
        metrics_url, indexer = start("head-index", index, **settings)
        with psycopg2.connect(database_url) as connection, connection.cursor() as cursor:
            postgres = server_process(cursor)
        connection.close()
        pids = {"indexer": indexer, "postgres": postgres, "api": api, "node": node_pid}
        yield Programs(pids, node_url, api_url, metrics_url)


def _in_thread(watch: Callable[[Record], None]) -> Seen:
    """Watch until the programs end; blocks that are not seen before are missed by _wait()."""
    seen = Seen()

    def run() -> None:
        with suppress(OSError, HTTPException, psycopg2.Error):
            watch(seen.record)

    threading.Thread(target=run, daemon=True).start()
    return seen


def _wait(seen: Seen, blocks: int) -> None:
    """Wait until so many blocks were seen. Raises TimeoutError where none follows for long."""
    count, deadline = -1, 0.0
    while len(seen.times) < blocks:
        if len(seen.times) > count:
            count, deadline = len(seen.times), time.monotonic() + MOST_LAG_S
        if time.monotonic() > deadline:
            raise TimeoutError(f"block {count} does not follow; see the logs")
        time.sleep(0.05)


def _watch_commits(database_url: str, record: Record) -> None:
    connection = psycopg2.connect(database_url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute("LISTEN scan_chain")
        while True:
            cursor.execute("SELECT coalesce(max(number), -1) FROM blocks")
            record(cursor.fetchone()[0])
            while not connection.notifies:
                select.select([connection], [], [])
                connection.poll()
            connection.notifies.clear()


def _watch_stream(api_url: str, record: Record) -> None:
    with urlopen(f"{api_url}/api/v1/stream?types=heads") as response:
        for line in response:
            if line.startswith(b"data: "):
                record(orjson.loads(line[6:])["number"])


def _watch_pages(api_url: str, record: Record) -> None:
    while True:
        with urlopen(f"{api_url}/api/v1/blocks?limit=1") as response:
            for block in orjson.loads(response.read())["blocks"]:
                record(block["number"])
        time.sleep(1 / PAGES_PER_S)


def _seconds(programs: Programs) -> dict[str, float]:
    return {name: sum(map(processor_seconds, family(pid))) for name, pid in programs.pids.items()}


def _requests_sent(programs: Programs) -> float:
    """Return how many requests the indexer has sent to the node."""
    with urlopen(f"{programs.metrics_url}/metrics") as response:
        for line in response:
            if line.startswith(b"scan_rpc_request_seconds_count "):
                return float(line.split()[1])
    return 0.0
