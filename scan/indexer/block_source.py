"""Blocks with their receipts and traces, read from a node."""

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scan.ethereum.block_decoder import decode_block
from scan.ethereum.block_encoding import BLOBS_INSIDE
from scan.ethereum.block_hashing import OUT_OF_PLACE, put_in_place
from scan.ethereum.block_validation import (
    BODY,
    HEADER,
    contradiction,
    is_out_of_place,
    shows_form,
    uncompared_of,
)
from scan.ethereum.blocks import (
    BlockJson,
    DecodedBlock,
    MalformedBlock,
    read_json,
)
from scan.ethereum.client import (
    MAX_ANSWER_BYTES,
    AnswerTooLarge,
    Call,
    HistoryPruned,
    Node,
    NodeError,
    RpcError,
)
from scan.ethereum.forms import LIKE_ETHEREUM
from scan.ethereum.traces import InternalTransfer
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
from scan.indexer.block_pairs import PairReader
from scan.indexer.block_traces import TraceReader
from scan.indexer.block_uncles import UncleReader
from scan.indexer.rereads import Rereads

log = logging.getLogger(__name__)

# The bound on a block's header with its transactions, and on one receipt. The cheapest log costs
# 375 gas and takes 620 bytes, the cheapest byte of input costs 4 gas and takes two digits, so this
# is enough for 58 M gas of nothing else. A larger answer is the node's fault. A receipt of 59 MB
# took 236 MiB of memory.
MAX_BLOCK_BYTES = 96 * 1024 * 1024
EQUAL_READS = 4  # of a block that contradicts itself, before its neighbours are read
FORM_BLOCKS = 8  # neighbours on a side that decide whether the chain has another form
NEIGHBOURS = 64  # read on each side to find these, as most may have no transactions
READ_AGAIN_S = 2.0  # before an error reports that a block is read again
REPEATED_READS = 2  # as EQUAL_READS, where the block before was accepted with a contradiction
FORM_PATIENCE_S = 10.0  # how long a node must repeat a body that may have a form of its own
OWN_BODIES = ("hardhatnetwork/", "ganache/")  # nodes of which single blocks have other roots
DEVELOPMENT_NODES = ("anvil/", *OWN_BODIES)  # as web3_clientVersion begins
# What anvil has otherwise: where it sends in another's name, and transactions with blobs.
OF_ANVIL = ("hashes of transactions", BLOBS_INSIDE)
ADVICE = ", unlike its neighbours; if it is right, set SCAN_UNMATCHED_BLOCKS=take"
FETCHED_BYTES = 4 * 1024 * 1024  # of rows, of the blocks that one blocks() returns
ROW_BYTES = 512


class FetchedBlock(NamedTuple):
    """A block with its TracedBlock's internal transfers and created contracts."""

    block: DecodedBlock
    created: Sequence[bytes]
    internal_transfers: Sequence[InternalTransfer] = ()
    is_traced: bool | None = None


class BlockSource:
    """Reads blocks from a node, and remembers which methods the node offers."""

    def __init__(
        self,
        node: Node,
        *,
        traces: str = "auto",
        takes_unmatched: bool = False,
        form_patience_s: float = 0.0,
    ) -> None:
        """With `takes_unmatched`, a block that contradicts itself in every read is accepted even
        where its neighbours do not contradict themselves. `form_patience_s`: for how long a body
        that may have a form of its own is read again before, by callers who return until then."""
        self._node = node
        self._takes_unmatched = takes_unmatched
        self._form_patience_s = form_patience_s
        self._pair_reader = PairReader(node)
        # What had another form in the newest block: HEADER, or the fields of the body that did.
        self._unmatched: set[str] = set()
        self._accepted: set[str] = set()  # the same of any block
        self._matched: dict[str, int] = {}  # the last block read that matched, by HEADER and BODY
        self._uncompared: set[str] = set()  # parts of blocks so far that no root covers, in words
        self._rereads = Rereads()
        self._large_lock = threading.Lock()  # large responses are read and decoded one at a time
        self._traces = TraceReader(node, self._large_lock, traces=traces)
        self._uncles = UncleReader(node)

    def head(self) -> tuple[int, int]:
        """Return the newest block number, and the chain id, in one request."""
        number, chain_id = self._node.batch([Call("eth_blockNumber", ()), Call("eth_chainId", ())])
        return checked_answer(
            lambda: (block_number(result_of(number)), quantity(result_of(chain_id)))
        )

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
        [header] = self._node.batch([Call("eth_getBlockByNumber", (hex(number), False))])
        return checked_answer(lambda: block_hash(header))

    def blocks(self, first: int, last: int) -> list[FetchedBlock]:
        """Return the blocks from `first` up to `last`, or fewer where they are large, at least one.

        Raises NodeError or MalformedBlock: no block in between is left out.
        """
        blocks: list[DecodedBlock] = []
        size = 0
        for number, pair in enumerate(self._pairs(first, last), start=first):
            header, receipts = self._without_contradictions(*pair, number)
            if isinstance(header, AnswerTooLarge) or isinstance(receipts, AnswerTooLarge):
                block = self._large_block(number)
            else:
                block = self._decode(header, receipts, number)
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

    def complete(self, block: DecodedBlock, header: Any) -> DecodedBlock:
        """Return the block with data that its JSON lacks: uncles, rewards, units of withdrawals."""
        return self._uncles.complete(block, read_json(header, BlockJson, block.number))

    def _decode(self, header: Any, receipts: Any, number: int) -> DecodedBlock:
        try:
            block = self.complete(decode_block(header, receipts, number), header)
        except MalformedBlock as error:
            self._rereads.count(number, header, receipts)
            raise self._rereads.error(number, str(error)) from None
        self._rereads.forget(number)
        return block

    def _without_contradictions(self, header: Any, receipts: Any, number: int) -> tuple[Any, Any]:
        """Return the block and its receipts, read again where they contradict their hash or roots.

        If the node returns the same again and neighbours contradict themselves, too, headers or
        transactions have another form on this chain, or since a hard fork: then the block is
        accepted as it is. From then on, until a block matches, headers are accepted at once, and
        bodies after REPEATED_READS. Raises MalformedBlock after READ_AGAIN_S; the reads so far
        count when the block is read the next time.
        """
        end = time.monotonic() + READ_AGAIN_S
        advice = ""
        for remaining in reversed(range(EQUAL_READS)):
            part, fields = self._contradiction(header, receipts, number)
            if not part:
                break
            form = fields if part == BODY else part
            equal = REPEATED_READS if form in self._unmatched else EQUAL_READS
            count = self._rereads.count(number, header, receipts)
            if count >= equal and not advice:
                if form in self._unmatched or self._has_form(number, part, fields):
                    self._accept(number, part, form, fields)
                    break
                advice = ADVICE
            if not remaining or time.monotonic() > end:
                reason = f"block {number} contradicts itself ({fields}){advice}"
                raise self._rereads.error(number, reason)
            self._node.rest()  # another node may have it right
            [(header, receipts)] = self._pairs(number, number)
        return header, receipts

    def _accept(self, number: int, part: str, form: str, fields: str) -> None:
        if part in (HEADER, BODY):
            self._unmatched.add(form)
            what = f"do not match their hash ({fields})"
        else:
            self._uncompared.add(part)
            what = f"have what is compared with no root: {part}"
        self._warn_once(form, number, what)

    def _warn_once(self, form: str, number: int, what: str) -> None:
        if form not in self._accepted:
            log.warning("block %d, and maybe later ones, %s", number, what)
        self._accepted.add(form)

    def _has_form(self, number: int, part: str, fields: str) -> bool:
        """Return whether the chain has another form at a block, as far as its neighbours show.

        A form that begins with this block is in the next blocks, too: if a block before it matches,
        none of the following may match. If none of several before it matches, it may be the last of
        an older form. On chains other than Ethereum a single block's body may have a form of its
        own: Ganache's and Hardhat's have, and anvil's where it sends in another account's name,
        even on a fork of Ethereum with Ethereum's chain id. Of other nodes it may as well be a
        fault that passes, so that they have to repeat it for a while.
        """
        if self._takes_unmatched:
            return True
        if part not in (HEADER, BODY):  # the words of uncompared_of()
            return self.chain_id() not in LIKE_ETHEREUM
        may_be_alone = part == BODY and (
            self.chain_id() not in LIKE_ETHEREUM or self._is_one_of(DEVELOPMENT_NODES)
        )
        if may_be_alone and (
            fields in OF_ANVIL
            or fields in self._accepted
            or self._rereads.age_s(number) >= self._form_patience_s
            or self._is_one_of(OWN_BODIES)
        ):
            return True
        before = range(number - 1, max(-1, number - 1 - NEIGHBOURS), -1)
        # A node that is wrong about all blocks now was not when it gave those before.
        has_matched = self._matched.get(part) in before
        older = [True] if has_matched else [*islice(self._matches(before, part), FORM_BLOCKS)]
        if len(older) == FORM_BLOCKS and not any(older):
            return True
        following = range(number + 1, number + 1 + NEIGHBOURS)
        newer = [*islice(self._matches(following, part), FORM_BLOCKS)]
        is_evident = len(newer) == FORM_BLOCKS or not (any(older) or may_be_alone)
        return is_evident and not any(newer)

    def _is_one_of(self, clients: tuple[str, ...]) -> bool:
        try:
            version = self._node.call("web3_clientVersion")
        except RpcError:
            return False
        return str(version).lower().startswith(clients)

    def _matches(self, numbers: Iterable[int], part: str) -> Iterator[bool]:
        """Yield whether each block matches in a part, for blocks that are evidence of the form; end
        at the node's newest block, or an error."""
        for number in numbers:
            try:
                [(header, receipts)] = self._pairs(number, number)
            except (NodeError, MalformedBlock):
                return
            if shows_form(part, header, receipts):
                yield contradiction(header, receipts)[0] in ("", BODY if part == HEADER else "")

    def _contradiction(self, header: Any, receipts: Any, number: int) -> tuple[str, str]:
        """Return what contradiction() does, without headers that are accepted until a block
        matches; or the words for a part that no root covers, if no block before had such a part."""
        part, fields = contradiction(header, receipts)
        if fields in OUT_OF_PLACE and put_in_place(header, receipts):
            self._warn_once(fields, number, f"have another {fields} than their roots prove")
            part, fields = contradiction(header, receipts)
        if isinstance(header, AnswerTooLarge):
            return "", ""
        if part == HEADER:
            return ("", "") if HEADER in self._unmatched else (part, fields)
        self._unmatched.discard(HEADER)
        self._matched[HEADER] = number
        if part or isinstance(receipts, AnswerTooLarge):
            return part, fields
        for words in uncompared_of(header, receipts):
            if words not in self._uncompared:
                return words, f"{words}, of which there was none before"
        if header.transactions:  # an empty list says nothing of the chain's form
            self._unmatched.clear()
            self._matched[BODY] = number
        return "", ""

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
            header, receipts = pair
            if checked or is_out_of_place(header, receipts):
                header, receipts = self._without_contradictions(*pair, number)
            if isinstance(header, AnswerTooLarge) or isinstance(receipts, AnswerTooLarge):
                header = self._large("eth_getBlockByNumber", hex(number), True)
                receipts = list(self._large_receipts(header, number))
            yield header, receipts

    def require_kept(self, number: int) -> None:
        """Raise HistoryPruned where the node has dropped a block or its receipts, NodeError where
        it cannot be read. For block 0, which nodes keep, block 1 is checked."""
        number = max(number, 1)
        if not pruned_history.is_kept(self._node, number):
            missing = MissingPart(f"the node does not have block {number}", number=number)
            raise pruned_history.explained(self._node, missing)

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
            block = decode_block(header, self._large_receipts(header, number), number)
            return self.complete(block, header)

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
