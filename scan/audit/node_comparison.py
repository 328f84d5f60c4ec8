"""The rows of blocks compared with the node's blocks, and those with their own roots."""

import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from scan.database.connection import Database
from scan.database.transaction import Row
from scan.ethereum.block_hashing import (
    Unencodable,
    header_hash,
    receipts_root,
    transactions_root,
    withdrawals_root,
)
from scan.ethereum.blocks import DecodedBlock, decode_block
from scan.ethereum.client import Node, NodeError
from scan.ethereum.events import (
    WRAPPING,
    Transfer,
    duplicate_wraps,
    swap_event,
    trade,
    transfer_event,
    transfers,
)
from scan.ethereum.merkle_trie import integer
from scan.hex import BadHex, data, to_hex
from scan.indexer import log_selection
from scan.indexer.block_source import BlockSource
from scan.indexer.block_traces import TRACE_ATTEMPTS, TracedBlock, TraceReader
from scan.settings import Settings

RANGE_BLOCKS = 20
NEWEST_BLOCKS = 100  # always compared: forks happen there

_Rows = dict[tuple[Any, ...], tuple[Any, ...]]
# Rows from before these columns get them by `scan backfill fields`; see _FILLED_LATER.
_LATER_FIELDS = (
    *("type", "nonce", "gas_limit", "max_fee_per_gas", "max_priority_fee_per_gas"),
    *("max_fee_per_blob_gas", "cumulative_gas_used", "method", "blob_versioned_hashes"),
)
_COLUMNS = {
    "block": (
        *("hash", "parent_hash", "timestamp_s", "miner", "gas_used", "gas_limit"),
        "base_fee_per_gas",
    ),
    "transaction": (
        *("hash", "from_address", "to_address", "contract_address", "value", "gas_price"),
        *("gas_used", "status", *_LATER_FIELDS),
    ),
    "emitter": (),
    "transfer": (
        *("transaction_index", "token_address", "from_address", "to_address", "value", "token_id"),
    ),
    "trade": (
        *("transaction_index", "pool_address", "maker", "token_in", "token_out", "amount_in"),
        "amount_out",
    ),
    "withdrawal": ("validator_index", "address", "amount_wei"),
    "internal transfer": ("type", "from_address", "to_address", "value"),
    "log": ("transaction_index", "address", "topics", "data"),
}
# The first of the columns that are null where a row is yet to be filled.
_FILLED_LATER = {"block": "base_fee_per_gas", "transaction": "type"}
# The statement that reads the rows, and how many of its columns are their key.
_STORED = {
    "block": ("audit/blocks_get_rows", 1),
    "transaction": ("audit/transactions_get_rows", 2),
    "emitter": ("audit/emitters_get_rows", 2),
    "transfer": ("audit/token_transfers_get_rows", 3),
    "trade": ("audit/dex_trades_get_rows", 2),
    "withdrawal": ("audit/withdrawals_get_rows", 2),
    "internal transfer": ("audit/internal_transfers_get_rows", 3),
    "log": ("audit/logs_get_rows", 2),
}


class NodeComparison:
    """Compares ranges of blocks; raises NodeError or MalformedBlock where the node fails."""

    def __init__(self, database: Database, node: Node, settings: Settings) -> None:
        self._database = database
        self._source = BlockSource(node, traces="off")
        self._traces = TraceReader(node, threading.Lock(), traces=settings.traces)
        self._logs = log_selection.read_stored(database)
        self.compared = 0
        self.skipped: Counter[str] = Counter()
        self.unfilled = 0  # blocks and transactions without what `scan backfill fields` fills
        self.untraced = 0  # blocks that the node does not trace now

    def ranges(self, blocks: int) -> list[tuple[int, int]]:
        """The newest blocks and others at random, `blocks` of them together; 0 for all."""
        row = self._database.row("audit/blocks_get_range")
        if row is None:
            return []
        lowest, highest = row
        firsts = list(range(lowest, highest + 1, RANGE_BLOCKS))
        if blocks:
            newest = [f for f in firsts if f > highest - NEWEST_BLOCKS]
            others = firsts[: len(firsts) - len(newest)]
            wanted = max(0, -(-blocks // RANGE_BLOCKS) - len(newest))
            firsts = sorted(random.sample(others, min(wanted, len(others)))) + newest
        return [(first, min(first + RANGE_BLOCKS - 1, highest)) for first in firsts]

    def compare(self, first: int, last: int) -> Iterator[str]:
        """One sentence for each difference."""
        expected: dict[str, _Rows] = {name: {} for name in _COLUMNS}
        blocks = []
        for number, (header, receipts) in enumerate(
            self._source.raw_blocks(first, last), start=first
        ):
            block = decode_block(header, receipts, number)
            blocks.append(block)
            yield from self._check_roots(block, header, receipts)
            _expect_block(expected, block)
            self._expect_logs(expected["log"], block)
        self._expect_events(expected, blocks)
        untraced = self._expect_traced(expected, blocks)
        for name in _COLUMNS:
            stored = self._stored(name, first, last)
            self._pass_over_unfilled(name, expected[name], stored)
            if name == "internal transfer":
                stored = {key: row for key, row in stored.items() if key[0] not in untraced}
            yield from _differences(name, expected[name], stored)
        self.compared += len(blocks)

    def _stored(self, name: str, first: int, last: int) -> _Rows:
        statement, keys = _STORED[name]
        rows = self._database.rows(statement, block_from=first, block_to=last)
        return {_plain(row[:keys]): _plain(row[keys:]) for row in rows}

    def _pass_over_unfilled(self, name: str, expected: _Rows, stored: _Rows) -> None:
        """Rows from before a column have null there, which is no difference."""
        if name not in _FILLED_LATER:
            return
        place = _COLUMNS[name].index(_FILLED_LATER[name])
        for key in expected.keys() & stored.keys():
            if stored[key][place] is None and expected[key][place] is not None:
                self.unfilled += 1
                expected[key] = (*expected[key][:place], *stored[key][place:])

    def _check_roots(self, block: DecodedBlock, header: Any, receipts: Any) -> Iterator[str]:
        try:
            if header_hash(header) != block.hash:
                raise Unencodable("headers with fields of the chain's own")
            found = [
                ("transactionsRoot", transactions_root(header["transactions"])),
                ("receiptsRoot", receipts_root(receipts)),
            ]
            if block.withdrawals is not None:
                found.append(("withdrawalsRoot", withdrawals_root(header["withdrawals"])))
        except (Unencodable, BadHex, KeyError, TypeError) as reason:
            self.skipped[str(reason)] += 1
            return
        for name, root in found:
            if data(header[name]) != root:
                yield f"block {block.number}: the node's {name} does not match what it serves"

    def _expect_traced(self, expected: dict[str, _Rows], blocks: list[DecodedBlock]) -> set[int]:
        """What an older version left out is not expected; returns what the node does not trace."""
        first, last = blocks[0].number, blocks[-1].number
        rows = self._database.rows("audit/blocks_list_traced", block_from=first, block_to=last)
        flags = {number: stored for number, *stored in rows}
        untraced = set()
        for block in blocks:
            found = self._traced(block)
            is_traced, has_withdrawals = flags.get(block.number, (False, False))
            if has_withdrawals:
                for each in block.withdrawals or ():
                    expected["withdrawal"][block.number, each.withdrawal_index] = each[1:]
            if found.is_complete is False:
                untraced.add(block.number)
            elif is_traced:
                for transfer in found.transfers:
                    place = block.number, transfer.transaction_index, transfer.transfer_index
                    expected["internal transfer"][place] = transfer[2:]
        self.untraced += len(untraced)
        return untraced

    def _traced(self, block: DecodedBlock) -> TracedBlock:
        for _ in range(TRACE_ATTEMPTS - 1):
            with suppress(NodeError):
                return self._traces.read([block])[0]
        return self._traces.read([block])[0]

    def _expect_logs(self, expected: _Rows, block: DecodedBlock) -> None:
        for log in filter(self._logs.stores, block.logs):
            expected[block.number, log.log_index] = (
                *(log.transaction_index, log.address, b"".join(log.topics), log.data),
            )

    def _expect_events(self, expected: dict[str, _Rows], blocks: list[DecodedBlock]) -> None:
        addresses = {log.address for block in blocks for log in block.logs}
        tokens = {
            bytes(row[0]): row[1:]
            for row in self._database.rows("audit/tokens_list_types", addresses=list(addresses))
        }
        pools = {
            bytes(row[0]): (row[1], bytes(row[2]), bytes(row[3]))
            for row in self._database.rows("audit/pools_list", addresses=list(addresses))
        }
        for block in blocks:
            for transfer in _transfers(block, tokens):
                key = (block.number, transfer.log_index, transfer.batch_index)
                expected["transfer"][key] = (
                    *(transfer.transaction_index, transfer.token, transfer.from_address),
                    *(transfer.to_address, transfer.value, transfer.token_id),
                )
            _expect_trades(expected["trade"], block, pools)


def _expect_block(expected: dict[str, _Rows], block: DecodedBlock) -> None:
    expected["block"][block.number,] = (
        *(block.hash, block.parent_hash, block.timestamp_s, block.miner),
        *(block.gas_used, block.gas_limit, block.base_fee_per_gas),
    )
    for t in block.transactions:
        expected["transaction"][block.number, t.transaction_index] = (
            *(t.hash, t.from_address, t.to_address, t.contract_address),
            *(t.value, t.gas_price, t.gas_used, t.status),
            *(_stored_form(getattr(t, name)) for name in _LATER_FIELDS),
        )
    for log in block.logs:
        expected["emitter"][block.number, log.address] = ()


def _transfers(block: DecodedBlock, tokens: dict[bytes, Row]) -> Iterator[Transfer]:
    """As the indexer reads them: a token's transfers begin with the one it was found by."""
    found = [event for log in block.logs if (event := transfer_event(log)) is not None]
    duplicates = duplicate_wraps(found)
    for event in found:
        if event.token not in tokens:
            continue
        token_type, wraps, first_block, first_log = tokens[event.token]
        if (block.number, event.log_index) < (first_block, first_log or 0):
            continue
        if event.log_index not in duplicates and (wraps or event.shape not in WRAPPING):
            yield from transfers(event, token_type)


def _expect_trades(
    expected: _Rows, block: DecodedBlock, pools: dict[bytes, tuple[int, bytes, bytes]]
) -> None:
    for log in block.logs:
        swap = swap_event(log)
        if swap is None or swap.pool not in pools or block.number < pools[swap.pool][0]:
            continue
        _, token0, token1 = pools[swap.pool]
        maker = block.transactions[swap.transaction_index].from_address
        made = trade(swap, token0, token1)
        expected[block.number, swap.log_index] = (swap.transaction_index, swap.pool, maker, *made)


def _differences(name: str, expected: _Rows, stored: _Rows) -> Iterator[str]:
    for key in sorted(expected.keys() | stored.keys()):
        if name == "emitter" and key not in expected:
            continue  # contracts that contracts made stand there, too, which only traces show
        place = f"{name} {' '.join(map(_text, key))}"
        if key not in stored:
            yield f"{place} is missing"
        elif key not in expected:
            yield f"{place} is not the node's"
        else:
            for column, node_value, stored_value in zip(
                _COLUMNS[name], expected[key], stored[key], strict=True
            ):
                if node_value != stored_value:
                    stored_text = _text(stored_value)
                    yield f"{place}: {column} is {stored_text}, the node has {_text(node_value)}"


def _plain(row: Row) -> tuple[Any, ...]:
    return tuple(map(_plain_value, row))


def _plain_value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(bytes, value))
    return bytes(value) if isinstance(value, memoryview) else value


def _stored_form(value: int | bytes | tuple[bytes, ...] | None) -> bytes | tuple[bytes, ...] | None:
    return integer(value) if isinstance(value, int) else value


def _text(value: Any) -> str:
    return to_hex(value) if isinstance(value, bytes) else str(value)
