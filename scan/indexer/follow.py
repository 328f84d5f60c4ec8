"""The loop that keeps the index at the node's head: fetch ahead, check links, write, take back."""

import json
import logging
import random
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from scan.db import Database
from scan.decode import Malformed
from scan.errors import ScanError
from scan.indexer.contracts import Factories, Inspector
from scan.indexer.fetch import BlockSource, Fetched
from scan.indexer.progress import Progress
from scan.indexer.refresh import Refresher
from scan.indexer.write import Head, Writer
from scan.quantity import data, to_hex
from scan.rpc import Node, NodeError, RpcError
from scan.settings import Settings

log = logging.getLogger(__name__)

POLL_S = 0.4
MAX_BACKOFF_S = 10.0
FETCH_BLOCKS = 20  # a request's worth
FETCHES_AHEAD = 3
BATCH_TRANSACTIONS = 6_000  # one database transaction's worth
BATCH_BLOCKS = 400


class Refused(Exception):
    """What no retry mends: the operator has to choose."""


class Follower:
    """Brings one database up to one node, and keeps it there until `stop` is set."""

    def __init__(
        self, settings: Settings, database: Database, node: Node, stop: threading.Event
    ) -> None:
        self._settings = settings
        self._database = database
        self._source = BlockSource(node, traces=settings.traces)
        self._node = node
        self._writer = Writer(database)
        self._stop = stop
        self._refresher = Refresher(node, database)
        self._inspector: Inspector | None = None
        self._start_block = settings.start_block
        self._problem: str | None = None
        self._node_head: int | None = None

    def run(self) -> None:
        """Until stopped; every fault of node or database is told once, waited out and retried."""
        faults = 0
        while not self._stop.is_set():
            try:
                if faults or self._inspector is None:
                    self._prepare()
                caught_up = self._advance()
                self._tell(None)
                faults = 0
                if caught_up:
                    self._stop.wait(POLL_S)
            except (NodeError, RpcError, Malformed, ScanError, Refused) as error:
                faults += 1
                self._tell(str(error))
                self._stop.wait(_backoff(faults, getattr(error, "retry_after_s", None)))

    def _prepare(self) -> None:
        """At the start, and after any fault: is it still our chain, and are we the only writer?"""
        if not self._database.value("writer_lock"):
            raise Refused("another indexer writes to this database; waiting to take over")
        chain_id = self._source.chain_id()
        genesis_hash = self._source.hash_at(0)
        if genesis_hash is None:
            raise NodeError("the node does not have its genesis block")
        start_block = self._settings.start_block
        self._database.rows(
            "chain_insert", chain_id=chain_id, genesis_hash=genesis_hash, start_block=start_block
        )
        row = self._database.row("chain_get")
        assert row is not None
        check_chain(int(row[0]), bytes(row[1]), chain_id, genesis_hash)
        self._start_block = row[2]
        self._inspector = Inspector(self._node, self._database, load_factories(chain_id))

    def _advance(self) -> bool:
        """One step; true when there was nothing to do."""
        node_head = self._source.head_number()
        self._node_head = node_head
        head = self._writer.head()
        first = head.number + 1 if head else self._start_block
        if head and not self._is_on_our_chain(head, node_head):
            self._take_back(head, node_head)
            return False
        if first <= node_head:
            self._tell(self._problem)
            self._catch_up(head, first, node_head)
            return False
        if head and head.number == node_head:
            return not self._refresher.refresh(head)
        return True

    def _is_on_our_chain(self, head: Head, node_head: int) -> bool:
        """Whether the node still has our head; a node that lags behind it is asked for its own."""
        height = min(head.number, node_head)
        if height < self._start_block:
            return True
        theirs = self._source.hash_at(height)
        ours = head.hash if height == head.number else self._hash_at(height)
        return theirs is None or theirs == ours

    def _hash_at(self, number: int) -> bytes | None:
        found = self._database.value("blocks_hash", number=number)
        return None if found is None else bytes(found)

    def _catch_up(self, head: Head | None, first: int, last: int) -> None:
        """Fetch first..last ahead of writing them; ends early at a block that does not link."""
        progress = Progress(first, last)
        ahead: deque[Future[list[Fetched]]] = deque()
        spans = iter(
            (at, min(at + FETCH_BLOCKS - 1, last)) for at in range(first, last + 1, FETCH_BLOCKS)
        )
        batch: list[Fetched] = []
        with ThreadPoolExecutor(FETCHES_AHEAD, "fetch") as pool:
            try:
                ahead.extend(
                    pool.submit(self._source.blocks, *span) for span in islice(spans, FETCHES_AHEAD)
                )
                while ahead and not self._stop.is_set():
                    batch += ahead.popleft().result()
                    ahead.extend(
                        pool.submit(self._source.blocks, *span) for span in islice(spans, 1)
                    )
                    if not ahead or _is_full(batch):
                        if not _links(head, batch):
                            self._require_reorganisation(head, last)
                            return
                        head = self._write(head, batch)
                        progress.advance(head.number, sum(len(b.transactions) for b, _ in batch))
                        batch = []
            finally:
                for future in ahead:
                    future.cancel()

    def _require_reorganisation(self, head: Head | None, node_head: int) -> None:
        """Blocks that do not link are a fork when our head is gone; else the node is confused."""
        if head is None or self._is_on_our_chain(head, node_head):
            raise NodeError("the node's blocks do not name each other as parents")

    def _write(self, head: Head | None, batch: list[Fetched]) -> Head:
        assert self._inspector is not None
        return self._writer.append(head, batch, self._inspector.inspect(batch))

    def _take_back(self, head: Head, node_head: int) -> None:
        self._prepare()
        fork = self._find_fork(head, node_head)
        log.info("reorganisation: taking back %d blocks after %d", head.number - fork, fork)
        self._writer.unwind(fork)

    def _find_fork(self, head: Head, node_head: int) -> int:
        """The newest block that both chains share; steps back are doubled, then halved.

        Raises Refused where it lies deeper than the finality limit.
        """
        top = min(head.number, node_head)
        lowest = max(self._start_block - 1, head.number - self._settings.finality)
        differs, step = top, 1
        while True:
            same = max(top - step, lowest)
            if same < self._start_block or self._same_at(same):
                break
            if same == lowest:
                raise Refused(
                    f"the node's chain left ours more than {self._settings.finality} blocks ago;"
                    " if it is right, raise SCAN_FINALITY or index anew into an empty database"
                )
            differs, step = same, step * 2
        while differs - same > 1:
            middle = (same + differs) // 2
            if self._same_at(middle):
                same = middle
            else:
                differs = middle
        return same

    def _same_at(self, number: int) -> bool:
        theirs = self._source.hash_at(number)
        if theirs is None:
            raise NodeError(f"the node does not have block {number} of its own chain")
        return theirs == self._hash_at(number)

    def _tell(self, problem: str | None) -> None:
        """To the log when it changes; to the database, for /readyz, every time."""
        if problem != self._problem:
            if problem is None:
                log.info("following again at block %s", self._node_head)
            else:
                log.warning("the head does not advance: %s", problem)
        self._problem = problem
        try:
            self._database.rows("chain_observe", node_head=self._node_head, problem=problem)
        except ScanError as error:
            log.debug("cannot note the problem: %s", error)


def check_chain(kept_id: int, kept_genesis: bytes, chain_id: int, genesis_hash: bytes) -> None:
    """Raises Refused when a node serves another chain than the database holds."""
    if (kept_id, kept_genesis) != (chain_id, genesis_hash):
        raise Refused(
            f"this database holds chain {kept_id} with genesis {to_hex(kept_genesis)}, but the"
            f" node serves chain {chain_id} with genesis {to_hex(genesis_hash)}; give that node"
            " a database of its own"
        )


def load_factories(chain_id: int) -> Factories:
    """Well-known exchange factories of a chain, by address."""
    text = Path(__file__).with_name("factories.json").read_text(encoding="utf-8")
    by_chain = json.loads(text)
    return {data(address): name for address, name in by_chain.get(str(chain_id), {}).items()}


def _backoff(faults: int, retry_after_s: float | None) -> float:
    """Seconds: doubling from 0.5 with jitter, or what the node asked for."""
    if retry_after_s is not None:
        return retry_after_s
    doubled: float = 0.5 * 2 ** min(faults - 1, 10)
    return min(doubled, MAX_BACKOFF_S) * random.uniform(0.7, 1.3)


def _is_full(batch: list[Fetched]) -> bool:
    return (
        len(batch) >= BATCH_BLOCKS
        or sum(len(block.transactions) for block, _ in batch) >= BATCH_TRANSACTIONS
    )


def _links(head: Head | None, batch: list[Fetched]) -> bool:
    """Whether each block names the one before it as its parent."""
    parent = head.hash if head else batch[0].block.parent_hash
    for block, _ in batch:
        if block.parent_hash != parent:
            return False
        parent = block.hash
    return True
