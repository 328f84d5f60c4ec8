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
from scan.queries import node_logs
from scan.queries.node_logs import ANOTHER_CHAIN, TOO_LARGE, BlockSpan, NodeLog, TooManyLogs
from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader

TOPIC_NAMES = tuple(f"topic{index}" for index in range(TOPICS))
FILTER_KEYS = ("address", *TOPIC_NAMES)

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
    """Of FILTER_KEYS: all that are given must match."""
    topics = [
        parameters.hash32(arguments[name], name) if name in arguments else None
        for name in TOPIC_NAMES
    ]
    return having_all(parameters.optional_address(arguments, "address"), topics)


def page(reader: Reader, window: Window, log_filter: LogFilter, *, has_total: bool = False) -> Page:
    """Records with their decoded events; for has_total see records()."""
    logs, total = records(reader, window, log_filter, has_total=has_total)
    for log, event in zip(logs, _events(reader, logs), strict=True):
        log["event"] = event
    return Page(orjson.dumps(logs).decode(), len(logs), total)


def records(
    reader: Reader, window: Window, log_filter: LogFilter, *, has_total: bool = False
) -> tuple[list[Record], int | None]:
    """Records without events, and how many logs match in all.

    That number is None where it would have to be counted, unless has_total asks for it; it is
    counted in a node's logs newest first alone.
    """
    scope = Scope(*reader.row("queries/logs_get_scope", topic0=log_filter.topics[0]))
    if scope.has_stored(log_filter):
        stored = filtered_page(
            reader,
            "logs",
            dict(zip(FILTER_KEYS, (log_filter.address, *log_filter.topics), strict=True)),
            window,
            topic_id=scope.topic_id,
            is_conjunction=log_filter.is_conjunction,
            accepted=log_filter.accepted,
            has_total=has_total,
        )
        if stored.data is None:
            raise TooManyLogs(TOO_LARGE)
        return orjson.loads(stored.data), stored.total
    if scope.oldest is None or scope.newest is None:
        return [], 0
    span = BlockSpan(max(window.block_from, scope.oldest), min(window.block_to, scope.newest))
    if span.first > span.last:
        return [], 0
    limit, offset, direction, *_ = window
    if has_total:
        logs, total = node_logs.read_page_and_total(reader, log_filter, span, offset, limit)
        return _records(reader, logs), total
    logs = node_logs.read_page(reader, log_filter, span, direction, offset, limit)
    return _records(reader, logs), None


def _events(reader: Reader, records: Sequence[Record]) -> list[Record | None]:
    """Decoded by the ABIs of their contracts, by standards, or by imported signatures.

    Of proxies only clones have their implementation's ABI: others may have had any at the time.
    """
    abis = reader.sources.contract_abis
    logs = [
        (data(log["address"]), [data(topic) for topic in log["topics"]], data(log["data"]))
        for log in records
    ]
    contracts = abis.find({address for address, _, _ in logs})
    events = []
    for address, topics, payload in logs:
        contract = contracts.get(address, NO_CONTRACT)
        events.append(decode_log(topics, payload, contract.abis, contract.token_type))
    unknown = [topics for (_, topics, _), event in zip(logs, events, strict=True) if event is None]
    signatures = abis.imported({topics[0][:4] for topics in unknown if topics})
    for index, (_, topics, payload) in enumerate(logs):
        if events[index] is None and topics:
            events[index] = decode_log_by(topics, payload, signatures.get(topics[0][:4], ()))
    return [None if event is None else event.record() for event in events]


def _records(reader: Reader, logs: Sequence[NodeLog]) -> list[Record]:
    """As log_record() of schema.sql makes them."""
    if not logs:
        return []
    transactions = transactions_at(
        reader, [(log.block_number, log.transaction_index) for log in logs]
    )
    return [
        {
            "transactionHash": to_hex(log.transaction_hash),
            "blockNumber": log.block_number,
            "logIndex": log.log_index,
            "transactionIndex": log.transaction_index,
            "address": to_hex(log.address),
            "topics": [to_hex(topic) for topic in log.topics],
            "data": to_hex(log.data),
            "timestamp": transaction["timestamp"],
        }
        for log, transaction in zip(logs, transactions, strict=True)
    ]


def transactions_at(reader: Reader, positions: Sequence[tuple[int, int]]) -> list[Record]:
    """What the index has of transactions, by block number and index; see the statement.

    Raises UpstreamFailed where one is no longer there: a reorganisation came between.
    """
    blocks, indexes = zip(*positions, strict=True)
    [rows] = reader.row(
        "queries/log_transactions_get", blocks=list(blocks), transaction_indexes=list(indexes)
    )
    transactions: list[Record | None] = orjson.loads(rows)
    if None in transactions:
        raise UpstreamFailed(ANOTHER_CHAIN)
    return [transaction for transaction in transactions if transaction is not None]
