"""Lists of logs: from the table where SCAN_LOGS has them stored, else from the node."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.contracts.contract_abis import Block, Contract, Emitter
from scan.contracts.decoding_budget import DecodingBudget
from scan.contracts.transaction_details import decode_event, decode_event_by
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.log_filter import TOPICS, LogFilter, having_all
from scan.ethereum.transaction_reader import TransactionLog
from scan.hex import data, to_hex
from scan.parameters import BIGINT_MAX
from scan.queries import node_logs
from scan.queries.node_logs import ANOTHER_CHAIN, TOO_LARGE, BlockSpan, NodeLog, TooManyLogs
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

TOPIC_NAMES = tuple(f"topic{place}" for place in range(TOPICS))
PROXIES_TIMEOUT_S = 1.5
NO_NUMBER = -1  # of a topic that no stored log has

Record = dict[str, Any]


class Scope(NamedTuple):
    """Which logs are stored, the number of the first topic, and which blocks are indexed."""

    stored: str | None
    topic_id: int | None
    oldest: int | None
    newest: int | None

    def has_stored(self, log_filter: LogFilter) -> bool:
        """Whether every log that matches is in the table."""
        is_standard = log_filter.first_topic is not None and self.topic_id is not None
        return self.stored == "all" or (self.stored == "standard" and is_standard)


def read_filter(arguments: Mapping[str, Any]) -> LogFilter:
    """Of parameters address and topic0 to topic3."""
    topics = [
        parameters.hash32(arguments[name], name) if name in arguments else None
        for name in TOPIC_NAMES
    ]
    return having_all(parameters.optional_address(arguments, "address"), topics)


def page(reader: Reader, window: Window, log_filter: LogFilter, *, has_total: bool = False) -> Page:
    """Records with their decoded events; `total` is exact where it is asked for, else 0."""
    records, total = records_and_total(reader, window, log_filter, has_total=has_total)
    for record, event in zip(records, _events(reader, records), strict=True):
        record["event"] = event
    return Page(orjson.dumps(records).decode(), len(records), total)


def _events(reader: Reader, records: Sequence[Record]) -> list[Record | None]:
    """Decoded by the ABIs of their contracts, by standards, or by imported signatures, as far as
    the budget goes."""
    logs = [
        TransactionLog(
            data(record["address"]),
            tuple(data(topic) for topic in record["topics"]),
            data(record["data"]),
            record["logIndex"],
        )
        for record in records
    ]
    abis, budget = reader.sources.contract_abis, DecodingBudget()
    contracts = abis.find({log.address for log in logs}, budget)
    proxies = [
        place
        for place, log in enumerate(logs)
        if _may_be_of_implementation(log, contracts.get(log.address))
    ]
    at_block = _proxies_at(reader, records, proxies, budget)
    events = [
        decode_event(log, at_block.get(place, contracts.get(log.address)), budget)
        for place, log in enumerate(logs)
    ]
    unknown = {
        log.topics[0][:4]
        for log, event in zip(logs, events, strict=True)
        if event is None and log.topics
    }
    signatures = abis.imported(unknown)
    for place, log in enumerate(logs):
        events[place] = events[place] or decode_event_by(log, signatures, budget)
    return [None if event is None else event.record() for event in events]


def _may_be_of_implementation(log: TransactionLog, contract: Contract | None) -> bool:
    """Whether a log may be an event of what its emitter is a proxy of."""
    if contract is None or not contract.delegates:
        return False
    return not any(log.topics and log.topics[0] in abi.events for abi in contract.abis)


def _proxies_at(
    reader: Reader, records: Sequence[Record], places: Sequence[int], budget: DecodingBudget
) -> dict[int, Contract]:
    """The contracts that emitted the logs at these places of the list, as they were at their block.

    Nothing where the node does not say it in time: the response is not cached then.
    """
    if not places:
        return {}
    try:
        transactions = transactions_of(
            reader, [(records[n]["blockNumber"], records[n]["transactionIndex"]) for n in places]
        )
        emitters = {
            n: Emitter(
                data(records[n]["address"]),
                Block(records[n]["blockNumber"], transaction["blockHash"]),
            )
            for n, transaction in zip(places, transactions, strict=True)
        }
        node = reader.node.within(PROXIES_TIMEOUT_S)
        contracts = reader.sources.contract_abis.find_at({*emitters.values()}, node, budget)
    except (UpstreamFailed, Unavailable):
        reader.do_not_cache()
        return {}
    return {n: contracts[emitter] for n, emitter in emitters.items() if emitter in contracts}


def records_and_total(
    reader: Reader, window: Window, log_filter: LogFilter, *, has_total: bool = False
) -> tuple[list[Record], int]:
    """Records without events; with has_total, newest first alone where they are the node's."""
    scope = Scope(*reader.row("queries/logs_get_scope", topic0=log_filter.topics[0]))
    if scope.has_stored(log_filter):
        return _stored(reader, window, log_filter, scope.topic_id, has_total)
    if scope.oldest is None or scope.newest is None:
        return [], 0
    span = BlockSpan(max(window.block_from, scope.oldest), min(window.block_to, scope.newest))
    if span.first > span.last:
        return [], 0
    total = 0
    if has_total:
        found, total = node_logs.page_and_total(
            reader, log_filter, span, window.offset, window.limit
        )
    else:
        found = node_logs.page(
            reader, log_filter, span, window.direction, window.offset, window.limit
        )
    return _records(reader, found), total


def _stored(
    reader: Reader, window: Window, log_filter: LogFilter, topic_id: int | None, has_total: bool
) -> tuple[list[Record], int]:
    """No filter: by ordinal. One: from its nearest checkpoint. Several: the narrowest index."""
    given = any(log_filter.topics)
    if log_filter.address is None and not given:
        found, _, total = reader.row("queries/logs_list", **window._asdict())
        return _parsed(found), total
    has_address, has_topic0 = log_filter.address is not None, log_filter.first_topic is not None
    has_rest = given and log_filter.topics != (log_filter.first_topic, None, None, None)
    has_from, has_to = window.block_from > 0, window.block_to < BIGINT_MAX
    has_list = not (has_from or has_to or has_rest or (has_address and has_topic0))
    found, _, total = reader.row(
        "queries/logs_list_by_key",
        planned_per_call=not has_list,
        **window._asdict(),
        address=log_filter.address,
        topic_id=NO_NUMBER if topic_id is None else topic_id,
        **dict(zip(TOPIC_NAMES[1:], log_filter.topics[1:], strict=True)),
        accepted=log_filter.accepted,
        has_address=has_address,
        has_topic0=has_topic0,
        has_rest=has_rest,
        has_total=has_total,
        has_lower=has_from or (has_list and window.direction == "asc"),
        has_upper=has_to or (has_list and window.direction == "desc"),
        has_list=has_list,
        list=("logs_by_address" if has_address else "logs_by_topic0") if has_list else None,
        key=(log_filter.address or log_filter.first_topic) if has_list else None,
    )
    return _parsed(found), total or 0


def _parsed(found: str | None) -> list[Record]:
    if found is None:
        raise TooManyLogs(TOO_LARGE)
    records: list[Record] = orjson.loads(found)
    return records


def _records(reader: Reader, found: Sequence[NodeLog]) -> list[Record]:
    """As log_record() of schema.sql makes them."""
    if not found:
        return []
    places = transactions_of(reader, [(log.block_number, log.transaction_index) for log in found])
    return [
        {
            "transactionHash": to_hex(log.transaction_hash),
            "blockNumber": log.block_number,
            "logIndex": log.log_index,
            "transactionIndex": log.transaction_index,
            "address": to_hex(log.address),
            "topics": [to_hex(topic) for topic in log.topics],
            "data": to_hex(log.data),
            "timestamp": place["timestamp"],
        }
        for log, place in zip(found, places, strict=True)
    ]


def transactions_of(reader: Reader, places: Sequence[tuple[int, int]]) -> list[Record]:
    """What the index has of transactions, by block number and index; see the statement.

    Raises UpstreamFailed where one is no longer there: a reorganisation came between.
    """
    blocks, indexes = zip(*places, strict=True)
    [found] = reader.row(
        "queries/log_transactions_get", blocks=list(blocks), transaction_indexes=list(indexes)
    )
    rows: list[Record | None] = orjson.loads(found)
    if None in rows:
        raise UpstreamFailed(ANOTHER_CHAIN)
    return [row for row in rows if row is not None]
