"""A decoded block as COPY text, and those of its logs that are of use by themselves.

Pure, and small beside the block itself, so that another process may make and send it.
"""

import json
from typing import NamedTuple

from scan.database.copy_format import NULL, bytea, bytea_array, integer
from scan.ethereum.blocks import DecodedBlock, DecodedTransaction, EventLog, Withdrawal
from scan.ethereum.events import (
    ZERO_ADDRESS,
    SwapEvent,
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

# What the text of a row holds, in this order; the writer puts the ordinal before it, and the number
# of a log's first topic.
TRANSACTION_COLUMNS = (
    "block_number, transaction_index, hash, from_address, to_address, contract_address, value,"
    " gas_price, gas_used, status, type, nonce, gas_limit, max_fee_per_gas,"
    " max_priority_fee_per_gas, max_fee_per_blob_gas, cumulative_gas_used, method,"
    " blob_versioned_hashes"
)
EMITTER_COLUMNS = "address, block_number"
INTERNAL_TRANSFER_COLUMNS = (
    "block_number, transaction_index, transfer_index, type, from_address, to_address, value"
)
WITHDRAWAL_COLUMNS = "block_number, withdrawal_index, validator_index, address, amount_wei"
TRANSFER_COLUMNS = (
    "block_number, transaction_index, log_index, token_address, from_address, to_address,"
    " batch_index, value, token_id"
)
TRADE_COLUMNS = (
    "block_number, log_index, transaction_index, pool_address, maker, dex_id, token_in, token_out,"
    " amount_in, amount_out"
)
LOG_COLUMNS = "block_number, log_index, transaction_index, address, topics, data"


class TransferLog(NamedTuple):
    """A log with the shape of a transfer; it is one where its contract is a token."""

    shape: TransferShape
    token: bytes
    log_index: int
    words: tuple[tuple[int, int], ...]  # as TransferEvent has them
    is_duplicate: bool  # a Deposit or Withdrawal beside a Transfer of the same value
    is_mint_or_burn: bool
    row: str  # the columns of its row up to to_address


class SwapLog(NamedTuple):
    event: SwapEvent
    row: str  # the columns of its row up to the maker


class WatchedLog(NamedTuple):
    """A log of an address that webhooks watch."""

    block_number: int
    log_index: int
    transaction_index: int
    address: bytes
    topics: str  # JSON
    data: bytes


class BlockRows(NamedTuple):
    """What inspecting and writing a block need of it; amounts in wei."""

    number: int
    hash: bytes
    parent_hash: bytes
    timestamp_s: int
    miner: bytes
    gas_used: int
    gas_limit: int
    gas_price_sum: int
    transaction_count: int
    transactions: str  # rows, each with its end
    emitters: str  # the same
    possible_contracts: tuple[bytes, ...]  # created, called or emitting
    created: frozenset[bytes]  # those of them created in this block
    transfer_logs: list[TransferLog]
    swap_logs: list[SwapLog]
    base_fee_per_gas: int | None
    internal_transfers: str  # rows, each with its end
    internal_transfer_count: int
    is_traced: bool | None  # as TracedBlock.is_complete
    withdrawals: str  # rows, each with its end
    withdrawal_count: int | None
    logs: str  # rows of those that are stored, each with its end
    first_topics: tuple[bytes | None, ...]  # of the same
    watched_logs: list[WatchedLog]


def make_block_rows(fetched: FetchedBlock, selection: LogSelection = NO_LOGS) -> BlockRows:
    block, created_inside, internal_transfers, is_traced = fetched
    created = [t.contract_address for t in block.transactions if t.contract_address]
    created += created_inside
    emitters = dict.fromkeys(log.address for log in block.logs)
    called = (t.to_address for t in block.transactions if t.to_address and t.ran_code)
    transfer_logs, swap_logs = _event_logs(block)
    stored, watched = _selected_logs(block, selection)
    return BlockRows(
        block.number,
        block.hash,
        block.parent_hash,
        block.timestamp_s,
        block.miner,
        block.gas_used,
        block.gas_limit,
        sum(t.gas_price for t in block.transactions),
        len(block.transactions),
        "".join([_transaction_line(block.number, t) for t in block.transactions]),
        "".join(
            f"{bytea(address)}\t{block.number}\n"
            for address in (emitters | dict.fromkeys(created_inside))
        ),
        tuple(dict.fromkeys((*created, *called, *emitters))),
        frozenset(created),
        transfer_logs,
        swap_logs,
        block.base_fee_per_gas,
        "".join([_internal_transfer_line(block.number, each) for each in internal_transfers]),
        len(internal_transfers),
        is_traced,
        "".join([_withdrawal_line(block.number, each) for each in block.withdrawals or ()]),
        None if block.withdrawals is None else len(block.withdrawals),
        "".join([_log_line(block.number, log) for log in stored]),
        _first_topics(stored),
        watched,
    )


def event_count(block: BlockRows) -> int:
    """Rows it may make besides its transactions: of contracts, transfers and trades."""
    moves = sum(len(log.words) for log in block.transfer_logs) + block.internal_transfer_count
    return len(block.possible_contracts) + moves + len(block.swap_logs)


def log_characters(block: BlockRows) -> int:
    """Of the text of its logs, which contracts make as long as they pay for."""
    return len(block.logs) + 2 * sum(len(log.data) for log in block.watched_logs)


def transfer_row(number: int, transfer: TransferEvent | Transfer) -> str:
    return (
        f"{number}\t{transfer.transaction_index}\t{transfer.log_index}\t\\\\x{transfer.token.hex()}"
        f"\t\\\\x{transfer.from_address.hex()}\t\\\\x{transfer.to_address.hex()}"
    )


def transfer_line(row: str, batch_index: int, value: int, token_id: int | None) -> str:
    """What transfer_row() began, to its end."""
    return f"{row}\t{batch_index or NULL}\t{value}\t{NULL if token_id is None else token_id}\n"


def _transaction_line(number: int, t: DecodedTransaction) -> str:
    return (
        f"{number}\t{t.transaction_index}\t\\\\x{t.hash.hex()}\t\\\\x{t.from_address.hex()}"
        f"\t{bytea(t.to_address)}\t{bytea(t.contract_address)}"
        f"\t{t.value}\t{t.gas_price}\t{t.gas_used}\t{t.status}"
        f"\t{integer(t.type)}\t{integer(t.nonce)}\t{integer(t.gas_limit)}"
        f"\t{integer(t.max_fee_per_gas)}\t{integer(t.max_priority_fee_per_gas)}"
        f"\t{integer(t.max_fee_per_blob_gas)}\t{integer(t.cumulative_gas_used)}"
        f"\t{bytea(t.method)}\t{bytea_array(t.blob_versioned_hashes)}\n"
    )


def _internal_transfer_line(number: int, each: InternalTransfer) -> str:
    return (
        f"{number}\t{each.transaction_index}\t{each.transfer_index}\t{each.type:d}"
        f"\t{bytea(each.from_address)}\t{bytea(each.to_address)}\t{each.value}\n"
    )


def _withdrawal_line(number: int, each: Withdrawal) -> str:
    return (
        f"{number}\t{each.withdrawal_index}\t{each.validator_index}\t{bytea(each.address)}"
        f"\t{each.amount_wei}\n"
    )


def _selected_logs(
    block: DecodedBlock, selection: LogSelection
) -> tuple[list[EventLog], list[WatchedLog]]:
    """Those to store and those for webhooks; of most chains neither."""
    stored = [] if selection.stored == "none" else [e for e in block.logs if selection.stores(e)]
    watched = [e for e in block.logs if e.address in selection.watched] if selection.watched else []
    return stored, [_watched(block.number, log) for log in watched]


def _log_line(number: int, log: EventLog) -> str:
    return (
        f"{number}\t{log.log_index}\t{log.transaction_index}\t\\\\x{log.address.hex()}"
        f"\t\\\\x{b''.join(log.topics[1:]).hex()}\t\\\\x{log.data.hex()}\n"
    )


def _first_topics(logs: list[EventLog]) -> tuple[bytes | None, ...]:
    """The same object for the same topic, which another process is sent once."""
    known: dict[bytes, bytes] = {}
    return tuple([known.setdefault(e.topics[0], e.topics[0]) if e.topics else None for e in logs])


def _watched(number: int, log: EventLog) -> WatchedLog:
    topics = json.dumps([to_hex(topic) for topic in log.topics], separators=(",", ":"))
    return WatchedLog(number, log.log_index, log.transaction_index, log.address, topics, log.data)


def _event_logs(block: DecodedBlock) -> tuple[list[TransferLog], list[SwapLog]]:
    events: list[TransferEvent] = []
    swap_logs: list[SwapLog] = []
    for log in block.logs:
        event = transfer_event(log)
        if event is not None:
            events.append(event)
        elif (swap := swap_event(log)) is not None:
            maker = block.transactions[swap.transaction_index].from_address
            place = f"{block.number}\t{swap.log_index}\t{swap.transaction_index}"
            swap_logs.append(SwapLog(swap, f"{place}\t{bytea(swap.pool)}\t{bytea(maker)}"))
    duplicates = duplicate_wraps(events)
    transfer_logs = [
        TransferLog(
            event.shape,
            event.token,
            event.log_index,
            event.words,
            event.log_index in duplicates,
            ZERO_ADDRESS in (event.from_address, event.to_address),
            transfer_row(block.number, event),
        )
        for event in events
    ]
    return transfer_logs, swap_logs
