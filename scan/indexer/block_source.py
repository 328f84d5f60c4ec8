"""Blocks with their receipts and traces, read from a node."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from scan import registry
from scan.ethereum.block_decoder import decode_block
from scan.ethereum.block_hashing import LOG_INDEX
from scan.ethereum.block_validation import Verdict
from scan.ethereum.blocks import DecodedBlock, MalformedBlock
from scan.ethereum.client import Call, HistoryPruned, Node, NodeError
from scan.ethereum.forms.matching import FORM_OF_CHAIN
from scan.hex import quantity
from scan.indexer import node_reader
from scan.indexer.block_check import OWN_HEADER, BlockChecker
from scan.indexer.block_rows import BlockRows, FetchedBlock, LogSelection, make_block_rows
from scan.indexer.hooks import BlockCompletion, make_trace_reader
from scan.indexer.node_reader import (
    READS,
    LargeReceipts,
    MissingPart,
    NodeReader,
    block_hash,
    block_number,
    checked_answer,
    is_large,
    read_again,
    result_of,
)

log = logging.getLogger(__name__)

MAX_REASON_CHARACTERS = 500
FETCHED_BYTES = 4 * 1024 * 1024  # of rows, of the blocks that one blocks() returns
ROW_BYTES = 512


class _Read(NamedTuple):
    """A block that was read, or its parts, and what hashes say of it."""

    value: Any
    verdict: Verdict


class FetchedRows(NamedTuple):
    """The blocks of a range, with the seconds of waiting for the node and of decoding."""

    blocks: list[BlockRows]
    node_s: float
    decode_s: float


class NodeHead(NamedTuple):
    """The number of a node's newest block, its chain id, and the hash of its block that has the
    number of the indexed head, None where it has none."""

    number: int
    chain_id: int
    hash_at_indexed: bytes | None


def _header_call(number: int) -> Call:
    return Call("eth_getBlockByNumber", (hex(number), False))


def with_unit(block: DecodedBlock, chain_id: int) -> DecodedBlock:
    """Return the block with the chain's unit of withdrawals, where that is not the coin."""
    form = FORM_OF_CHAIN.get(chain_id)
    if form is None or form.withdrawal_unit is None:
        return block
    unit = form.withdrawal_unit
    return block._replace(withdrawals=[w._replace(unit=unit) for w in block.withdrawals or ()])


class BlockSource:
    """Reads blocks from a node, and remembers which methods the node offers."""

    def __init__(self, node: Node, *, traces: str = "auto", computes_senders: bool = True) -> None:
        self.checker = BlockChecker(node, self.known_chain_id, computes_senders=computes_senders)
        self._node = node
        self._reader = NodeReader(node)
        self._single_readers: dict[Node, NodeReader] = {}
        self._chain_id: int | None = None
        self._known_reasons: set[str] = set()  # why blocks so far are not proven
        self._large_lock = threading.Lock()  # large responses are read and decoded one at a time
        self._traces = make_trace_reader(node, self._large_lock, traces=traces)
        parts = registry.parts(BlockCompletion)
        self._completers = [part.completer(node, self.known_chain_id) for part in parts]

    @property
    def can_trace(self) -> bool:
        """Whether the node may offer traces, as far as it was asked for any."""
        return self._traces.can_trace

    def head(self, indexed: int | None = None) -> NodeHead:
        """Return what the node has, in one request."""
        calls = [Call("eth_blockNumber", ()), Call("eth_chainId", ())]
        if indexed is not None:
            calls.append(_header_call(indexed))

        def read() -> NodeHead:
            number, chain_id, *headers = self._node.batch(calls)
            return NodeHead(
                block_number(result_of(number)),
                quantity(result_of(chain_id)),
                block_hash(headers[0]) if headers else None,
            )

        return checked_answer(self._node, read)

    def rest_node(self) -> None:
        """Ask the next node first for a while, where there is one."""
        self._node.rest()

    def known_chain_id(self) -> int:
        """Return the chain id of the database, or else the one that the node gave first."""
        if self._chain_id is None:
            expected = self._node.chain_id
            self._chain_id = self.chain_id() if expected is None else expected
        return self._chain_id

    def expect(self, chain_id: int) -> None:
        """Take the chain id of the database."""
        self._chain_id = chain_id

    def chain_id(self) -> int:
        return checked_answer(self._node, lambda: quantity(self._node.call("eth_chainId")))

    def genesis_hash(self) -> bytes:
        """Return the hash of block 0. Raises HistoryPruned, NodeError."""
        if (genesis_hash := self.hash_at(0)) is not None:
            return genesis_hash
        missing = MissingPart("the node does not have block 0")
        if isinstance(node_reader.explained(self._node, missing), HistoryPruned):
            raise HistoryPruned(f"{missing}, whose hash identifies the chain: use one that has it")
        raise missing

    def hash_at(self, number: int) -> bytes | None:
        """Return the hash of the node's block `number`; None if the node has none."""
        calls = [_header_call(number)]
        return checked_answer(self._node, lambda: block_hash(*self._node.batch(calls)))

    def blocks(self, first: int, last: int) -> list[FetchedBlock]:
        """Return the blocks from `first` up to `last`, or fewer where they are large, at least one.

        Raises NodeError or MalformedBlock: no block in between is left out.
        """
        blocks: list[DecodedBlock] = []
        size = 0
        for number, pair in enumerate(self._pairs(self._reader, first, last), start=first):
            try:
                block = self._read(*pair, number)
            except MalformedBlock:
                if blocks:
                    break  # those before it are right
                raise
            blocks.append(block)
            # Roughly the bytes of its rows: the entries of a batch transfer are words of its data.
            data_bytes = sum(len(log.data) for log in block.logs)
            size += ROW_BYTES * (len(block.transactions) + len(block.logs) + data_bytes // 64)
            if size >= FETCHED_BYTES:
                break
        traces = read_again(self._node, lambda: self._traces.read(blocks))
        return [
            FetchedBlock(block.with_failed(traced.failed), *traced[:3])
            for block, traced in zip(blocks, traces, strict=False)
        ]

    def rows(self, first: int, last: int, selection: LogSelection) -> FetchedRows:
        """Return the rows of the blocks that blocks() returns. Raises its errors."""
        began, waited_s = time.perf_counter(), self._node.waited_s
        blocks = [make_block_rows(fetched, selection) for fetched in self.blocks(first, last)]
        node_s = self._node.waited_s - waited_s
        return FetchedRows(blocks, node_s, time.perf_counter() - began - node_s)

    def untraced(self, block: DecodedBlock) -> FetchedBlock:
        """Return a block that was not read here, without traces."""
        return FetchedBlock(block, *self._traces.without_traces(block)[:3])

    def complete(self, block: DecodedBlock, header: Any) -> DecodedBlock:
        """Return the block with what extensions add, and the unit of withdrawals, by the chain.
        `header` is a struct."""
        for completer in self._completers:
            block = completer.complete(block, header)
        return with_unit(block, self.known_chain_id()) if block.withdrawals else block

    def _read(self, header: Any, receipts: Any, number: int) -> DecodedBlock:
        (block, header), verdict = self._settle(self._decode, header, receipts, number)
        block = self.complete(block, header)
        # What no hash proves of it, besides what its completion has said.
        reasons = [reason for reason in (self._words(verdict, number), block.unproven) if reason]
        return block._replace(unproven="; ".join(reasons)[:MAX_REASON_CHARACTERS] or None)

    def _settle(
        self,
        read: Callable[[NodeReader, Any, Any, int], _Read],
        header: Any,
        receipts: Any,
        number: int,
    ) -> _Read:
        """Return what `read` makes of a block and its receipts; while hashes do not prove all of
        it, of the block as other nodes have it, or the same node later.

        Raises MalformedBlock where it contradicts its hash whoever is asked, NodeError.
        """
        results: list[_Read] = []
        failure: Exception | None = None
        for reader, pairs in self._readings((header, receipts), number):
            try:
                [pair] = pairs
                results.append(read(reader, *pair, number))
                if self._is_settled(results[-1].verdict):
                    return results[-1]
            except (MalformedBlock, NodeError) as error:
                failure = error
        if not results:
            assert failure is not None
            raise failure
        # The node that was read first is the last to be read again.
        return min(results[1:] or results, key=lambda result: len(result.verdict.unproven))

    def _readings(
        self, pair: tuple[Any, Any], number: int
    ) -> Iterator[tuple[NodeReader, Iterable[tuple[Any, Any]]]]:
        """Yield a block as it was read, and read again: from each node, the one that gave it last,
        or from the only one. What is yielded raises the errors of reading it."""
        yield self._reader, [pair]
        self._node.rest()
        if self._node.is_single:
            readers = [self._reader] * (READS - 1)
        else:
            readers = [*map(self._reader_of, self._node.all_single_nodes())]
        for reader in readers:
            yield reader, self._pairs(reader, number, number)

    def _reader_of(self, node: Node) -> NodeReader:
        return self._single_readers.setdefault(node, NodeReader(node))

    def _is_settled(self, verdict: Verdict) -> bool:
        """Return whether no other node could prove more of a block, nor the same node later."""
        if not verdict.unproven:
            return True
        if not self._known_reasons.issuperset(verdict.unproven):
            return False
        form = FORM_OF_CHAIN.get(self.known_chain_id())
        is_never_proven = OWN_HEADER in verdict.unproven or (form and form.has_unproven_blocks)
        return bool(is_never_proven) or self._node.is_single

    def _decode(self, reader: NodeReader, header: Any, receipts: Any, number: int) -> _Read:
        """Return a decoded block with its header. Raises MalformedBlock, NodeError."""
        if self._is_large(reader, header, receipts):
            return self._large_block(reader, number)
        verdict = self._verdict(reader, header, receipts, number)
        block = decode_block(header, receipts, number, self.known_chain_id())
        return _Read((block, header), verdict)

    def _pair(self, reader: NodeReader, header: Any, receipts: Any, number: int) -> _Read:
        """Return a block's header and receipts. Raises MalformedBlock, NodeError."""
        if self._is_large(reader, header, receipts):
            header, receipts = reader.large_pair(number)
        return _Read((header, receipts), self._verdict(reader, header, receipts, number))

    def _is_large(self, reader: NodeReader, header: Any, receipts: Any) -> bool:
        """Return whether a part is above the usual bound; the next node may have it smaller. Raises
        MalformedBlock where a part is malformed."""
        if not is_large(header, receipts):
            return False
        if reader is self._reader and not self._node.is_single:
            raise NodeError("the node's response is too large, the next node is asked")
        return True

    def _verdict(
        self,
        reader: NodeReader,
        header: Any,
        receipts: Any,
        number: int,
        leaves: Sequence[bytes] | None = None,
    ) -> Verdict:
        verdict = self.checker.check(number, header, receipts, leaves, reader.raw)
        if verdict.contradiction:
            raise MalformedBlock(f"block {number} contradicts itself ({verdict.contradiction})")
        return verdict

    def _words(self, verdict: Verdict, number: int) -> str | None:
        for reason in verdict.unproven:
            if reason not in self._known_reasons:
                log.warning("block %d, and maybe later ones, are not proven: %s", number, reason)
        self._known_reasons.update(verdict.unproven)
        return "; ".join(verdict.unproven)[:MAX_REASON_CHARACTERS] or None

    def raw_blocks(
        self, first: int, last: int, *, checked: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the blocks first..last and their receipts, as read_json() takes them. Without
        `checked`, blocks that contradict themselves are yielded, too."""
        for number, pair in enumerate(self._pairs(self._reader, first, last), start=first):
            if checked:
                pair, verdict = self._settle(self._pair, *pair, number)
                self._words(verdict, number)
            elif is_large(*pair):
                pair = self._reader.large_pair(number)
            yield pair

    def require_kept(self, number: int) -> None:
        """Raise HistoryPruned where the node has dropped a block or its receipts, NodeError where
        it cannot be read. For block 0, which nodes keep, block 1 is checked."""
        number = max(number, 1)
        if not self.is_kept(number):
            missing = MissingPart(f"the node does not have block {number}", number=number)
            raise node_reader.explained(self._node, missing)

    def is_kept(self, number: int) -> bool:
        """Return whether the node has a block and its receipts. Raises NodeError."""
        return node_reader.is_kept(self._node, max(number, 1))

    def _pairs(self, reader: NodeReader, first: int, last: int) -> Iterator[tuple[Any, Any]]:
        """Yield blocks with their receipts, or one of UNREAD in place of either. Raises
        HistoryPruned where the node has dropped any of them."""
        try:
            yield from reader.pairs(first, last)
        except MissingPart as error:
            if reader is not self._reader:
                raise
            raise node_reader.explained(self._node, error) from None

    def _large_block(self, reader: NodeReader, number: int) -> _Read:
        """Return a large block, decoded, with its header. Only one is in memory at a time: receipts
        are read, encoded as the leaves of their root, decoded, and released one by one."""
        with self._large_lock:
            header = reader.large_header(number)
            receipts = LargeReceipts(reader.large_receipts(header, number), number)
            block = decode_block(header, iter(receipts), number, self.known_chain_id())
            verdict = self._verdict(reader, header, receipts.read, number, receipts.leaves)
            if [entry.log_index for entry in block.logs] != [*range(len(block.logs))]:
                raise MalformedBlock(f"block {number} contradicts itself ({LOG_INDEX})")
            # The check has computed it, where it can.
            size = None if header.size is None else quantity(header.size)
            return _Read((block._replace(size=size), header), verdict)
