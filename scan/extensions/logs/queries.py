"""Lists of logs: from the table where SCAN_LOGS has them stored, else from stored blocks or the
node."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.contracts.abi import AbiError, canonical
from scan.contracts.abi_decoding import OF_TOKEN_TYPE, Decoded, DecodingBudget, Entry, standard_abis
from scan.errors import InvalidParameter, NotFound, Unavailable, UpstreamFailed
from scan.ethereum import rlp_and_tries, stored_blocks
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.served_chain import BlockId
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.decoding import contract_abis, details
from scan.extensions.decoding.decoding import event_by_signature, event_of
from scan.extensions.logs import unstored_logs
from scan.extensions.logs.log_filter import LogFilter, having_all
from scan.extensions.logs.unstored_logs import BlockSpan
from scan.hex import data, to_hex
from scan.queries import blocks, entities
from scan.queries.cursors import ORDINAL, ordinal_at, require_same_chain
from scan.queries.filter_values import Value
from scan.queries.filtered_pages import filtered_page
from scan.queries.list_pages import Page, Window, in_kept_blocks
from scan.queries.reader import KeptFrom, Reader

TOPIC_NAMES = tuple(f"topic{index}" for index in range(MAX_TOPICS))
PROXIES_TIMEOUT_S = 1.5
# Whose event a name is where the contract does not say: ERC-6909 has another Transfer.
USUAL = ("erc20", "erc721", "erc1155")
INDEX, BLOCKS, NODE = SOURCES = ("index", "blocks", "node")
ADVICE = ": give its signature, such as Deposit(address,uint256), or its hash."
NOT_STORED = (
    "Not all of these logs are stored here (SCAN_LOGS), and files are made of stored logs alone."
)

Record = dict[str, Any]


class LogPage(NamedTuple):
    """A page of records without their events; `source` says what they were read from: index (rows,
    or no block has such logs), blocks or node. Others are as in Page."""

    records: list[Record]
    total: int | None
    kept_from: KeptFrom | None
    next: str | None = None
    source: str = INDEX


class Scope(NamedTuple):
    """The stored selection of logs (SCAN_LOGS), the id of the filter's first topic, the oldest and
    newest indexed blocks, and the block from which on blocks are stored whole."""

    stored: str | None
    topic_id: int | None
    oldest: int | None
    newest: int | None
    bodies_from: int | None

    def has_stored(self, log_filter: LogFilter) -> bool:
        """Return whether every log that matches is in the table."""
        is_standard = log_filter.first_topic is not None and self.topic_id is not None
        return self.stored == "all" or (self.stored == "standard" and is_standard)


def read_filter(reader: Reader, arguments: Mapping[str, Any]) -> LogFilter:
    """Return the filter of a request's parameters; raises InvalidParameter."""
    return _having_all(reader, **entities.read_filters(reader, "logs", arguments))


def _having_all(reader: Reader, **filters: Any) -> LogFilter:
    address, event = filters.get("address"), filters.get("topic0")
    others = [filters.get(name) for name in TOPIC_NAMES[1:]]
    topic0 = None if event is None else _topic_of(reader, event.strip(), address)
    return having_all(address, [topic0, *others])


def _topic_of(reader: Reader, event: str, address: bytes | None) -> bytes:
    """Return the first topic that a text means: a topic, a signature, or the name of an event of
    the contract at an address, else of its token standard, of the usual ones, or of any. Raises
    InvalidParameter."""
    if event[:2].lower() == "0x":
        return parameters.hash32(event, "topic0")
    if "(" in event:
        try:
            return rlp_and_tries.keccak256(canonical(event).encode())
        except AbiError as error:
            reason = f"topic0 is not a signature: {error}."
            raise InvalidParameter(reason, field="topic0") from None
    declared, token_type = events_at(reader, address)
    standard = [e for entries in standard_abis().events.values() for e in entries]
    of_token = [e for e in standard if e.standard == OF_TOKEN_TYPE.get(token_type or "")]
    for events in (declared, of_token, [e for e in standard if e.standard in USUAL], standard):
        signatures = sorted({e.signature for e in events if e.name == event})
        if len(signatures) > 1:
            reason = f"topic0 is the name of several events: {', '.join(signatures)}."
            raise InvalidParameter(reason, field="topic0")
        if signatures:
            return rlp_and_tries.keccak256(signatures[0].encode())
    raise InvalidParameter("topic0 is not the name of a known event" + ADVICE, field="topic0")


def events_at(reader: Reader, address: bytes | None) -> tuple[list[Entry], str | None]:
    """Return the events that the ABIs of a contract, and of what it is now a proxy of, have, one of
    each signature; and its token type."""
    newest = blocks.newest(reader)
    if address is None or newest is None:
        return [], None
    block, node = contract_abis.Block(newest.number, to_hex(newest.hash)), reader.node
    contracts = reader.sources.get(contract_abis.ContractAbis).find_at_or_now(
        [address], block, node.within(PROXIES_TIMEOUT_S), DecodingBudget()
    )
    contract = contracts.get(address, contract_abis.NO_CONTRACT)
    return [e[0] for abi in contract.abis for e in abi.events.values()], contract.token_type


def page_by_filters(reader: Reader, window: Window, **filters: Value) -> Page:
    """Return page() of the logs that match all filters."""
    return page(reader, window, _having_all(reader, **filters))


def page(reader: Reader, window: Window, log_filter: LogFilter, *, has_total: bool = False) -> Page:
    """Return a page of records with their decoded events; for has_total see records()."""
    logs, total, kept_from, following, _ = records(reader, window, log_filter, has_total=has_total)
    for log, event in zip(logs, events(reader, logs), strict=True):
        log["event"] = None if event is None else event.record()
    return Page(orjson.dumps(logs).decode(), len(logs), total, following, kept_from=kept_from)


def records(
    reader: Reader, window: Window, log_filter: LogFilter, *, has_total: bool = False
) -> LogPage:
    """Return a page of records; a filter with several addresses has a first topic. The total is
    None where it would have to be counted, unless `has_total`. The window's position is a block's
    number and a log's index in it."""
    scope = _scope(reader, log_filter.topics[0])
    if scope.has_stored(log_filter):
        if window.position is not None:
            block, index = map(int, window.position)
            window = window._replace(position=(ordinal_at(reader, "logs", block, index),))
        stored = _stored_page(reader, window, log_filter, scope, has_total=has_total)
        return LogPage(orjson.loads(stored.data), stored.total, stored.kept_from, stored.next)
    if scope.oldest is None or scope.newest is None:
        return LogPage([], 0, reader.kept_from)
    emitters = _kept_emitters(log_filter)
    kept = in_kept_blocks(reader, window, *emitters)
    span = BlockSpan(max(kept.block_from, scope.oldest), min(kept.block_to, scope.newest))
    if span.first > span.last:
        return LogPage([], 0, reader.kept_from_of(*emitters))
    page = _block_page(reader, window, log_filter, span, has_total=has_total)
    are_stored = scope.bodies_from is not None and span.first >= scope.bodies_from
    if page.total is not None and (reader.reported or not are_stored):
        reader.reported.add("total")
    of_blocks = INDEX if scope.bodies_from is None else BLOCKS
    return page._replace(source=NODE if "logs" in reader.reported else of_blocks)


def _block_page(
    reader: Reader, window: Window, log_filter: LogFilter, span: BlockSpan, *, has_total: bool
) -> LogPage:
    """Return a page of the logs in blocks, which are stored or not; a position is a block's
    number and a log's index in it."""
    limit, offset, direction, *_ = window
    traversal = window.traversal("node_logs", log_filter._asdict(), (ORDINAL, ORDINAL))
    if has_total and direction == "desc" and traversal.cursor is None:
        logs, total = unstored_logs.read_page_and_total(reader, log_filter, span, window)
        has_more = len(logs) == limit and (total is None or offset + limit < total)
    else:
        after = None
        if traversal.cursor is not None:
            block, index = traversal.cursor.position
            after = int(block), int(index)
        logs, has_more = unstored_logs.read_page(reader, log_filter, span, window, after)
        require_same_chain(
            reader,
            traversal,
            _reference(reader, traversal.seen_block),
            lambda ends: _position_at(direction, after, ends.blocks),
        )
        total = None
        if has_total:
            _, total = unstored_logs.read_page_and_total(
                reader, log_filter, span, window._replace(limit=0, offset=0)
            )
        has_more = has_more and (len(logs) < limit or total is None or offset + limit < total)
    following = None
    if has_more:
        newest = logs[0] if direction == "desc" else logs[-1]
        following = traversal.next(
            (logs[-1].block_number, logs[-1].log_index),
            BlockId(newest.block_number, newest.block_hash),
        )
    kept_from = reader.kept_from_of(*_kept_emitters(log_filter))
    return LogPage(_records(reader, logs), total, kept_from, following)


def _kept_emitters(log_filter: LogFilter) -> Sequence[bytes]:
    """Return the emitter whose logs may all be kept; of several, one's say nothing of others'."""
    return log_filter.addresses if len(log_filter.addresses) == 1 else ()


def _position_at(direction: str, after: tuple[int, int] | None, next_block: int) -> tuple[int, int]:
    """Return the position of a client that has dropped the logs from block `next_block` on."""
    if direction == "asc":
        return next_block, -1
    return min((next_block, 0), after or (0, 0))


def _reference(reader: Reader, number: int | None) -> BlockId | None:
    block_hash = None if number is None else blocks.hash_at(reader, number)
    return None if number is None or block_hash is None else BlockId(number, block_hash)


def stored_page(reader: Reader, window: Window, log_filter: LogFilter) -> Page:
    """Return a page of stored records without events; raises NotFound if some are not stored."""
    scope = _scope(reader, log_filter.topics[0])
    if not scope.has_stored(log_filter):
        raise NotFound(NOT_STORED)
    return _stored_page(reader, window, log_filter, scope, has_total=False)


def are_stored(reader: Reader, log_filter: LogFilter) -> bool:
    """Return whether all logs that a filter matches are stored."""
    return _scope(reader, log_filter.topics[0]).has_stored(log_filter)


def stored_selection(reader: Reader) -> str | None:
    """Return SCAN_LOGS of this database; None before its first block."""
    return _scope(reader, None).stored


def count_of_emitter(reader: Reader, address: bytes, most: int) -> int:
    """Return how many logs an address emitted, at most `most`. Where logs without rows cannot be
    read now, each block with one counts as one, and that of its creation, too."""
    window = in_kept_blocks(reader, Window(most, 0, max_entries=most), address)
    try:
        return len(records(reader, window, having_all(address, (None,) * MAX_TOPICS)).records)
    except (Unavailable, UpstreamFailed):
        [emitting_blocks] = reader.row(
            "queries/log_blocks_list",
            addresses=[address],
            block_from=window.block_from,
            block_to=window.block_to,
            direction="desc",
            limit=most,
        )
        return len(emitting_blocks)


def _scope(reader: Reader, topic0: bytes | None) -> Scope:
    return Scope(*reader.row("queries/logs_get_scope", topic0=topic0))


def _stored_page(
    reader: Reader, window: Window, log_filter: LogFilter, scope: Scope, *, has_total: bool
) -> Page:
    topics = dict(zip(TOPIC_NAMES, log_filter.topics, strict=True))
    matching: Record = {"topic_id": scope.topic_id, "accepted": log_filter.accepted}
    if len(log_filter.addresses) > 1:
        stored = _stored_page_of_several(reader, window, log_filter, {**topics, **matching})
    else:
        [address] = log_filter.addresses or [None]
        stored = filtered_page(
            reader,
            "logs",
            {"address": address, **topics},
            window,
            unlisted=() if log_filter.is_conjunction else ("topic0",),
            has_total=has_total and window.cursor is None,  # behind one the rows that are left
            **matching,
        )
    if stored.data is None:
        raise unstored_logs.TooManyLogs(unstored_logs.TOO_LARGE)
    return stored


def _stored_page_of_several(
    reader: Reader, window: Window, log_filter: LogFilter, params: Mapping[str, object]
) -> Page:
    traversal = window.traversal("logs", log_filter._asdict())
    window = in_kept_blocks(reader, window)
    row = reader.row(
        "queries/logs_list_by_addresses",
        is_unbounded=True,
        addresses=[*log_filter.addresses],
        max_entries=None if window.offset else window.max_entries,
        **params,
        **window.params(traversal),
    )
    return Page.from_row(reader, "logs", traversal, row, reader.kept_from)


def events(reader: Reader, records: Sequence[Record]) -> list[Decoded | None]:
    """Return the decoded event of each record, or None: by the ABI of its contract, by standards or
    by imported signatures, within the decoding budget."""
    logs = [
        stored_blocks.TransactionLog(
            data(record["address"]),
            tuple(data(topic) for topic in record["topics"]),
            data(record["data"]),
            record["logIndex"],
        )
        for record in records
    ]
    abis, budget = reader.sources.get(contract_abis.ContractAbis), DecodingBudget()
    emitters = [
        contract_abis.Emitter(
            log.address, contract_abis.Block(record["blockNumber"], "", record["transactionIndex"])
        )
        for log, record in zip(logs, records, strict=True)
    ]
    contracts = abis.contracts({*emitters}, budget)
    proxies = [
        n
        for n, (emitter, log) in enumerate(zip(emitters, logs, strict=True))
        if (of := contracts.get(emitter)) is not None
        and (of.delegates or of.may_have_run_another(log.topics))
    ]
    at_block = _proxies_at(reader, emitters, logs, proxies, budget)
    imported = abis.imported_if_needed(log.topics[0][:4] for log in logs if log.topics)
    decoded = []
    for index, (log, emitter) in enumerate(zip(logs, emitters, strict=True)):
        contract = at_block.get(index, contracts.get(emitter))
        event = event_of(log, contract, imported, budget)
        if event is not None and contract is not None and contract.may_have_changed:
            event = event_by_signature(log, event, budget)
        decoded.append(event)
    return decoded


def _proxies_at(
    reader: Reader,
    emitters: Sequence[contract_abis.Emitter],
    logs: Sequence[stored_blocks.TransactionLog],
    indexes: Sequence[int],
    budget: DecodingBudget,
) -> dict[int, contract_abis.Contract]:
    """Return the proxies among emitters, which are at `indexes`, as they were at their blocks,
    whose hashes the emitters lack: as the trace of the transaction has them, or as some that
    `may_have_changed`, since the transaction may have changed them, and changed them back.

    None are returned where the node does not answer in time; the response is then not cached.
    """
    if not indexes:
        return {}
    blocks_of = [emitters[n].block for n in indexes]
    try:
        rows = transactions_at(reader, [(b.number, b.transaction_index) for b in blocks_of])
        proxies = {
            n: emitters[n]._replace(block=block._replace(hash=row["blockHash"]))
            for n, block, row in zip(indexes, blocks_of, rows, strict=True)
        }
        node = reader.node.within(PROXIES_TIMEOUT_S)
        contracts = reader.sources.get(contract_abis.ContractAbis).find_at(
            {*proxies.values()}, node, budget
        )
        reader.reported.add("logs.event")
    except (UpstreamFailed, Unavailable):
        reader.do_not_cache()
        return {}
    at_block = {n: contracts[emitter] for n, emitter in proxies.items()}
    sent = {
        n: IndexedTransaction(row["hash"], *proxies[n].block, row["toAddress"])
        for n, row in zip(indexes, rows, strict=True)
    }
    blocks_of_sent = {one: proxies[n].block for n, one in sent.items()}
    traced = details.traced_abis(reader, node, blocks_of_sent, budget)
    for n, one in sent.items():
        ran = traced[one].emitting.get(details.content_of(logs[n])) if one in traced else None
        readings = at_block[n].readings if ran is None else tuple(ran)
        at_block[n] = at_block[n]._replace(readings=readings, may_have_changed=ran is None)
    return at_block


def _records(reader: Reader, logs: Sequence[unstored_logs.UnstoredLog]) -> list[Record]:
    """Return the records of logs, equal to those of log_record() in sql/schema."""
    if not logs:
        return []
    positions = [(log.block_number, log.transaction_index) for log in logs]
    transactions = transactions_at(reader, positions)
    hashes = [to_hex(log.block_hash) for log in logs]
    if hashes != [transaction["blockHash"] for transaction in transactions]:
        raise UpstreamFailed(unstored_logs.ANOTHER_CHAIN)
    return [
        {
            "transactionHash": transaction["hash"],
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
    """Return records as rows_at() does. Raises UpstreamFailed where a transaction is missing, since
    a reorganisation has removed it."""
    transactions = rows_at(reader, positions)
    if None in transactions:
        raise UpstreamFailed(unstored_logs.ANOTHER_CHAIN)
    return [transaction for transaction in transactions if transaction is not None]


def rows_at(reader: Reader, positions: Sequence[tuple[int, int]]) -> list[Record | None]:
    """Return records of transactions by block number and index, None of those that are not indexed;
    see the statement."""
    numbers, indexes = zip(*positions, strict=True)
    [rows] = reader.row(
        "queries/log_transactions_get", blocks=list(numbers), transaction_indexes=list(indexes)
    )
    records: list[Record | None] = orjson.loads(rows)
    return records
