"""Blocks with their receipts and the bytes of their parts, from all nodes together or from one."""

from collections.abc import Iterator
from typing import Any

from scan.ethereum.block_hashing import receipt_leaf
from scan.ethereum.blocks import BlockJson, MalformedBlock, ReceiptJson, read_json
from scan.ethereum.client import (
    MAX_ANSWER_BYTES,
    AnswerTooLarge,
    Call,
    Node,
    NodeError,
    RpcError,
)
from scan.ethereum.raw_blocks import RawBlocks
from scan.indexer.block_answers import MissingPart, present, transaction_hashes
from scan.indexer.block_pairs import PairReader

# The bound on a block's header with its transactions, and on one receipt. The cheapest log costs
# 375 gas and takes 620 bytes, the cheapest byte of input costs 4 gas and takes two digits, so this
# is enough for 58 M gas of nothing else. A larger answer is the node's fault. A receipt of 59 MB
# took 236 MiB of memory.
MAX_BLOCK_BYTES = 96 * 1024 * 1024


class NodeReader:
    """Reads blocks, and remembers which methods its node offers."""

    def __init__(self, node: Node) -> None:
        self.raw = RawBlocks(node)
        self._node = node
        self._pair_reader = PairReader(node)

    def pairs(self, first: int, last: int) -> Iterator[tuple[Any, Any]]:
        """Yield blocks with their receipts, or one of UNREAD in place of either. Raises MissingPart
        where the node lacks any of them."""
        for number, (header, receipts) in enumerate(self._pair_reader.read(first, last), first):
            if receipts == [] and transaction_hashes(header, number):
                raise MissingPart(f"the node has no receipts of block {number}", number=number)
            yield header, receipts

    def large_pair(self, number: int) -> tuple[Any, list[Any]]:
        """Return a large block and its receipts as structs, all of them in memory."""
        header = self.large_header(number)
        receipts = self.large_receipts(header, number)
        return header, [read_json(receipt, ReceiptJson, number) for receipt in receipts]

    def large_header(self, number: int) -> Any:
        header = self._large("eth_getBlockByNumber", hex(number), True)
        return read_json(present(header, "block", number), BlockJson, number)

    def large_receipts(self, header: Any, number: int) -> Iterator[Any]:
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


class LargeReceipts:
    """A large block's receipts, yielded as structs. Once one's logs are taken from it, it is in
    `read` without them, and encoded in `leaves`, which takes a quarter of its JSON."""

    def __init__(self, results: Iterator[Any], number: int) -> None:
        self.read: list[Any] = []
        self.leaves: list[bytes] = []
        self._results = results
        self._number = number

    def __iter__(self) -> Iterator[Any]:
        for result in self._results:
            receipt = read_json(result, ReceiptJson, self._number)
            try:
                self.leaves.append(receipt_leaf(receipt))
            except (ValueError, TypeError, AttributeError) as error:
                name = type(error).__name__
                raise MalformedBlock(f"block {self._number}: a receipt: {name}") from None
            self.read.append(receipt)
            yield receipt


def is_large(header: Any, receipts: Any) -> bool:
    """Return whether a block or its receipts are above the usual bound. Raises MalformedBlock where
    either is malformed."""
    for part in (header, receipts):
        if isinstance(part, MalformedBlock):
            raise part
    return isinstance(header, AnswerTooLarge) or isinstance(receipts, AnswerTooLarge)
