"""Logs that are not stored, read from the node in the blocks that the index names.

With an emitter only the blocks are asked for in which it emitted something; without one all blocks
of the range. What is too much to read for one request is refused, never cut short and never
estimated; what the node returns is compared with the indexed chain, and with what was asked.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.log_filter import LogFilter
from scan.hex import BadHex, data, quantity
from scan.queries.reader import Reader

MOST_DATA_BYTES = 16 * 1024 * 1024  # of a page's logs, unless it has one alone
TIMEOUT_S = 6.0  # of a request's time at the node, so that some is left to compare the chains
MOST_LOGS = 200_000  # to count for one request
MOST_BLOCKS = 20_000  # in which an address has logs, for one request
FIRST_BLOCKS, MOST_BLOCKS_AT_ONCE = 100, 1000  # asked for in one exchange
NEAR_BLOCKS = 50  # blocks of an address no further apart are asked for together
ENTRY_BYTES = 600  # of a cached list without its block numbers
TOO_MUCH = (
    "These are more logs than the node can be asked for in one request; narrow them by blockFrom"
    " and blockTo, an address or topics. An index with SCAN_LOGS=all has no such limit."
)
TOO_LARGE = "The data of these logs is too large for one page; ask for a smaller limit."
NOT_LOGS = "The node gave something else than the logs it was asked for."
ANOTHER_CHAIN = "The node and the index are not at the same chain at the moment; try again shortly."


class TooManyLogs(Unavailable):
    """More than is read for one request; asking for less helps, asking again does not."""


class BlockSpan(NamedTuple):
    """Both ends belong to it."""

    first: int
    last: int


class NodeLog(NamedTuple):
    block_number: int
    log_index: int
    transaction_index: int
    block_hash: bytes
    transaction_hash: bytes
    address: bytes
    topics: tuple[bytes, ...]
    data: bytes


def page(
    reader: Reader, log_filter: LogFilter, span: BlockSpan, direction: str, offset: int, limit: int
) -> list[NodeLog]:
    """Entries of the list in either order; what lies beyond the page is not read."""
    expected = _hash_at(reader, span.last)
    logs = _Reading(reader, log_filter, direction).logs(
        _blocks(reader, log_filter, span, direction)
    )
    found = _collected(islice(_after(logs, offset), limit))
    _require_same_chain(reader, span.last, expected)
    return found


def page_and_total(
    reader: Reader, log_filter: LogFilter, span: BlockSpan, offset: int, limit: int
) -> tuple[list[NodeLog], int]:
    """Of the list in its whole length, newest first; its length is exact.

    In which block each entry stands is remembered, so that other pages are read alone.
    """
    expected = _hash_at(reader, span.last)
    key = (log_filter, span, expected)
    known = reader.sources.log_blocks.get(key)
    if known is not None:
        return _known_page(reader, log_filter, known, offset, limit), len(known)
    numbers = array("q")

    def counted() -> Iterator[NodeLog]:
        for log in _after(
            _Reading(reader, log_filter, "desc").logs(_blocks(reader, log_filter, span, "desc")), 0
        ):
            numbers.append(log.block_number)
            if offset < len(numbers) <= offset + limit:
                yield log

    found = _collected(counted())
    _require_same_chain(reader, span.last, expected)
    reader.sources.log_blocks.store(key, numbers, ENTRY_BYTES + numbers.itemsize * len(numbers))
    return found, len(numbers)


def _collected(logs: Iterator[NodeLog]) -> list[NodeLog]:
    """A page; raises TooManyLogs where its data is too large for one."""
    found: list[NodeLog] = []
    size = 0
    for log in logs:
        size += len(log.data)
        if found and size > MOST_DATA_BYTES:
            raise TooManyLogs(TOO_LARGE)
        found.append(log)
    return found


def _after(logs: Iterator[NodeLog], offset: int) -> Iterator[NodeLog]:
    """What follows `offset` entries; raises TooManyLogs past MOST_LOGS of them all."""
    for place, log in enumerate(logs):
        if place >= MOST_LOGS:
            raise TooManyLogs(TOO_MUCH)
        if place >= offset:
            yield log


def _known_page(
    reader: Reader, log_filter: LogFilter, numbers: Sequence[int], offset: int, limit: int
) -> list[NodeLog]:
    """Only the blocks of the page are asked for; their hashes show that they are the same."""
    expected = numbers[offset : offset + limit]
    if not expected:
        return []
    passed = offset - numbers.index(expected[0])
    logs = _Reading(reader, log_filter, "desc").logs(list(dict.fromkeys(expected)))
    found = _collected(islice(logs, passed, passed + limit))
    if [log.block_number for log in found] != list(expected):
        raise UpstreamFailed(ANOTHER_CHAIN)
    return found


def _hash_at(reader: Reader, number: int) -> bytes | None:
    [found] = reader.row("queries/blocks_get_hash", number=number)
    return None if found is None else bytes(found)


def _require_same_chain(reader: Reader, number: int, expected: bytes | None) -> None:
    """Also where there are no logs: the hash of the last block holds for all before it.

    `expected` was read before the first log was, so neither chain has changed meanwhile.
    """
    try:
        found = data(reader.node.call("eth_getBlockByNumber", hex(number), False)["hash"], 32)
    except (RpcError, BadHex, KeyError, TypeError):
        found = None
    if expected is None or found != expected:
        raise UpstreamFailed(ANOTHER_CHAIN)


class _Reading:
    """Logs of some blocks, in as many exchanges as the node needs, in bounded time."""

    def __init__(self, reader: Reader, log_filter: LogFilter, direction: str) -> None:
        self._reader = reader
        self._log_filter = log_filter
        self._is_descending = direction == "desc"
        self._node = reader.node.within(TIMEOUT_S)

    def logs(self, blocks: Sequence[int]) -> Iterator[NodeLog]:
        """In the order of the blocks, which is that of the direction."""
        start, count = 0, FIRST_BLOCKS
        while start < len(blocks):
            if self._node.left_s() <= 0 or (
                self._log_filter.address is not None and start >= MOST_BLOCKS
            ):
                raise TooManyLogs(TOO_MUCH)
            try:
                found = self._read(_spans(sorted(blocks[start : start + count])))
            except (RpcError, AnswerTooLarge):
                if count == 1:
                    raise TooManyLogs(TOO_MUCH) from None
                count //= 2
                continue
            yield from found
            start, count = start + count, min(2 * count, MOST_BLOCKS_AT_ONCE)

    def _read(self, spans: Sequence[BlockSpan]) -> list[NodeLog]:
        calls = [Call("eth_getLogs", (self._log_filter.for_node(*each),)) for each in spans]
        results = self._node.batch(calls)
        try:
            logs = [
                _decode(log, span)
                for span, result in zip(spans, results, strict=True)
                for log in result
            ]
        except (BadHex, KeyError, TypeError, AttributeError):
            raise UpstreamFailed(NOT_LOGS) from None
        _require_indexed(self._reader, logs)
        return sorted(self._matching(logs), reverse=self._is_descending)

    def _matching(self, logs: Sequence[NodeLog]) -> list[NodeLog]:
        """Raises UpstreamFailed for what the node was not asked for, or returns twice."""
        found = [log for log in logs if self._log_filter.matches(log.address, log.topics)]
        if self._log_filter.is_conjunction and len(found) < len(logs):
            raise UpstreamFailed(NOT_LOGS)
        if len({(log.block_number, log.log_index) for log in logs}) < len(logs):
            raise UpstreamFailed(NOT_LOGS)
        return found


def _blocks(
    reader: Reader, log_filter: LogFilter, span: BlockSpan, direction: str
) -> Sequence[int]:
    """Where logs may stand, in this order."""
    if log_filter.address is None:
        numbers = range(span.first, span.last + 1)
        return numbers if direction == "asc" else numbers[::-1]
    found: list[int]
    [found] = reader.row(
        "queries/log_blocks_list",
        address=log_filter.address,
        block_from=span.first,
        block_to=span.last,
        direction=direction,
        limit=MOST_BLOCKS + 1,
    )
    return found


def _spans(numbers: Sequence[int]) -> list[BlockSpan]:
    """Of ascending numbers."""
    ends = [n for n, (one, other) in enumerate(pairwise(numbers)) if other - one > NEAR_BLOCKS]
    starts = [0, *(end + 1 for end in ends)]
    return [
        BlockSpan(numbers[first], numbers[last])
        for first, last in zip(starts, [*ends, len(numbers) - 1], strict=True)
    ]


def _decode(log: Any, span: BlockSpan) -> NodeLog:
    found = NodeLog(
        quantity(log["blockNumber"]),
        quantity(log["logIndex"]),
        quantity(log["transactionIndex"]),
        data(log["blockHash"], 32),
        data(log["transactionHash"], 32),
        data(log["address"], 20),
        tuple([data(topic, 32) for topic in log["topics"]]),
        data(log["data"]),
    )
    is_elsewhere = not span.first <= found.block_number <= span.last
    if log.get("removed") or is_elsewhere or len(found.topics) > MAX_TOPICS:
        raise UpstreamFailed(NOT_LOGS)
    if max(found.log_index, found.transaction_index) >= 2**31:
        raise UpstreamFailed(NOT_LOGS)
    return found


def _require_indexed(reader: Reader, logs: Sequence[NodeLog]) -> None:
    """Raises UpstreamFailed where a log is not of the indexed chain."""
    places = {
        (log.block_number, log.block_hash, log.transaction_index, log.transaction_hash)
        for log in logs
    }
    if not places:
        return
    blocks, block_hashes, indexes, hashes = zip(*places, strict=True)
    [are_indexed] = reader.row(
        "queries/log_transactions_match",
        blocks=list(blocks),
        block_hashes=list(block_hashes),
        transaction_indexes=list(indexes),
        transaction_hashes=list(hashes),
    )
    if not are_indexed:
        raise UpstreamFailed(ANOTHER_CHAIN)
