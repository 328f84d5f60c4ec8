"""Blocks with their receipts, as a node has them: a block's receipts at once, or one by one."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from scan.ethereum.blocks import BlockJson, ReceiptJson, ReceiptsJson, read_json
from scan.ethereum.client import MAX_ANSWER_BYTES, MAX_BATCH, Call, Node, RpcError
from scan.ethereum.forms.matching import has_uncovered_end
from scan.indexer.block_answers import (
    UNREAD,
    complete_receipts,
    present,
    read_part,
    transaction_hashes,
)

log = logging.getLogger(__name__)


class PairReader:
    """Reads blocks with their receipts, and remembers whether the node offers a block's receipts
    at once."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._has_block_receipts = True

    def read(self, first: int, last: int) -> Iterator[tuple[Any, Any]]:
        """Yield blocks with their receipts, or one of UNREAD in place of either. Raises
        MissingPart where the node lacks any of them."""
        if self._has_block_receipts:
            calls = _block_calls(first, last)
            results = self._node.results(calls, most_bytes=MAX_ANSWER_BYTES, raw=True)
            for number in range(first, last + 1):
                header, receipts = present(next(results), "block", number), next(results)
                if isinstance(receipts, RpcError) and receipts.is_missing_method:
                    log.info("the node has no eth_getBlockReceipts; reading receipts one by one")
                    self._has_block_receipts = False
                    yield from self._pairs_one_by_one(number, last)
                    return
                header = read_part(header, BlockJson, number)
                receipts = complete_receipts(read_part(receipts, ReceiptsJson, number), number)
                yield header, self._with_state_sync(header, receipts, number)
        else:
            yield from self._pairs_one_by_one(first, last)

    def _with_state_sync(self, header: Any, receipts: Any, number: int) -> Any:
        """Return the receipts with that of Polygon's state sync, which some nodes return only by
        its hash."""
        if not isinstance(receipts, list) or isinstance(header, UNREAD):
            return receipts
        block = read_json(header, BlockJson, number)
        if len(receipts) != len(block.transactions) - 1 or not has_uncovered_end(block):
            return receipts
        [(_, last)] = self._with_receipts([(number, block, [block.transactions[-1].hash])])
        return last if isinstance(last, UNREAD) else [*receipts, *last]

    def _pairs_one_by_one(self, first: int, last: int) -> Iterator[tuple[Any, Any]]:
        """Yield blocks as read() does, but read each transaction's receipt by itself."""
        calls = [Call("eth_getBlockByNumber", (hex(n), True)) for n in range(first, last + 1)]
        results = self._node.results(calls, most_bytes=MAX_ANSWER_BYTES, raw=True)
        headers: list[tuple[int, Any, list[Any]]] = []
        for number, result in enumerate(results, start=first):
            header = read_part(present(result, "block", number), BlockJson, number)
            headers.append((number, header, transaction_hashes(header, number)))
            if number == last or sum(len(hashes) for *_, hashes in headers) >= MAX_BATCH:
                yield from self._with_receipts(headers)
                headers = []

    def _with_receipts(
        self, headers: Sequence[tuple[int, Any, list[Any]]]
    ) -> Iterator[tuple[Any, Any]]:
        calls = [
            Call("eth_getTransactionReceipt", (hash_,))
            for *_, hashes in headers
            for hash_ in hashes
        ]
        results = self._node.results(calls, most_bytes=MAX_ANSWER_BYTES, raw=True)
        for number, header, hashes in headers:
            receipts: Any = [read_part(next(results), ReceiptJson, number) for _ in hashes]
            unread = [receipt for receipt in receipts if isinstance(receipt, UNREAD)]
            yield header, unread[0] if unread else complete_receipts(receipts, number)


def _block_calls(first: int, last: int) -> list[Call]:
    return [
        call
        for number in range(first, last + 1)
        for call in (
            Call("eth_getBlockByNumber", (hex(number), True)),
            Call("eth_getBlockReceipts", (hex(number),)),
        )
    ]
