"""A decoded block as COPY text, and those of its logs that are of use by themselves.

Pure, and small beside the block itself, so that another process may make and send it. Each table's
columns are the fields of the record whose values become its text.
"""

import json
from datetime import UTC, datetime
from typing import NamedTuple

from scan.database import copy_format
from scan.ethereum.blocks import (
    BLOCK_COLUMNS,
    DecodedBlock,
    DecodedTransaction,
    EventLog,
    Withdrawal,
)
from scan.ethereum.events import (
    ZERO_ADDRESS,
    SwapEvent,
    Trade,
    Transfer,
    TransferEvent,
    TransferShape,
    duplicate_wraps,
    swap_event,
    transfer_event,
)
from scan.ethereum.traces import InternalTransfer
from scan.hex import to_hex
from scan.indexer.block_source import FetchedBlock
from scan.indexer.log_selection import NO_LOGS, LogSelection

GREGORIAN_CYCLE_S = 12_622_780_800  # 400 years repeat exactly


# The columns of a row's text; the writer prepends the ordinal.
TRANSACTION_COLUMNS = ("block_number", *DecodedTransaction._fields)
INTERNAL_TRANSFER_COLUMNS = ("block_number", *InternalTransfer._fields)
WITHDRAWAL_COLUMNS = ("block_number", *Withdrawal._fields)
EMITTER_COLUMNS = ("address", "block_number")
TRANSFER_COLUMNS = (
    *("block_number", "transaction_index", "log_index", "token_address", "from_address"),
    *("to_address", "batch_index", "value", "token_id"),
)
TRADE_COLUMNS = (
    *("block_number", "log_index", "transaction_index", "pool_address", "maker", "dex_id"),
    *Trade._fields,
)
LOG_COLUMNS = ("block_number", "log_index", "transaction_index", "address", "topics", "data")


class TransferLog(NamedTuple):
    """A log with the form of a transfer; it is a transfer if its contract is a token."""

    shape: TransferShape
    token: bytes
    log_index: int
    words: tuple[tuple[int, int], ...]  # as TransferEvent has them
    is_duplicate: bool  # a Deposit or Withdrawal beside a Transfer of the same value
    is_mint_or_burn: bool
    row: str  # as transfer_row() makes it


class SwapLog(NamedTuple):
    event: SwapEvent
    row: str  # TRADE_COLUMNS up to maker


class WatchedLog(NamedTuple):
    """A log of an address that webhooks watch."""

    block_number: int
    log_index: int
    transaction_index: int
    address: bytes
    topics: str  # JSON
    data: bytes


class BlockRows(NamedTuple):
    """A block's data for inspection and writing; rows are COPY text with line ends."""

    number: int
    hash: bytes
    parent_hash: bytes
    columns: dict[str, object]  # of its own row, but for those that count other rows
    transaction_count: int
    transactions: str
    emitters: str
    possible_contracts: tuple[bytes, ...]  # created, called or emitting
    created: frozenset[bytes]  # those of them created in this block
    transfer_logs: list[TransferLog]
    swap_logs: list[SwapLog]
    internal_transfers: str
    internal_transfer_count: int
    is_traced: bool | None  # as TracedBlock.is_complete
    withdrawals: str
    logs: str  # those that are stored
    first_topics: tuple[bytes | None, ...]  # of the same
    watched_logs: list[WatchedLog]


def make_block_rows(fetched: FetchedBlock, selection: LogSelection = NO_LOGS) -> BlockRows:
    block, created_inside, internal_transfers, is_traced = fetched
    number = block.number
    addresses, created = possible_contracts(fetched)
    emitted = dict.fromkeys([*(log.address for log in block.logs), *created_inside])
    transfer_logs, swap_logs = _event_logs(block)
    stored, watched = _selected_logs(block, selection)
    line = copy_format.line
    return BlockRows(
        number=number,
        hash=block.hash,
        parent_hash=block.parent_hash,
        columns=_columns(block),
        transaction_count=len(block.transactions),
        transactions="".join([line((number, *t)) for t in block.transactions]),
        emitters="".join([f"\\\\x{address.hex()}\t{number}\n" for address in emitted]),
        possible_contracts=addresses,
        created=created,
        transfer_logs=transfer_logs,
        swap_logs=swap_logs,
        internal_transfers="".join([line((number, *t)) for t in internal_transfers]),
        internal_transfer_count=len(internal_transfers),
        is_traced=is_traced,
        withdrawals="".join([line((number, *w)) for w in block.withdrawals or ()]),
        logs="".join([_log_line(number, log) for log in stored]),
        first_topics=_first_topics(stored),
        watched_logs=watched,
    )


def possible_contracts(fetched: FetchedBlock) -> tuple[tuple[bytes, ...], frozenset[bytes]]:
    """What was created, called or emitted logs; and those of them that were created."""
    transactions = fetched.block.transactions
    created = [t.contract_address for t in transactions if t.contract_address]
    created += fetched.created
    called = (t.to_address for t in transactions if t.to_address and t.ran_code)
    emitters = (log.address for log in fetched.block.logs)
    return tuple(dict.fromkeys((*created, *called, *emitters))), frozenset(created)


def _columns(block: DecodedBlock) -> dict[str, object]:
    columns = {name: getattr(block, name) for name in BLOCK_COLUMNS}
    columns["timestamp"] = _timestamp(columns.pop("timestamp_s"))
    columns["gas_price_sum"] = sum(t.gas_price for t in block.transactions)
    columns["withdrawal_count"] = None if block.withdrawals is None else len(block.withdrawals)
    return columns


def _timestamp(seconds: int) -> str:
    """In PostgreSQL's format, also for years after 9999, datetime's limit."""
    cycles, seconds_in_cycle = divmod(seconds, GREGORIAN_CYCLE_S)
    moment = datetime.fromtimestamp(seconds_in_cycle, UTC)
    return f"{moment.year + 400 * cycles:04d}-{moment:%m-%d %H:%M:%S}+00"


def event_count(block: BlockRows) -> int:
    """The maximum of its rows besides transactions: contracts, transfers and trades."""
    moves = sum(len(log.words) for log in block.transfer_logs) + block.internal_transfer_count
    return len(block.possible_contracts) + moves + len(block.swap_logs)


def log_characters(block: BlockRows) -> int:
    """Of the text of its logs, which contracts make as long as they pay for."""
    return len(block.logs) + 2 * sum(len(log.data) for log in block.watched_logs)


def transfer_row(number: int, transfer: TransferEvent | Transfer) -> str:
    """TRANSFER_COLUMNS up to to_address; from a record by name it took four times as long."""
    return (
        f"{number}\t{transfer.transaction_index}\t{transfer.log_index}\t\\\\x{transfer.token.hex()}"
        f"\t\\\\x{transfer.from_address.hex()}\t\\\\x{transfer.to_address.hex()}"
    )


def transfer_line(row: str, batch_index: int, value: int, token_id: int | None) -> str:
    """What transfer_row() began, to its end."""
    return f"{row}\t{copy_format.line((batch_index or None, value, token_id))}"


def _selected_logs(
    block: DecodedBlock, selection: LogSelection
) -> tuple[list[EventLog], list[WatchedLog]]:
    """Those to store and those for webhooks; of most chains neither."""
    stored = [] if selection.stored == "none" else [e for e in block.logs if selection.stores(e)]
    watched = []
    for log in block.logs if selection.watched else ():
        if log.address in selection.watched:
            topics = json.dumps([to_hex(topic) for topic in log.topics], separators=(",", ":"))
            indexes = block.number, log.log_index, log.transaction_index
            watched.append(WatchedLog(*indexes, log.address, topics, log.data))
    return stored, watched


def _log_line(number: int, log: EventLog) -> str:
    return (
        f"{number}\t{log.log_index}\t{log.transaction_index}\t\\\\x{log.address.hex()}"
        f"\t\\\\x{b''.join(log.topics[1:]).hex()}\t\\\\x{log.data.hex()}\n"
    )


def _first_topics(logs: list[EventLog]) -> tuple[bytes | None, ...]:
    """The same object for the same topic, which another process is sent once."""
    topics: dict[bytes, bytes] = {}
    return tuple([topics.setdefault(e.topics[0], e.topics[0]) if e.topics else None for e in logs])


def _event_logs(block: DecodedBlock) -> tuple[list[TransferLog], list[SwapLog]]:
    events: list[TransferEvent] = []
    swap_logs: list[SwapLog] = []
    for log in block.logs:
        event = transfer_event(log)
        if event is not None:
            events.append(event)
        elif (swap := swap_event(log)) is not None:
            maker = block.transactions[swap.transaction_index].from_address
            position = f"{block.number}\t{swap.log_index}\t{swap.transaction_index}"
            row = f"{position}\t\\\\x{swap.pool.hex()}\t\\\\x{maker.hex()}"
            swap_logs.append(SwapLog(swap, row))
    duplicates = duplicate_wraps(events)
    transfer_logs = [
        TransferLog(
            shape=event.shape,
            token=event.token,
            log_index=event.log_index,
            words=event.words,
            is_duplicate=event.log_index in duplicates,
            is_mint_or_burn=ZERO_ADDRESS in (event.from_address, event.to_address),
            row=transfer_row(block.number, event),
        )
        for event in events
    ]
    return transfer_logs, swap_logs
