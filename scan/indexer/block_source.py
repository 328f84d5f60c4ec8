"""Blocks with their receipts and traces, read from a node."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from scan import registry
from scan.ethereum import block_decoder, block_validation
from scan.ethereum.block_hashing import LOG_INDEX, form_of_roots, has_unknown_type
from scan.ethereum.blocks import BlockJson, DecodedBlock, MalformedBlock, ReceiptsJson
from scan.ethereum.client import MAX_ANSWER_BYTES, Call, MalformedResponse, Node, RpcError
from scan.ethereum.forms.matching import FORM_OF_CHAIN, has_uncovered_end
from scan.ethereum.stored_blocks import body_of
from scan.hex import quantity
from scan.indexer import hooks, node_reader
from scan.indexer.block_check import OWN_HEADER, BlockChecker
from scan.indexer.block_rows import BlockRows, FetchedBlock, LogSelection, make_block_rows
from scan.indexer.node_reader import UNREAD, MissingPart, present, settled

log = logging.getLogger(__name__)

MAX_REASON_CHARACTERS = 500
FETCHED_BYTES = 4 * 1024 * 1024  # of rows, of the blocks that one blocks() returns
ROW_BYTES = 512


class _Read(NamedTuple):
    """A block that was read, or its parts, and what hashes say of it."""

    value: Any
    verdict: block_validation.Verdict


class FetchedRows(NamedTuple):
    """The blocks of a range, with the seconds of waiting for the node and of decoding."""

    blocks: list[BlockRows]
    node_s: float
    decode_s: float


def block_in_unit(block: DecodedBlock, chain_id: int) -> DecodedBlock:
    """Return the block with the chain's unit of withdrawals, where that is not the coin."""
    form = FORM_OF_CHAIN.get(chain_id)
    if form is None or form.withdrawal_unit is None:
        return block
    unit = form.withdrawal_unit
    return block._replace(withdrawals=[w._replace(unit=unit) for w in block.withdrawals or ()])


class BlockSource:
    """Reads blocks from a node, and remembers which methods the node offers."""

    def __init__(
        self,
        node: Node,
        *,
        traces: str = "auto",
        computes_senders: bool = True,
        stores_bodies: bool = False,
    ) -> None:
        """Blocks that blocks() returns have their bodies where it `stores_bodies`."""
        self.checker = BlockChecker(node, self.chain_id, computes_senders=computes_senders)
        self.node = node
        self.stores_bodies = stores_bodies
        self._without_block_receipts: set[Node] = set()  # which have no eth_getBlockReceipts
        self._chain_id: int | None = None
        self._logged_reasons: set[str] = set()  # why blocks so far are not proven
        self._large_lock = threading.Lock()  # large responses are read and decoded one at a time
        self._traces = hooks.make_trace_reader(node, self._large_lock, traces=traces)
        self._completers = [
            part.completer(node, self.chain_id) for part in registry.parts(hooks.BlockCompletion)
        ]

    @property
    def can_trace(self) -> bool:
        """Whether the node may offer traces, as far as it was asked for any."""
        return self._traces.can_trace

    def chain_id(self) -> int:
        """Return the id of the chain by whose rules blocks are read: the database's, or else the
        one that the node gave first."""
        if self._chain_id is None:
            expected = self.node.rules_id
            self._chain_id = node_reader.read_chain_id(self.node) if expected is None else expected
        return self._chain_id

    def expect(self, chain_id: int) -> None:
        """Take the id of the chain whose rules the database's blocks keep."""
        self._chain_id = chain_id

    def blocks(self, first: int, last: int) -> list[FetchedBlock]:
        """Return the blocks from `first` up to `last`, or fewer where they are large, at least one.

        Raises NodeError or MalformedBlock: no block in between is left out.
        """
        blocks: list[DecodedBlock] = []
        size = 0
        for number, pair in enumerate(self._pairs(self.node, first, last), start=first):
            try:
                read = partial(self._decode, number, [pair])
                (block, header), verdict = settled(self.node, read, self._doubts)
                block = self.complete(block, header)
            except MalformedBlock:
                if blocks:
                    break  # those before it are right
                raise
            if verdict.unproven or block.unproven:  # by its completion
                reasons = filter(None, (self._words(verdict, number), block.unproven))
                block = block._replace(unproven="; ".join(reasons)[:MAX_REASON_CHARACTERS])
            blocks.append(block)
            # Roughly the bytes of its rows: the entries of a batch transfer are words of its data.
            data_bytes = sum(len(log.data) for log in block.logs)
            size += ROW_BYTES * (len(block.transactions) + len(block.logs) + data_bytes // 64)
            size += len(block.body.body) if block.body else 0
            if size >= FETCHED_BYTES:
                break
        traces = settled(self.node, lambda _: self._traces.read(blocks))
        return [
            FetchedBlock(
                block.with_traces(traced.failed, traced.known),
                *traced[:3],
                traced.destroyed,
                traced.called,
                traced.delegated,
            )
            for block, traced in zip(blocks, traces, strict=False)
        ]

    def rows(self, first: int, last: int, selection: LogSelection) -> FetchedRows:
        """Return the rows of the blocks that blocks() returns. Raises its errors."""
        began, waited_s = time.perf_counter(), self.node.waited_s
        blocks = [make_block_rows(fetched, selection) for fetched in self.blocks(first, last)]
        node_s = self.node.waited_s - waited_s
        return FetchedRows(blocks, node_s, time.perf_counter() - began - node_s)

    def untraced(self, block: DecodedBlock) -> FetchedBlock:
        """Return a block that was not read here, without traces."""
        return FetchedBlock(block, *self._traces.without_traces(block)[:3])

    def complete(self, block: DecodedBlock, header: Any) -> DecodedBlock:
        """Return the block with what extensions add, and the unit of withdrawals, by the chain.
        `header` is a struct."""
        for completer in self._completers:
            block = completer.complete(block, header)
        return block_in_unit(block, self.chain_id()) if block.withdrawals else block

    def _doubts(self, read: _Read) -> int:
        """Return how much of a block is not proven that another node, or the same one later, may
        prove."""
        unproven = read.verdict.unproven
        if unproven and self._logged_reasons.issuperset(unproven):
            form = FORM_OF_CHAIN.get(self.chain_id())
            is_never_proven = OWN_HEADER in unproven or (form and form.has_unproven_blocks)
            if is_never_proven or self.node.is_single:
                return 0
        return len(unproven)

    def _decode(self, number: int, pairs: list[tuple[Any, Any]], node: Node) -> _Read:
        """Return a decoded block with its header: of the pair that was read already, or else as the
        node has it. Raises MalformedBlock, NodeError."""
        header, receipts = pairs.pop() if pairs else next(self._pairs(node, number, number))
        if not self._is_large(node, header, receipts):
            verdict = self._verdict(node, header, receipts, number)
            block = block_decoder.decode_block(header, receipts, number, self.chain_id())
            return _Read((self._with_body(block, header, receipts, verdict), header), verdict)
        # Only one is in memory at a time: receipts are read, encoded as the leaves of their root,
        # decoded, and released one by one.
        with self._large_lock:
            header = node_reader.large_header(node, number)
            receipts = node_reader.large_receipts(node, header, number)
            if has_unknown_type(header):  # all that receipts have is looked for in the node's bytes
                return self._decode(number, [(header, [*receipts])], node)
            read, leaves = list[Any](), list[bytes]()
            encoded = node_reader.encoded_receipts(receipts, number, read, leaves)
            block = block_decoder.decode_block(header, encoded, number, self.chain_id())
            verdict = self._verdict(node, header, read, number, leaves)
            if [entry.log_index for entry in block.logs] != [*range(len(block.logs))]:
                raise MalformedBlock(f"block {number} contradicts itself ({LOG_INDEX})")
            # The check has computed it, where it can.
            size = None if header.size is None else quantity(header.size)
            verdict = verdict._replace(received=leaves)
            block = self._with_body(block._replace(size=size), header, read, verdict)
            return _Read((block, header), verdict)

    def _with_body(
        self,
        block: DecodedBlock,
        header: Any,
        receipts: Sequence[Any],
        verdict: block_validation.Verdict,
    ) -> DecodedBlock:
        if not self.stores_bodies or not receipts:
            return block
        encodings = form_of_roots(header, receipts, self.chain_id()).encodings
        try:
            body = body_of(header.transactions, receipts, verdict.sent, verdict.received, encodings)
        except (ValueError, IndexError) as error:
            raise MalformedBlock(f"block {block.number}: a receipt: {error}") from None
        if body is None:
            log.warning("block %d is too large for its transactions to be stored", block.number)
        return block._replace(body=body)

    def _pair(self, number: int, pairs: list[tuple[Any, Any]], node: Node) -> _Read:
        """Return a block's header and receipts, as _decode() takes them."""
        header, receipts = pairs.pop() if pairs else next(self._pairs(node, number, number))
        if self._is_large(node, header, receipts):
            header, receipts = node_reader.large_pair(node, number)
        return _Read((header, receipts), self._verdict(node, header, receipts, number))

    def _is_large(self, node: Node | None, header: Any, receipts: Any) -> bool:
        """Return whether a part is above the usual bound; the next node, after the one that serves,
        may have it smaller. Raises MalformedBlock where a part is malformed."""
        for part in (header, receipts):
            if isinstance(part, MalformedBlock):
                raise part
        is_large = isinstance(header, UNREAD) or isinstance(receipts, UNREAD)
        if is_large and node is self.node and not node.is_single:
            raise MalformedResponse("the node's response is too large, the next node is asked")
        return is_large

    def _verdict(
        self,
        node: Node,
        header: Any,
        receipts: Any,
        number: int,
        leaves: Sequence[bytes] | None = None,
    ) -> block_validation.Verdict:
        verdict = self.checker.check(number, header, receipts, leaves, node)
        if verdict.contradiction:
            raise MalformedBlock(f"block {number} contradicts itself ({verdict.contradiction})")
        return verdict

    def _words(self, verdict: block_validation.Verdict, number: int) -> str:
        """Return what no hash proves of a block, in words, of which new ones are logged."""
        for reason in verdict.unproven:
            if reason not in self._logged_reasons:
                log.warning("block %d, and maybe later ones, are not proven: %s", number, reason)
        self._logged_reasons.update(verdict.unproven)
        return "; ".join(verdict.unproven)[:MAX_REASON_CHARACTERS]

    def raw_blocks(
        self, first: int, last: int, *, checked: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the blocks first..last and their receipts, as read_json() takes them. Without
        `checked`, blocks that contradict themselves are yielded, too."""
        for number, pair in enumerate(self._pairs(self.node, first, last), start=first):
            if checked:
                read = partial(self._pair, number, [pair])
                pair, verdict = settled(self.node, read, self._doubts)
                self._words(verdict, number)
            elif self._is_large(None, *pair):
                pair = node_reader.large_pair(self.node, number)
            yield pair

    def _pairs(self, node: Node, first: int, last: int) -> Iterator[tuple[Any, Any]]:
        """Yield blocks with their receipts, or one of UNREAD in place of either. Raises NodeError
        where the node lacks any of them, and HistoryPruned where it has dropped them."""
        try:
            if node in self._without_block_receipts:
                yield from node_reader.pairs_one_by_one(node, first, last)
                return
            calls = [
                call
                for number in range(first, last + 1)
                for call in (
                    Call("eth_getBlockByNumber", (hex(number), True)),
                    Call("eth_getBlockReceipts", (hex(number),)),
                )
            ]
            results = node.results(calls, most_bytes=MAX_ANSWER_BYTES, raw=True)
            for number in range(first, last + 1):
                header, receipts = present(next(results), "block", number), next(results)
                if isinstance(receipts, RpcError) and receipts.is_missing_method:
                    log.info("the node has no eth_getBlockReceipts; reading receipts one by one")
                    self._without_block_receipts.add(node)
                    yield from node_reader.pairs_one_by_one(node, number, last)
                    return
                header = node_reader.read_part(header, BlockJson, number)
                receipts = node_reader.read_part(receipts, ReceiptsJson, number)
                for part in receipts if isinstance(receipts, list) else [receipts]:
                    present(part, node_reader.RECEIPTS, number)
                if isinstance(receipts, list) and not isinstance(header, UNREAD):
                    # Polygon's state sync: some nodes return its receipt only by its hash.
                    is_short = len(receipts) == len(header.transactions) - 1
                    if is_short and has_uncovered_end(header):
                        end = [(number, header, [header.transactions[-1].hash])]
                        [(_, rest)] = node_reader.blocks_with_receipts(node, end)
                        receipts = rest if isinstance(rest, UNREAD) else [*receipts, *rest]
                    if header.transactions and not receipts:
                        reason = f"the node has no receipts of block {number}"
                        raise MissingPart(reason, number=number)
                yield header, receipts
        except MissingPart as error:
            if node is not self.node:
                raise
            raise node_reader.explained(node, error) from None
