"""module=logs: getLogs, from the node, in the blocks that the index names.

With an address only the blocks are asked for in which it emitted logs; without one all blocks of
the range. Logs of the pages before are read, too, so a page is exact; what is too much to read for
one request is refused, never cut short.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

import orjson

from scan.errors import UpstreamFailed
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.etherscan.node_calls import TIMEOUT_S, batch_node
from scan.etherscan.parameters import BlockSpan, Parameters
from scan.etherscan.replies import Failure, Reply, rows_reply
from scan.hex import BadHex, data, quantity, to_hex
from scan.http.chain_reads import read_chain

MOST_ROWS = 1000
MOST_BLOCKS = 20_000  # in which an address has logs, for one request
FIRST_BLOCKS, MOST_BLOCKS_AT_ONCE = 100, 1000  # asked for in one exchange
NEAR_BLOCKS = 50  # blocks of an address no further apart are asked for together
TOPICS = 4
NO_LOGS = "No records found"
TOO_MUCH = "Query Timeout occurred. Please select a smaller result dataset"
ANOTHER_CHAIN = "The node and the index are not at the same chain at the moment; try again shortly."


class TopicFilter(NamedTuple):
    """`conditions` are (place, topic, whether it must hold beside those before it)."""

    conditions: tuple[tuple[int, str, bool], ...]

    @property
    def is_conjunction(self) -> bool:
        return all(joined for _, _, joined in self.conditions)

    def for_node(self) -> list[str | None]:
        """What a node can filter by: conditions that must all hold."""
        if not self.is_conjunction or not self.conditions:
            return []
        wanted: list[str | None] = [None] * (1 + max(place for place, _, _ in self.conditions))
        for place, topic, _ in self.conditions:
            wanted[place] = topic
        return wanted

    def matches(self, topics: Sequence[str]) -> bool:
        """From the first to the last condition: `a or b and c` is `(a or b) and c`."""
        holds = True
        for number, (place, topic, joined) in enumerate(self.conditions):
            matched = len(topics) > place and topics[place] == topic
            holds = matched if number == 0 else holds and matched if joined else holds or matched
        return holds


def get_logs(asked: Parameters) -> Reply:
    address = asked.optional_address("address")
    topics = _topics(asked)
    if address is None and not topics.conditions:
        raise Failure("Error! Missing address or topics")
    limit, offset = asked.page(MOST_ROWS)
    oldest, newest = read_chain("etherscan/blocks_get_ends")
    if newest is None:
        return rows_reply([], NO_LOGS)
    span = _span(asked, oldest, newest)
    blocks: Sequence[int] = range(span.first, span.last + 1)
    if address is not None:
        blocks = _blocks_of(address, span)
    found = _matching(blocks, address, topics)
    try:
        logs = list(islice(found, offset, offset + limit))
        _require_same_chain(span)
        return rows_reply(_rows(logs) if logs else [], NO_LOGS)
    except (BadHex, KeyError, TypeError, AttributeError):
        raise UpstreamFailed("The node gave something else than logs.") from None


def _topics(asked: Parameters) -> TopicFilter:
    """An operator stands between a topic and the nearest one given before it; `and` if missing."""
    conditions: list[tuple[int, str, bool]] = []
    for place in range(TOPICS):
        if not asked.text(f"topic{place}"):
            continue
        earlier = [each for each, _, _ in reversed(conditions)]
        names = [f"topic{each}_{place}_opr" for each in earlier]
        operator = next((asked.text(name).lower() for name in names if asked.text(name)), "and")
        if operator not in ("and", "or"):
            raise Failure("Error! Invalid topic operator: and or or")
        topic = to_hex(asked.hash32(f"topic{place}"))
        conditions.append((place, topic, operator == "and"))
    return TopicFilter(tuple(conditions))


def _span(asked: Parameters, oldest: int, newest: int) -> BlockSpan:
    if asked.text("fromblock").lower() == "latest":
        return BlockSpan(newest, newest)
    first, last = asked.blocks("fromblock", "toblock")
    return BlockSpan(max(first, oldest), min(last, newest))


def _blocks_of(address: bytes, span: BlockSpan) -> Sequence[int]:
    numbers: list[int]
    numbers, _ = read_chain(
        "etherscan/log_blocks_list",
        address=address,
        block_from=span.first,
        block_to=span.last,
        limit=MOST_BLOCKS + 1,
    )
    return numbers


def _matching(
    blocks: Sequence[int], address: bytes | None, topics: TopicFilter
) -> Iterator[Mapping[str, Any]]:
    """Logs in the chain's order, of as many blocks at once as the node can give."""
    ends_at = time.monotonic() + TIMEOUT_S
    start, count = 0, FIRST_BLOCKS
    while start < len(blocks):
        left_s = ends_at - time.monotonic()
        if left_s <= 0 or (address is not None and start >= MOST_BLOCKS):
            raise Failure(TOO_MUCH)
        spans = _spans(blocks[start : start + count])
        calls = [Call("eth_getLogs", (_filter(each, address, topics),)) for each in spans]
        try:
            results = batch_node(calls, left_s)
        except (RpcError, AnswerTooLarge):
            if count == 1:
                raise Failure(TOO_MUCH) from None
            count //= 2
            continue
        yield from (log for log in chain.from_iterable(results) if topics.matches(log["topics"]))
        start, count = start + count, min(2 * count, MOST_BLOCKS_AT_ONCE)


def _spans(numbers: Sequence[int]) -> list[BlockSpan]:
    if isinstance(numbers, range):
        return [BlockSpan(numbers[0], numbers[-1])]
    ends = [n for n, (one, other) in enumerate(pairwise(numbers)) if other - one > NEAR_BLOCKS]
    starts = [0, *(end + 1 for end in ends)]
    return [
        BlockSpan(numbers[first], numbers[last])
        for first, last in zip(starts, [*ends, len(numbers) - 1], strict=True)
    ]


def _filter(span: BlockSpan, address: bytes | None, topics: TopicFilter) -> dict[str, object]:
    found: dict[str, object] = {"fromBlock": hex(span.first), "toBlock": hex(span.last)}
    if address is not None:
        found["address"] = to_hex(address)
    wanted = topics.for_node()
    if wanted:
        found["topics"] = wanted
    return found


def _require_same_chain(span: BlockSpan) -> None:
    """Also where there are no logs: the hash of the last block holds for all before it."""
    if span.first > span.last:
        return
    [expected] = read_chain("etherscan/blocks_get_hash", number=span.last)
    try:
        [block] = batch_node([Call("eth_getBlockByNumber", (hex(span.last), False))])
    except RpcError:
        block = None
    if block is None or expected is None or data(block["hash"], 32) != bytes(expected):
        raise UpstreamFailed(ANOTHER_CHAIN)


def _rows(logs: Sequence[Mapping[str, Any]]) -> list[object]:
    """Raises UpstreamFailed where a log is not of an indexed block."""
    places = [(quantity(log["blockNumber"]), quantity(log["transactionIndex"])) for log in logs]
    [found] = read_chain(
        "etherscan/log_transactions_get",
        blocks=[block for block, _ in places],
        transaction_indexes=[index for _, index in places],
    )
    return [
        _row(log, transaction) for log, transaction in zip(logs, orjson.loads(found), strict=True)
    ]


def _row(log: Mapping[str, Any], transaction: Mapping[str, Any] | None) -> object:
    if transaction is None or (log["blockHash"], log["transactionHash"]) != (
        transaction["blockHash"],
        transaction["hash"],
    ):
        raise UpstreamFailed(ANOTHER_CHAIN)
    return {
        "address": to_hex(data(log["address"], 20)),
        "topics": [to_hex(data(topic, 32)) for topic in log["topics"]],
        "data": to_hex(data(log["data"])),
        "blockNumber": hex(quantity(log["blockNumber"])),
        "blockHash": transaction["blockHash"],
        "timeStamp": hex(transaction["timestamp"]),
        "gasPrice": hex(int(transaction["gasPrice"])),
        "gasUsed": hex(int(transaction["gasUsed"])),
        "logIndex": hex(quantity(log["logIndex"])),
        "transactionHash": transaction["hash"],
        "transactionIndex": hex(quantity(log["transactionIndex"])),
    }
