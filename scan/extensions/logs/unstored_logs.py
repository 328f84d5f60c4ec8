"""Logs that have no rows, read in the blocks that the index names: as blocks are stored, else from
the node.

For an emitter only the blocks are read in which it emitted logs, without one all blocks of the
range. A page that takes too long ends early with a cursor, or is refused; no list is estimated. The
node's logs are compared with the indexed chain, and with the request.
"""

import math
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

from scan.cached_values import SizedCache
from scan.contracts.transaction_contents import damage_logged
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.ethereum.node_errors import too_large
from scan.ethereum.request_node import NodeSession, NodeTimedOut
from scan.extensions.logs.log_filter import LogFilter
from scan.hex import BadHex, data, json_array, json_object, quantity
from scan.queries.blocks import hash_at
from scan.queries.list_pages import Window
from scan.queries.reader import Reader

MOST_DATA_BYTES = 4 * 1024 * 1024  # of a page's logs; a single log may have more
BATCH_BYTES = (
    4 * 1024 * 1024
)  # of the logs of a batch of blocks, as they are read; one may have more
TIMEOUT_S = 4.5  # of a request's time; the rest is for the comparison of the chains
MOST_LOGS = 200_000  # to count for one request
MOST_BLOCKS = 20_000  # in which an address has logs, for one request
FIRST_BLOCKS, MOST_BLOCKS_AT_ONCE, MOST_STORED_AT_ONCE = 8, 1000, 64  # in one batch
BATCH_TIMEOUT_S = 1.5  # a batch that takes longer is halved
COUNT_S = 2.0  # to count a list after its page was read, for batches that will be answered in it
UNCOUNTED = array("q", [-1])  # in place of the blocks of a list's entries
FEW_BYTES = 6 * 1024 * 1024  # of blocks, decompressed, of 0.5 MB each
FEW_LOGS = 2_000  # of a batch: they take the processor 40 ms
NEAR_BLOCKS = 50  # blocks of an address no further apart are requested as one range
LISTS_BYTES = 32 * 1024 * 1024
ENTRY_BYTES = 600  # of a cached list without its block numbers
TOO_MUCH = (
    "These are more logs than one request reads; narrow them by blockFrom and blockTo, an address"
    " or topics. An index with SCAN_LOGS=all has no such limit."
)
TOO_LARGE = "The data of these logs is too large for one page; ask for a smaller limit."
NOT_LOGS = "The node gave something else than the logs it was asked for."
ANOTHER_CHAIN = "The node and the index are not at the same chain at the moment; try again shortly."


class LogBounds:
    """The bounds of one request for logs."""

    logs, data_bytes, batch_bytes = MOST_LOGS, MOST_DATA_BYTES, BATCH_BYTES
    batch_timeout_s, count_s, few_logs = BATCH_TIMEOUT_S, COUNT_S, FEW_LOGS


class LogBlocks(SizedCache[Sequence[int]]):
    """The block numbers of the entries of lists that were counted, in 32 MiB."""

    def __init__(self) -> None:
        super().__init__(LISTS_BYTES)


class TooManyLogs(Unavailable):
    """There are more logs than one request reads; a smaller range helps, a retry does not."""


class BlockSpan(NamedTuple):
    """A span of blocks, both ends included."""

    first: int
    last: int


class UnstoredLog(NamedTuple):
    """A log of a block; `transaction_hash` is empty where it was stored with its block."""

    block_number: int
    log_index: int
    transaction_index: int
    block_hash: bytes
    transaction_hash: bytes
    address: bytes
    topics: tuple[bytes, ...]
    data: bytes


def read_page(
    reader: Reader,
    log_filter: LogFilter,
    span: BlockSpan,
    window: Window,
    after: tuple[int, int] | None = None,
) -> tuple[list[UnstoredLog], bool]:
    """Return a page of the list in either order, and whether more may follow; logs beyond the page
    are not read.

    `after` is the block number and log index that the page begins after. With max_entries it ends
    where the time does, if it has a log by then.
    """
    limit, offset, direction, *_ = window
    is_descending = direction == "desc"
    if after is not None and is_descending:
        span = BlockSpan(span.first, min(span.last, after[0]))
    elif after is not None:
        span = BlockSpan(max(span.first, after[0]), span.last)
    if span.first > span.last:
        return [], False
    blocks = _candidate_blocks(reader, log_filter, span, direction)
    least = offset + limit if after is None else FIRST_BLOCKS
    bounds = reader.sources.get(LogBounds)
    read = _logs_in(reader, log_filter, blocks, is_descending=is_descending, least=least)
    logs = _bounded(read, bounds)
    if after is not None:
        logs = (log for log in logs if (log[:2] < after if is_descending else log[:2] > after))
    logs = islice(logs, min(offset, bounds.logs), min(offset, bounds.logs) + limit)
    page: list[UnstoredLog] = []
    try:
        _collect(logs, page, bounds)
        has_more = len(page) == limit
    except (NodeTimedOut, TooManyLogs):
        if not page or window.max_entries is None:
            raise
        has_more = True
    return page, has_more


def read_page_and_total(
    reader: Reader, log_filter: LogFilter, span: BlockSpan, window: Window
) -> tuple[list[UnstoredLog], int | None]:
    """Return a page of the whole list, newest first, and the list's exact length; None where it
    cannot be counted in the time.

    The block of each entry is cached, so that other pages need only their own blocks.
    """
    limit, offset, *_ = window
    key = (log_filter, span, hash_at(reader, span.last))
    block_of_entry = reader.sources.get(LogBlocks).get(key)
    page: list[UnstoredLog] = []
    if block_of_entry is UNCOUNTED:
        whole = window._replace(direction="desc", max_entries=None)
        page, _ = read_page(reader, log_filter, span, whole)
        return page, None
    if block_of_entry is not None:
        page = _page_of_blocks(reader, log_filter, block_of_entry, offset, limit)
        return page, len(block_of_entry)
    bounds = reader.sources.get(LogBounds)
    numbers = array("q")
    blocks = _candidate_blocks(reader, log_filter, span, "desc")
    ends_at = math.inf

    def has_time_for(batch_s: float) -> bool:
        return time.monotonic() + batch_s < ends_at

    def counted() -> Iterator[UnstoredLog]:
        read = _logs_in(
            reader,
            log_filter,
            blocks,
            is_descending=True,
            least=offset + limit or FIRST_BLOCKS,
            has_time_for=has_time_for,
        )
        for log in _bounded(read, bounds):
            numbers.append(log.block_number)
            yield log

    logs = counted()
    skipped = min(offset, bounds.logs)
    _collect(islice(logs, skipped, skipped + limit), page, bounds)
    ends_at = time.monotonic() + bounds.count_s
    is_counted = True
    try:
        deque(logs, maxlen=0)
    except (NodeTimedOut, TooManyLogs):
        is_counted = False
    kept = numbers if is_counted else UNCOUNTED
    reader.sources.get(LogBlocks).store(key, kept, ENTRY_BYTES + kept.itemsize * len(kept))
    return page, len(numbers) if is_counted else None


def _page_of_blocks(
    reader: Reader, log_filter: LogFilter, block_of_entry: Sequence[int], offset: int, limit: int
) -> list[UnstoredLog]:
    """Return a page from its own blocks; raises UpstreamFailed where these have other logs now."""
    numbers = block_of_entry[offset : offset + limit]
    if not numbers:
        return []
    skipped = offset - block_of_entry.index(numbers[0])  # entries of its first block before it
    logs = _logs_in(reader, log_filter, list(dict.fromkeys(numbers)), is_descending=True)
    page: list[UnstoredLog] = []
    _collect(islice(logs, skipped, skipped + limit), page, reader.sources.get(LogBounds))
    if [log.block_number for log in page] != list(numbers):
        raise UpstreamFailed(ANOTHER_CHAIN)
    return page


def _bounded(logs: Iterator[UnstoredLog], bounds: LogBounds) -> Iterator[UnstoredLog]:
    """Yield the logs; raises TooManyLogs past MOST_LOGS."""
    for index, log in enumerate(logs):
        if index >= bounds.logs:
            raise TooManyLogs(TOO_MUCH)
        yield log


def _collect(logs: Iterator[UnstoredLog], page: list[UnstoredLog], bounds: LogBounds) -> None:
    """Add the logs to a page; raises TooManyLogs where their data is too large for one."""
    size = 0
    for log in logs:
        size += len(log.data)
        if page and size > bounds.data_bytes:
            raise TooManyLogs(TOO_LARGE)
        page.append(log)


def _candidate_blocks(
    reader: Reader, log_filter: LogFilter, span: BlockSpan, direction: str
) -> Sequence[int]:
    """Return the numbers of blocks that may have matching logs, in the given direction."""
    if not log_filter.addresses:
        numbers = range(span.first, span.last + 1)
        return numbers if direction == "asc" else numbers[::-1]
    blocks: list[int]
    [blocks] = reader.row(
        "queries/log_blocks_list",
        addresses=[*log_filter.addresses],
        block_from=span.first,
        block_to=span.last,
        direction=direction,
        limit=MOST_BLOCKS + 1,
    )
    return blocks


def _logs_in(
    reader: Reader,
    log_filter: LogFilter,
    blocks: Sequence[int],
    *,
    is_descending: bool,
    least: int = FIRST_BLOCKS,
    has_time_for: Callable[[float], bool] = lambda _: True,
) -> Iterator[UnstoredLog]:
    """Yield logs of some blocks, in order, read in as many batches as the node needs.

    The first batch has at most `least` blocks where each has a log. Batches grow while the node
    answers, and are halved where it refuses one as too large or does not answer in time. Raises
    TooManyLogs where time or blocks exceed their bounds, or there is no time for a batch of twice
    as many blocks as the last one.
    """
    node, bounds = reader.node.within(TIMEOUT_S), reader.sources.get(LogBounds)
    start, count, most = 0, FIRST_BLOCKS, MOST_BLOCKS_AT_ONCE
    if log_filter.addresses and not any(log_filter.topics):
        count = max(1, min(least, FIRST_BLOCKS))
    late: NodeTimedOut | None = None
    batch_s = 0.0
    while start < len(blocks):
        if not has_time_for(2 * batch_s):
            raise TooManyLogs(TOO_MUCH)
        if node.left_s() <= 0 or (log_filter.addresses and start >= MOST_BLOCKS):
            raise late or TooManyLogs(TOO_MUCH)
        numbers = sorted(blocks[start : start + count])
        began_at = time.monotonic()
        try:
            session = node.within(bounds.batch_timeout_s)
            logs, is_of_node = read_blocks(reader, session, log_filter, numbers)
        except (RpcError, AnswerTooLarge, NodeTimedOut) as error:
            if count == 1:
                raise error if isinstance(error, NodeTimedOut) else TooManyLogs(TOO_MUCH) from None
            late = error if isinstance(error, NodeTimedOut) else late
            count = most = count // 2
            continue
        if is_of_node:
            reader.reported.add("logs")
        batch_s = time.monotonic() - began_at
        yield from sorted(logs, reverse=is_descending)
        start, count = start + count, min(2 * count, most if is_of_node else MOST_STORED_AT_ONCE)


def read_blocks(
    reader: Reader, node: NodeSession, log_filter: LogFilter, numbers: Sequence[int]
) -> tuple[list[UnstoredLog], bool]:
    """Return the logs of blocks, given in ascending order, and whether some are the node's. Raises
    AnswerTooLarge, and as read_spans() does for those that are not stored."""
    missing, logs, size, read_bytes = dict.fromkeys(numbers), [], 0, 0
    most_bytes = reader.sources.get(LogBounds).batch_bytes
    for number, block_hash, block in reader.sources.transaction_contents.stored(
        numbers, before_large=reader.hold_processor
    ):
        read_bytes += 0 if block is None else block.bytes
        if len(numbers) - len(missing) >= FIRST_BLOCKS or read_bytes > FEW_BYTES:
            reader.hold_processor()
        of_block: list[UnstoredLog] = []
        with damage_logged():
            of_block = [
                UnstoredLog(number, log_index, index, block_hash, b"", address, topics, log_data)
                for index, receipt in (block.receipts_with(log_filter.values) if block else ())
                for address, topics, log_data, log_index in receipt.logs or ()
                if log_filter.matches(address, topics)
            ]
            del missing[number]
        logs += of_block
        size += sum(len(log.data) for log in of_block)
        if size > most_bytes and len(numbers) > 1:
            raise too_large(most_bytes)
    if missing:
        logs += read_spans(reader, node, log_filter, _joined([*missing]))
    return logs, bool(missing)


def _joined(numbers: Sequence[int]) -> list[BlockSpan]:
    """Return ranges that cover the blocks, in ascending order; blocks near each other share one."""
    ends = [n for n, (one, other) in enumerate(pairwise(numbers)) if other - one > NEAR_BLOCKS]
    starts = [0, *(end + 1 for end in ends)]
    return [
        BlockSpan(numbers[first], numbers[last])
        for first, last in zip(starts, [*ends, len(numbers) - 1], strict=True)
    ]


def read_spans(
    reader: Reader, node: NodeSession, log_filter: LogFilter, spans: Sequence[BlockSpan]
) -> list[UnstoredLog]:
    """Return the logs of spans in ascending order, read in one batch. Its header of the last block
    shows that the node has the indexed chain until there: one that is behind gives no logs of
    blocks that it lacks, or refuses the range in various words (execution-apis 875).

    Raises RpcError, AnswerTooLarge, and UpstreamFailed where it has another chain, and for logs not
    requested or repeated.
    """
    last = spans[-1].last
    calls = [Call("eth_getLogs", (log_filter.for_node(*span),)) for span in spans]
    calls.append(Call("eth_getBlockByNumber", (hex(last), False)))
    bounds = reader.sources.get(LogBounds)
    *results, header = node.results(calls, bounds.batch_bytes, 2 * bounds.batch_bytes)
    if spans[0].first == last and isinstance(results[0], AnswerTooLarge):
        reader.hold_processor()
        *results, header = node.results(calls)
    block_hash = hash_at(reader, last)
    if header is None or (isinstance(header, RpcError) and header.is_missing_block):
        raise UpstreamFailed(ANOTHER_CHAIN)
    refusal = next((r for r in (*results, header) if isinstance(r, RpcError)), None)
    if refusal is not None:
        raise refusal
    try:
        if data(header["hash"], 32) != block_hash:
            raise UpstreamFailed(ANOTHER_CHAIN)
        of_spans = [*zip(spans, map(json_array, results), strict=True)]
        if sum(len(of_span) for _, of_span in of_spans) > bounds.few_logs:
            reader.hold_processor()
        logs = [_decode(json_object(log), span) for span, of_span in of_spans for log in of_span]
    except (BadHex, KeyError, TypeError):
        raise UpstreamFailed(NOT_LOGS) from None
    _require_indexed(reader, logs)
    matching = [log for log in logs if log_filter.matches(log.address, log.topics)]
    # The node is asked for a superset where topics are joined by `or`.
    has_others = log_filter.is_conjunction and len(matching) < len(logs)
    if has_others or len({(log.block_number, log.log_index) for log in logs}) < len(logs):
        raise UpstreamFailed(NOT_LOGS)
    return matching


def _decode(log: Mapping[str, Any], span: BlockSpan) -> UnstoredLog:
    decoded = UnstoredLog(
        quantity(log["blockNumber"]),
        quantity(log["logIndex"]),
        quantity(log["transactionIndex"]),
        data(log["blockHash"], 32),
        data(log["transactionHash"], 32),
        data(log["address"], 20),
        tuple([data(topic, 32) for topic in json_array(log["topics"])]),
        data(log["data"]),
    )
    is_elsewhere = not span.first <= decoded.block_number <= span.last
    if log.get("removed") or is_elsewhere or len(decoded.topics) > MAX_TOPICS:
        raise UpstreamFailed(NOT_LOGS)
    if max(decoded.log_index, decoded.transaction_index) >= 2**31:
        raise UpstreamFailed(NOT_LOGS)
    return decoded


def _require_indexed(reader: Reader, logs: Sequence[UnstoredLog]) -> None:
    """Raise UpstreamFailed where a log is not of the indexed chain."""
    transactions = {
        (log.block_number, log.block_hash, log.transaction_index, log.transaction_hash)
        for log in logs
    }
    if not transactions:
        return
    blocks, block_hashes, indexes, hashes = zip(*transactions, strict=True)
    [are_indexed] = reader.row(
        "queries/log_transactions_match",
        blocks=list(blocks),
        block_hashes=list(block_hashes),
        transaction_indexes=list(indexes),
        transaction_hashes=list(hashes),
    )
    if not are_indexed:
        raise UpstreamFailed(ANOTHER_CHAIN)
