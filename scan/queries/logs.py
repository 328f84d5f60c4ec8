"""Lists of logs: from the table where SCAN_LOGS has them stored, else from the node."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.contracts.abi_decoding import decode_log, decode_log_by
from scan.contracts.contract_abis import NO_CONTRACT
from scan.errors import UpstreamFailed
from scan.ethereum.log_filter import TOPICS, LogFilter, having_all
from scan.hex import data, to_hex
from scan.parameters import BIGINT_MAX
from scan.queries import node_logs
from scan.queries.node_logs import ANOTHER_CHAIN, TOO_LARGE, BlockSpan, NodeLog, TooManyLogs
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

TOPIC_NAMES = tuple(f"topic{place}" for place in range(TOPICS))
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
    """Decoded by the ABIs of their contracts, by standards, or by imported signatures.

    Of proxies only clones have their implementation's ABI: others may have had any at the time.
    """
    abis = reader.sources.contract_abis
    read = [
        (data(log["address"]), [data(topic) for topic in log["topics"]], data(log["data"]))
        for log in records
    ]
    contracts = abis.find({address for address, _, _ in read})
    events = []
    for address, topics, payload in read:
        contract = contracts.get(address, NO_CONTRACT)
        events.append(decode_log(topics, payload, contract.abis, contract.token_type))
    unknown = [topics for (_, topics, _), event in zip(read, events, strict=True) if event is None]
    signatures = abis.imported({topics[0][:4] for topics in unknown if topics})
    for place, (_, topics, payload) in enumerate(read):
        if events[place] is None and topics:
            events[place] = decode_log_by(topics, payload, signatures.get(topics[0][:4], ()))
    return [None if event is None else event.record() for event in events]


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
