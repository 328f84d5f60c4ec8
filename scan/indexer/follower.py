"""The loop that keeps the index at the node's head: fetch ahead, check links, write, take back."""

import json
import logging
import random
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from scan.database.connection import Database
from scan.errors import ScanError
from scan.ethereum.blocks import Block, Malformed
from scan.ethereum.client import Node, NodeError, RpcError
from scan.hex import data, to_hex
from scan.indexer.block_rows import Extract
from scan.indexer.block_source import BlockSource
from scan.indexer.contract_inspection import Factories, Findings, Inspector
from scan.indexer.prefetch import Ahead
from scan.indexer.progress import Progress
from scan.indexer.stale_state import Refresher
from scan.indexer.status_report import Report
from scan.indexer.writer import Head, NotTheWriter, Writer
from scan.settings import Settings

log = logging.getLogger(__name__)

POLL_S = 0.4
MAX_BACKOFF_S = 10.0
MAX_PATIENCE_S = 60.0
TAKE_OVER_S = 1.0
PROOF_BLOCKS = 8  # of another fork, to be seen before ours is given up
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
        self._ahead = Ahead(settings, self._source, stop)
        self._node = node
        self._writer = Writer(database)
        self._stop = stop
        self._refresher = Refresher(node, database, self._writer)
        self._report = Report(database)
        self._inspector: Inspector | None = None
        self._chain_id: int | None = None
        self._genesis_hash: bytes | None = None
        self._start_block = settings.start_block
        self._node_head: int | None = None
        self._faults = 0
        self._flapping = Flapping()

    def run(self) -> None:
        """Until stopped; every fault of node or database is told once, waited out and retried."""
        with closing(self._ahead):
            self._follow()

    def _follow(self) -> None:
        while not self._stop.is_set():
            try:
                if self._inspector is None:
                    self._prepare()
                if self._advance():
                    self._stop.wait(POLL_S)
            except NotTheWriter:
                self._inspector = None
                if self._report.is_news("another indexer"):
                    log.info("another indexer writes to this database; waiting to take over")
                self._stop.wait(TAKE_OVER_S * random.uniform(0.7, 1.3))
            except (NodeError, RpcError, Malformed, ScanError, Refused) as error:
                self._recover(str(error), getattr(error, "retry_after_s", None))
            except Exception as error:
                if self._report.is_news(repr(error)):
                    log.exception("unexpected")
                self._recover(f"unexpected {type(error).__name__}: {error}"[:500], None)

    def _recover(self, reason: str, retry_after_s: float | None) -> None:
        """What was learnt since the last write may be of blocks that were never written."""
        self._inspector = None
        self._faults += 1
        self._report.problem(self._node_head, reason)
        self._stop.wait(_backoff(self._faults, retry_after_s))

    def _well(self) -> None:
        self._faults = 0
        assert self._node_head is not None
        self._report.well(self._node_head)

    def _prepare(self) -> None:
        """At the start, and after any fault: is it still our chain, and are we the only writer?"""
        self._writer.become_the_only_one()
        chain_id, genesis_hash = _identity(self._source)
        self._database.rows(
            "indexer/chain_insert",
            chain_id=chain_id,
            genesis_hash=genesis_hash,
            start_block=self._settings.start_block,
        )
        row = self._database.row("indexer/chain_get")
        assert row is not None
        kept = int(row[0]), bytes(row[1])
        check_chain(kept, (chain_id, genesis_hash))
        self._check_each_node(kept)
        (self._chain_id, self._genesis_hash), self._start_block = kept, row[2]
        self._inspector = Inspector(self._node, self._database, load_factories(chain_id))

    def _check_each_node(self, kept: tuple[int, bytes]) -> None:
        """Of several nodes, each that answers has to serve the chain."""
        nodes = self._node.each()
        for number, node in enumerate(nodes if len(nodes) > 1 else [], start=1):
            try:
                identity = _identity(BlockSource(node))
            except NodeError:
                continue  # it is asked when another fails, and then checked by what it answers
            check_chain(kept, identity, f"node {number} of {len(nodes)} in RPC_URL")

    def _advance(self) -> bool:
        """One step; true when there was nothing to do."""
        node_head, chain_id = self._source.head()
        self._node_head = node_head
        if chain_id != self._chain_id:
            self._prepare()  # which refuses a node that was replaced in place
        head = self._writer.head()
        first = head.number + 1 if head else self._start_block
        if head and not self._is_on_our_chain(head, node_head):
            self._take_back(head, node_head)
            return False
        if first <= node_head:
            self._catch_up(head, first, node_head)
            return False
        was_idle = True
        if head and head.number == node_head:
            was_idle = not self._refresher.refresh(head)
        self._well()
        return was_idle

    def _is_on_our_chain(self, head: Head, node_head: int) -> bool:
        """Whether the node still has our head; a node that lags behind it is asked for its own."""
        height = min(head.number, node_head)
        if height < self._start_block:
            return True
        theirs = self._source.hash_at(height)
        ours = head.hash if height == head.number else self._hash_at(height)
        return theirs is None or theirs == ours

    def _hash_at(self, number: int) -> bytes | None:
        found = self._database.value("indexer/blocks_get_hash", number=number)
        return None if found is None else bytes(found)

    def _catch_up(self, head: Head | None, first: int, last: int) -> None:
        """Write first..last as they come; what came before a fault is written before it is told.

        While PostgreSQL is busy with one batch, the next one is inspected.
        """
        assert self._inspector is not None
        inspect = self._inspector.inspect
        progress = Progress(first, last)
        ready: tuple[list[Extract], Findings] | None = None
        with (
            closing(progress),
            ThreadPoolExecutor(1, "inspect") as pool,
            closing(self._ahead.blocks(first, last)) as spans,
        ):
            try:
                for batch in _batches(spans):
                    if self._stop.is_set():
                        break
                    self._require_links(ready[0][-1].hash if ready else _hash(head), batch)
                    if ready is None:
                        ready = batch, inspect(batch)
                        continue
                    inspection = pool.submit(inspect, batch)
                    writing, ready = ready, None
                    head = self._write(head, *writing, progress)
                    ready = batch, inspection.result()
            finally:
                if ready is not None and not self._stop.is_set():
                    self._write(head, *ready, progress)

    def _write(
        self, head: Head | None, batch: list[Extract], findings: Findings, progress: Progress
    ) -> Head:
        head = self._writer.append(head, batch, findings)
        self._flapping.arrived(head.hash)
        self._well()
        progress.advance(head.number, sum(block.transaction_count for block in batch))
        return head

    def _require_links(self, parent_hash: bytes | None, batch: list[Extract]) -> None:
        """Raises NodeError where blocks do not follow what is before: a fork is to be found."""
        if not _links(parent_hash, batch) or not self._begins_right(batch[0]):
            raise NodeError("the node's blocks do not name each other, or our head, as parents")

    def _begins_right(self, first: Extract) -> bool:
        return first.number > 0 or first.hash == self._genesis_hash

    def _take_back(self, head: Head, node_head: int) -> None:
        """Give up our blocks after the fork, but only for others that follow on it."""
        self._prepare()
        self._flapping.require_patience()
        fork = self._find_fork(head, node_head)
        theirs = self._source.blocks(fork + 1, min(fork + PROOF_BLOCKS, node_head))
        if not _links(self._hash_at(fork), [block for block, _ in theirs]):
            raise NodeError("the node tells of several forks at once")
        log.info("reorganisation: taking back %d blocks after %d", head.number - fork, fork)
        self._writer.unwind(fork)
        self._flapping.left(head.hash)

    def _find_fork(self, head: Head, node_head: int) -> int:
        """The newest block that both chains share; steps back are doubled, then halved.

        Raises Refused where it lies deeper than the finality limit.
        """
        lowest = max(self._start_block - 1, head.number - self._settings.finality)
        differs, step = min(head.number, node_head), 1
        same = max(differs - step, lowest)
        while differs > lowest and not self._is_shared(same):
            differs, step = same, step * 2
            same = max(differs - step, lowest)
        if differs <= lowest:
            raise Refused(
                f"the node's chain left ours more than {self._settings.finality} blocks ago;"
                " if it is right, raise SCAN_FINALITY or index anew into an empty database"
            )
        while differs - same > 1:
            middle = (same + differs) // 2
            if self._is_shared(middle):
                same = middle
            else:
                differs = middle
        return same

    def _is_shared(self, number: int) -> bool:
        """Before the first block indexed there is nothing that could differ."""
        if number < self._start_block:
            return True
        theirs = self._source.hash_at(number)
        if theirs is None:
            raise NodeError(f"the node does not have block {number} of its own chain")
        return theirs == self._hash_at(number)


class Flapping:
    """A node that goes back and forth between forks, as two behind a balancer do.

    Following it costs an unwinding each time, so every return to what was left doubles the
    patience with which the present fork is kept.
    """

    def __init__(self) -> None:
        self._left: deque[bytes] = deque(maxlen=256)
        self._returns = 0
        self._until = 0.0

    def left(self, head_hash: bytes) -> None:
        self._left.append(head_hash)
        if self._returns:
            self._until = time.monotonic() + min(0.5 * 2**self._returns, MAX_PATIENCE_S)

    def arrived(self, head_hash: bytes) -> None:
        self._returns = min(self._returns + 1, 10) if head_hash in self._left else 0

    def require_patience(self) -> None:
        """Raises NodeError while the last change of forks is too recent."""
        if time.monotonic() < self._until:
            raise NodeError("the node goes back and forth between forks; staying on this one")


def _identity(source: BlockSource) -> tuple[int, bytes]:
    """Chain id and genesis hash of a node."""
    genesis_hash = source.hash_at(0)
    if genesis_hash is None:
        raise NodeError("the node does not have its genesis block")
    return source.chain_id(), genesis_hash


def check_chain(
    kept: tuple[int, bytes], told: tuple[int, bytes], who: str = "the node at RPC_URL"
) -> None:
    """(chain id, genesis hash) twice; raises Refused when a node serves another chain."""
    if kept != told:
        raise Refused(
            f"this database holds chain {kept[0]} with genesis {to_hex(kept[1])}, but {who}"
            f" serves chain {told[0]} with genesis {to_hex(told[1])}; give that node"
            " a database of its own"
        )


def load_factories(chain_id: int) -> Factories:
    """Well-known exchange factories of a chain, by address."""
    text = Path(__file__).with_name("factories.json").read_text(encoding="utf-8")
    by_chain = json.loads(text)
    return {data(address): name for address, name in by_chain.get(str(chain_id), {}).items()}


def _backoff(faults: int, retry_after_s: float | None) -> float:
    """Seconds: doubling from 0.1, or what the node asked for where that is longer; with jitter."""
    doubled: float = min(0.1 * 2 ** min(faults - 1, 10), MAX_BACKOFF_S)
    return max(doubled, retry_after_s or 0.0) * random.uniform(1.0, 1.5)


def _batches(spans: Iterable[list[Extract]]) -> Iterator[list[Extract]]:
    """One database transaction's worth at a time; what came before a fault comes before it."""
    batch: list[Extract] = []
    try:
        for blocks in spans:
            batch += blocks
            if _is_full(batch):
                full, batch = batch, []
                yield full
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _is_full(batch: list[Extract]) -> bool:
    return (
        len(batch) >= BATCH_BLOCKS
        or sum(block.transaction_count for block in batch) >= BATCH_TRANSACTIONS
    )


def _hash(head: Head | None) -> bytes | None:
    return head.hash if head else None


def _links(parent_hash: bytes | None, batch: Sequence[Block | Extract]) -> bool:
    """Whether each block names the one before it as its parent; None: the first has no parent."""
    parent = batch[0].parent_hash if parent_hash is None else parent_hash
    for block in batch:
        if block.parent_hash != parent:
            return False
        parent = block.hash
    return True
