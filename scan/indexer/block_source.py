"""Blocks with their receipts and traces, read from a node."""

import logging
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scan import registry
from scan.ethereum.block_decoder import decode_block
from scan.ethereum.block_validation import Verdict
from scan.ethereum.blocks import BlockJson, DecodedBlock, MalformedBlock, read_json
from scan.ethereum.client import (
    MAX_ANSWER_BYTES,
    AnswerTooLarge,
    Call,
    HistoryPruned,
    Node,
    NodeError,
    RpcError,
)
from scan.ethereum.forms.matching import FORM_OF_CHAIN
from scan.ethereum.internal_transfers import InternalTransfer
from scan.hex import quantity
from scan.indexer import pruned_history
from scan.indexer.block_answers import (
    MissingPart,
    block_hash,
    block_number,
    checked_answer,
    present,
    result_of,
    transaction_hashes,
)
from scan.indexer.block_check import BlockChecker
from scan.indexer.block_pairs import PairReader
from scan.indexer.block_traces import make_trace_reader

log = logging.getLogger(__name__)

# The bound on a block's header with its transactions, and on one receipt. The cheapest log costs
# 375 gas and takes 620 bytes, the cheapest byte of input costs 4 gas and takes two digits, so this
# is enough for 58 M gas of nothing else. A larger answer is the node's fault. A receipt of 59 MB
# took 236 MiB of memory.
MAX_BLOCK_BYTES = 96 * 1024 * 1024
READS = 3  # of a block that is not proven: a fault may pass, and another node may have it right
MAX_REASON_CHARACTERS = 500
FETCHED_BYTES = 4 * 1024 * 1024  # of rows, of the blocks that one blocks() returns
ROW_BYTES = 512


class FetchedBlock(NamedTuple):
    """A block with its TracedBlock's internal transfers and created contracts."""

    block: DecodedBlock
    created: Sequence[bytes]
    internal_transfers: Sequence[InternalTransfer] = ()
    is_traced: bool | None = None


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

    def __init__(self, node: Node, *, traces: str = "auto") -> None:
        self.checker = BlockChecker(node)
        self._node = node
        self._pair_reader = PairReader(node)
        self._chain_id: int | None = None
        self._known_reasons: set[str] = set()  # why blocks so far are not proven
        self._large_lock = threading.Lock()  # large responses are read and decoded one at a time
        self._traces = make_trace_reader(node, self._large_lock, traces=traces)
        completers = registry.values("block_completion", "BlockCompleter")
        self._completers = [completer(node, self._known_chain_id) for completer in completers]

    @property
    def can_trace(self) -> bool:
        """Whether the node may offer traces, as far as it was asked for any."""
        return self._traces.can_trace

    def head(self, indexed: int | None = None) -> NodeHead:
        """Return what the node has, in one request."""
        calls = [Call("eth_blockNumber", ()), Call("eth_chainId", ())]
        if indexed is not None:
            calls.append(_header_call(indexed))
        number, chain_id, *headers = self._node.batch(calls)
        return checked_answer(
            lambda: NodeHead(
                block_number(result_of(number)),
                quantity(result_of(chain_id)),
                block_hash(headers[0]) if headers else None,
            )
        )

    def _known_chain_id(self) -> int:
        if self._chain_id is None:
            self._chain_id = self.chain_id()
        return self._chain_id

    def chain_id(self) -> int:
        return checked_answer(lambda: quantity(self._node.call("eth_chainId")))

    def genesis_hash(self) -> bytes:
        """Return the hash of block 0. Raises HistoryPruned, NodeError."""
        if (genesis_hash := self.hash_at(0)) is not None:
            return genesis_hash
        missing = MissingPart("the node does not have block 0")
        if isinstance(pruned_history.explained(self._node, missing), HistoryPruned):
            raise HistoryPruned(f"{missing}, whose hash identifies the chain: use one that has it")
        raise missing

    def hash_at(self, number: int) -> bytes | None:
        """Return the hash of the node's block `number`; None if the node has none."""
        [header] = self._node.batch([_header_call(number)])
        return checked_answer(lambda: block_hash(header))

    def blocks(self, first: int, last: int) -> list[FetchedBlock]:
        """Return the blocks from `first` up to `last`, or fewer where they are large, at least one.

        Raises NodeError or MalformedBlock: no block in between is left out.
        """
        blocks: list[DecodedBlock] = []
        size = 0
        for number, pair in enumerate(self._pairs(first, last), start=first):
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
        return [
            FetchedBlock(block.with_failed(traced.failed), *traced[:3])
            for block, traced in zip(blocks, self._traces.read(blocks), strict=False)
        ]

    def untraced(self, block: DecodedBlock) -> FetchedBlock:
        """Return a block that was not read here, without traces."""
        return FetchedBlock(block, *self._traces.without_traces(block)[:3])

    def complete(self, block: DecodedBlock, header: Any) -> DecodedBlock:
        """Return the block with what extensions add, and the unit of withdrawals, by the chain."""
        header = read_json(header, BlockJson, block.number)
        for completer in self._completers:
            block = completer.complete(block, header)
        return with_unit(block, self._known_chain_id()) if block.withdrawals else block

    def _read(self, header: Any, receipts: Any, number: int) -> DecodedBlock:
        header, receipts, unproven = self._checked(header, receipts, number)
        if isinstance(header, AnswerTooLarge) or isinstance(receipts, AnswerTooLarge):
            return self._large_block(number)
        block = self.complete(decode_block(header, receipts, number), header)
        return block._replace(unproven=unproven)

    def _checked(self, header: Any, receipts: Any, number: int) -> tuple[Any, Any, str | None]:
        """Return a block and its receipts with what is not proven of them, in words.

        Where the block contradicts its hash, or where no hash proves something that was proven so
        far, it is read again, from another node if there is one. Raises MalformedBlock where it
        still contradicts its hash.
        """
        for remaining in reversed(range(READS)):
            if isinstance(header, AnswerTooLarge) or isinstance(receipts, AnswerTooLarge):
                return header, receipts, None
            verdict = self.checker.check(number, header, receipts)
            if not verdict.contradiction and self._known_reasons.issuperset(verdict.unproven):
                break
            if remaining:
                self._node.rest()
                [(header, receipts)] = self._pairs(number, number)
        return header, receipts, self._words(verdict, number)

    def _words(self, verdict: Verdict, number: int) -> str | None:
        if verdict.contradiction:
            raise MalformedBlock(f"block {number} contradicts itself ({verdict.contradiction})")
        for reason in verdict.unproven:
            if reason not in self._known_reasons:
                log.warning("block %d, and maybe later ones, are not proven: %s", number, reason)
        self._known_reasons.update(verdict.unproven)
        return "; ".join(verdict.unproven)[:MAX_REASON_CHARACTERS] or None

    @property
    def waited_s(self) -> float:
        """The seconds that this thread has waited for the node."""
        return self._node.waited_s

    def raw_blocks(
        self, first: int, last: int, *, checked: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the blocks first..last and their receipts, as read_json() takes them. Without
        `checked`, blocks that contradict themselves are yielded, too."""
        for number, pair in enumerate(self._pairs(first, last), start=first):
            header, receipts = self._checked(*pair, number)[:2] if checked else pair
            if isinstance(header, AnswerTooLarge) or isinstance(receipts, AnswerTooLarge):
                header = self._large("eth_getBlockByNumber", hex(number), True)
                receipts = list(self._large_receipts(header, number))
            yield header, receipts

    def require_kept(self, number: int) -> None:
        """Raise HistoryPruned where the node has dropped a block or its receipts, NodeError where
        it cannot be read. For block 0, which nodes keep, block 1 is checked."""
        number = max(number, 1)
        if not self.is_kept(number):
            missing = MissingPart(f"the node does not have block {number}", number=number)
            raise pruned_history.explained(self._node, missing)

    def is_kept(self, number: int) -> bool:
        """Return whether the node has a block and its receipts. Raises NodeError."""
        return pruned_history.is_kept(self._node, max(number, 1))

    def _pairs(self, first: int, last: int) -> Iterator[tuple[Any, Any]]:
        """Yield blocks with their receipts, or AnswerTooLarge in place of either. Raises
        HistoryPruned where the node has dropped any of them."""
        try:
            for number, (header, receipts) in enumerate(self._pair_reader.read(first, last), first):
                if receipts == [] and transaction_hashes(header, number):
                    raise MissingPart(f"the node has no receipts of block {number}", number=number)
                yield header, receipts
        except MissingPart as error:
            raise pruned_history.explained(self._node, error) from None

    def _large_block(self, number: int) -> DecodedBlock:
        """Return a large block. Only one is in memory at a time: receipts are read, decoded and
        released one by one, and the lock is held as long as the header is needed."""
        with self._large_lock:
            header = self._large("eth_getBlockByNumber", hex(number), True)
            header = read_json(header, BlockJson, number)
            verdict = self.checker.check(number, header, None)
            block = decode_block(header, self._large_receipts(header, number), number)
            unproven = self._words(verdict, number)
            return self.complete(block, header)._replace(unproven=unproven)

    def _large_receipts(self, header: Any, number: int) -> Iterator[Any]:
        calls = [
            Call("eth_getTransactionReceipt", (hash_,))
            for hash_ in transaction_hashes(header, number)
        ]
        results = self._node.results(calls, most_bytes=MAX_ANSWER_BYTES)
        for call, receipt in zip(calls, results, strict=True):
            if isinstance(receipt, AnswerTooLarge):
                receipt = self._large(call.method, *call.params)
            yield present(receipt, "a receipt of block", number)

    def _large(self, method: str, *params: object) -> Any:
        try:
            return self._node.call(method, *params, most_bytes=MAX_BLOCK_BYTES)
        except RpcError as error:
            raise NodeError(
                f"the node returned an error for {method} of {params[0]}: {error.message}"
            ) from None
