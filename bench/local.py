"""What a local developer waits for beside anvil, until a page has it: a transaction sent while
`scan run` starts for the second time, a block of anvil, and each of ten transactions a second.

    python -m bench.local

Node and service run on loopback with their own settings but for the limits of requests, in folders
that are deleted at the end.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import orjson

from bench.processes import free_port, post, running, wait_until_it_answers
from scan.settings import ROOT

ANVIL = "tests/support/node/node_modules/@foundry-rs/anvil-*/bin/anvil"
STARTS = 3
BLOCKS, PAUSE_S = 50, 0.3
PER_S, FOR_S = 10, 60
MOST_S = 120.0
LOOK_EVERY_S = 0.005
LIMITS = dict.fromkeys(("SCAN_RATE_LIMIT_ANONYMOUS", "SCAN_RATE_LIMIT_PAGES"), "900000/second")


class Chain:
    """A node of anvil, and the pages that `scan run` has of it."""

    def __init__(self, node_url: str, page_url: str) -> None:
        self._node_url = node_url
        self._page_url = page_url
        self._sender, self._receiver, *_ = self._call("eth_accounts")

    def _call(self, method: str, *params: object) -> Any:
        return orjson.loads(post(self._node_url, method, *params))["result"]

    def send(self) -> int:
        """Send a transaction, and return the number of the block that anvil made of it."""
        sent = {"from": self._sender, "to": self._receiver, "value": "0x1"}
        hash_ = self._call("eth_sendTransaction", sent)
        while (receipt := self._call("eth_getTransactionReceipt", hash_)) is None:
            time.sleep(LOOK_EVERY_S)
        return int(receipt["blockNumber"], 16)

    def seconds_until_page(self, block: int, began: float) -> float:
        """Raises TimeoutError where the block has no page in time."""
        while time.monotonic() - began < MOST_S:
            try:
                urlopen(f"{self._page_url}/block/{block}", timeout=5).close()
            except (OSError, HTTPException):  # of which an answer 404 is one
                time.sleep(LOOK_EVERY_S)
            else:
                return time.monotonic() - began
        raise TimeoutError(f"block {block} has no page after {MOST_S} s")


def main() -> int:
    [anvil, *_] = sorted(ROOT.glob(ANVIL))
    node_port, port = free_port(), free_port()
    node_url, page_url = (f"http://127.0.0.1:{of}" for of in (node_port, port))
    with tempfile.TemporaryDirectory(prefix="scan-bench-local-") as name:
        folder = Path(name)
        node_command = [str(anvil), "--port", str(node_port)]

        @contextmanager
        def scan_run() -> Iterator[None]:
            environment = {"PORT": str(port), "RPC_URL": node_url, **LIMITS}
            environment["SCAN_DATA_DIR"] = str(folder / "var")
            command = [sys.executable, "-m", "scan", "run"]
            with running(command, folder / "run.log", environment):
                yield

        with running(node_command, folder / "anvil.log") as process:
            wait_until_it_answers(node_url, process, folder / "anvil.log")
            chain = Chain(node_url, page_url)
            _print("first start to the page", [_start(chain, scan_run)])
            _print("second start to the page", [_start(chain, scan_run) for _ in range(STARTS)])
            with scan_run():
                chain.seconds_until_page(chain.send(), time.monotonic())
                time.sleep(PAUSE_S * 10)
                _print("a block of anvil to its page", [_one(chain) for _ in range(BLOCKS)])
                _print(f"the same at {PER_S} transactions/s", [*_at_pace(chain)])
    return 0


def _start(chain: Chain, scan_run: Any) -> float:
    """Return the seconds from the start of `scan run` to the page of a transaction sent then."""
    began = time.monotonic()
    with scan_run():
        return chain.seconds_until_page(chain.send(), began)


def _one(chain: Chain) -> float:
    time.sleep(PAUSE_S)
    return chain.seconds_until_page(chain.send(), time.monotonic())


def _at_pace(chain: Chain) -> Iterator[float]:
    """Yield how long each block took that was not yet looked for when the one before was there."""
    began = time.monotonic()
    for number in range(PER_S * FOR_S):
        time.sleep(max(0.0, began + number / PER_S - time.monotonic()))
        yield chain.seconds_until_page(chain.send(), time.monotonic())


def _print(what: str, seconds: list[float]) -> None:
    waits = sorted(seconds)
    p99 = waits[min(len(waits) - 1, len(waits) * 99 // 100)]
    print(
        f"{what}: median {statistics.median(waits):.2f} s, p99 {p99:.2f} s, worst {waits[-1]:.2f} s"
        f" of {len(waits)}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
