"""One backfill by three processes of this machine, by three workers of a cluster, and with one of
them killed.

    python -m bench.cluster --transactions 200000

Elapsed and processor seconds, also of scheduler and workers, and whether all digests are equal:
JSON on standard output.
"""

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench.bulk import databases_in, measure
from bench.chain import made_hashes
from bench.node import HASHES
from bench.processes import (
    family,
    free_port,
    processor_seconds,
    running,
    wait_until_it_answers,
)
from bench.shape import TRANSACTIONS

WORKERS, RANGES = 3, 40
SETTLE_S = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transactions", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, default=Path("var/bench-cluster"))
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    blocks = options.transactions // TRANSACTIONS
    options = argparse.Namespace(traces="none", memory=1, **vars(options))
    databases = databases_in(folder, "512MB", "replica")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    made_hashes(HASHES, blocks)
    command = [sys.executable, "-m", "bench.node", f"--port={port}", f"--blocks={blocks}"]
    results: dict[str, Any] = {"transactions": blocks * TRANSACTIONS, "load": os.getloadavg()}
    digests = []
    try:
        with running(command, folder / "node.log") as node:
            wait_until_it_answers(url, node, folder / "node.log")
            for name in ("one machine", "three workers", "one of three killed"):
                with ExitStack() as stack:
                    arguments, pids = [f"--workers={WORKERS}"], []
                    if name != "one machine":
                        arguments, pids = stack.enter_context(_cluster(folder, name))
                    before_s = sum(map(processor_seconds, pids))
                    arguments += [f"--range-blocks={max(blocks // RANGES, 1)}"]
                    run = measure("bulk", folder, databases, url, blocks, options, arguments)
                    engine_s = sum(map(processor_seconds, pids)) - before_s
                digests.append(run["digests"])
                results[name] = {
                    "elapsed_s": run["elapsed_s"],
                    "spool_s": run["stages"].get("spool", {}).get("elapsed_s"),
                    "microseconds": run["microseconds"],
                    "microseconds_of_engine": engine_s / (blocks * TRANSACTIONS) * 1e6,
                }
    finally:
        databases.stop()
    results["digests_are_equal"] = all(digest == digests[0] for digest in digests)
    print(json.dumps(results, indent=1))


@contextmanager
def _cluster(folder: Path, name: str) -> Iterator[tuple[list[str], list[int]]]:
    """The options of a backfill, and what scheduler and workers are."""
    address = f"tcp://127.0.0.1:{free_port()}"
    dask = [sys.executable, "-m", "dask"]
    scheduler = [*dask, "scheduler", f"--port={address.rpartition(':')[2]}", "--no-dashboard"]
    worker = [*dask, "worker", address, "--no-nanny", "--nthreads=1", "--no-dashboard"]
    with ExitStack() as stack:
        processes = [stack.enter_context(running(scheduler, folder / "scheduler.log"))]
        for number in range(WORKERS):
            process = running(
                [*worker, f"--local-directory={folder}/{number}"], folder / f"worker-{number}.log"
            )
            processes.append(stack.enter_context(process))
        time.sleep(SETTLE_S)
        if name == "one of three killed":
            threading.Thread(target=_kill, args=(folder, processes[-1]), daemon=True).start()
        arguments = [f"--cluster={address}", f"--files={folder}/shared"]
        yield arguments, [pid for process in processes for pid in family(process.pid)]


def _kill(folder: Path, worker: Any) -> None:
    """When a few ranges are there."""
    while sum(1 for _ in (folder / "files" / "blocks").glob("0*")) < WORKERS + 1:
        time.sleep(0.05)
    worker.kill()


if __name__ == "__main__":
    main()
