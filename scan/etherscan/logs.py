"""module=logs: getLogs, from the node, in the blocks that the index names.

With an address only the blocks are asked for in which it emitted logs; without one all blocks of
the range. Logs of the pages before are read, too, so a page is exact; what is too much to read for
one request is refused, never cut short.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import orjson

from scan.errors import UpstreamFailed
from scan.ethereum.client import Call, RpcError
from scan.etherscan.node_calls import TIMEOUT_S, batch_node
from scan.etherscan.parameters import BlockSpan, Parameters
from scan.etherscan.replies import Failure, Reply, rows_reply
from scan.hex import BadHex, data, quantity, to_hex
from scan.http.chain_reads import read_chain
from scan.parameters import BIGINT_MAX

MOST_ROWS = 1000
MOST_BLOCKS = 20_000  # in which an address has logs, for one request
SPAN_BLOCKS = 500  # of one eth_getLogs
SPANS_AT_ONCE = 20
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
    spans = _all_blocks(span) if address is None else _blocks_of(address, span)
    found = _matching(spans, address, topics)
    return rows_reply(_rows(list(islice(found, offset, offset + limit))), NO_LOGS)


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


def _all_blocks(span: BlockSpan) -> Iterator[BlockSpan]:
    for first in range(span.first, span.last + 1, SPAN_BLOCKS):
        yield BlockSpan(first, min(first + SPAN_BLOCKS - 1, span.last))


def _blocks_of(address: bytes, span: BlockSpan) -> Iterator[BlockSpan]:
    """Spans of at most SPAN_BLOCKS that begin and end with a block in which it has logs."""
    numbers, _ = read_chain(
        "etherscan/log_blocks_list",
        address=address,
        block_from=span.first,
        block_to=min(span.last, BIGINT_MAX),
        limit=MOST_BLOCKS + 1,
    )
    first = last = None
    for number in numbers[:MOST_BLOCKS]:
        if first is None:
            first = number
        elif number - first >= SPAN_BLOCKS:
            yield BlockSpan(first, last or first)
            first = number
        last = number
    if first is not None and last is not None:
        yield BlockSpan(first, last)
    if len(numbers) > MOST_BLOCKS:
        raise Failure(TOO_MUCH)


def _matching(
    spans: Iterator[BlockSpan], address: bytes | None, topics: TopicFilter
) -> Iterator[Mapping[str, Any]]:
    """Logs in the chain's order, asked for as they are needed: one span first, then more."""
    ends_at = time.monotonic() + TIMEOUT_S
    at_once = 1
    while chunk := list(islice(spans, at_once)):
        left_s = ends_at - time.monotonic()
        if left_s <= 0:
            raise Failure(TOO_MUCH)
        calls = [Call("eth_getLogs", (_filter(each, address, topics),)) for each in chunk]
        try:
            results = batch_node(calls, left_s)
            for result in results:
                yield from (log for log in result if topics.matches(log["topics"]))
        except RpcError:
            raise Failure(TOO_MUCH) from None
        except (KeyError, TypeError):
            raise UpstreamFailed("The node gave something else than logs.") from None
        at_once = min(2 * at_once, SPANS_AT_ONCE)


def _filter(span: BlockSpan, address: bytes | None, topics: TopicFilter) -> dict[str, object]:
    found: dict[str, object] = {"fromBlock": hex(span.first), "toBlock": hex(span.last)}
    if address is not None:
        found["address"] = to_hex(address)
    wanted = topics.for_node()
    if wanted:
        found["topics"] = wanted
    return found


def _rows(logs: Sequence[Mapping[str, Any]]) -> list[object]:
    """Raises UpstreamFailed where a log is not of an indexed block."""
    try:
        places = [(quantity(log["blockNumber"]), quantity(log["transactionIndex"])) for log in logs]
        [found] = read_chain(
            "etherscan/log_transactions_get",
            blocks=[block for block, _ in places],
            transaction_indexes=[index for _, index in places],
        )
        return [
            _row(log, transaction)
            for log, transaction in zip(logs, orjson.loads(found), strict=True)
        ]
    except (BadHex, KeyError, TypeError, AttributeError):
        raise UpstreamFailed("The node gave something else than logs.") from None


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
