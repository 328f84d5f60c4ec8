"""`scan index` with a clock around each of its steps; the times go to stderr's last line as JSON.

Wall and processor seconds by step. Inspecting overlaps with writing, so the steps add up to more
than the whole; processor time of one interpreter cannot. What the process that fetches does has no
clocks: it is measured as a whole, and in steps where MIN_PROCESS_BLOCKS lets it be done here.
"""

import json
import resource
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any

from scan import commands as scan_command
from scan.database import copy_rows
from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.ethereum.client import Node
from scan.indexer import block_source
from scan.indexer.block_source import BlockSource
from scan.indexer.contract_inspection import ContractInspector
from scan.indexer.reorganisation import ForkFinder
from scan.indexer.stale_state import StaleStateRefresher
from scan.indexer.writer import Append


class Clock:
    """Sums of wall and processor seconds, and calls, by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0])

    def around(self, call: Callable[..., Any], name: str, *, by_argument: bool = False) -> Any:
        """`call`, timed; its second argument, as after self, is part of the name where asked."""

        @wraps(call)
        def timed(*args: Any, **kwargs: Any) -> Any:
            wall, processor = time.perf_counter(), time.thread_time()
            try:
                return call(*args, **kwargs)
            finally:
                full = f"{name} {args[1]}" if by_argument else name
                spent = time.perf_counter() - wall, time.thread_time() - processor
                with self._lock:
                    sums = self._sums[full]
                    sums[0] += spent[0]
                    sums[1] += spent[1]
                    sums[2] += 1

        return timed

    def report(self) -> dict[str, list[float]]:
        return {name: [round(value, 3) for value in sums] for name, sums in self._sums.items()}


def main() -> None:
    clock = Clock()
    _wrap(clock, BlockSource, "blocks", "fetch: a span of blocks, in threads")
    _wrap(clock, Node, "_post", "fetch: ask the node and parse its JSON")
    block_source.decode_block = clock.around(block_source.decode_block, "fetch: decode a block")
    _wrap(clock, ContractInspector, "inspect", "inspect: what logs mean")
    _wrap(clock, Append, "add", "write: rows of a batch")
    _wrap(clock, Append, "derive", "write: what is derived of them")
    _wrap(clock, ForkFinder, "has_head", "follow: does the node have the head")
    _wrap(clock, StaleStateRefresher, "refresh", "refresh: balances and supplies")
    copy_rows.copy_lines = clock.around(copy_rows.copy_lines, "copy", by_argument=True)
    Transaction.rows = clock.around(Transaction.rows, "statement", by_argument=True)
    Transaction.execute = clock.around(Transaction.execute, "statement", by_argument=True)
    Database.rows = clock.around(Database.rows, "read", by_argument=True)
    code = scan_command.main(["index"])
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = clock.report() | {
        "process": [0.0, round(time.process_time(), 3), 1],
        "fetch process": [0.0, round(spent.ru_utime + spent.ru_stime, 3), 1],
    }
    print(json.dumps(report), file=sys.stderr, flush=True)
    sys.exit(code)


def _wrap(clock: Clock, owner: type, method: str, name: str) -> None:
    setattr(owner, method, clock.around(getattr(owner, method), name))


if __name__ == "__main__":
    main()
