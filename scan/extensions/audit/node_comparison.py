"""The comparison of indexed rows with the node's blocks, and of these with the roots in headers."""

import random
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from scan.database.connection import Database
from scan.database.transaction import Row, Transaction
from scan.ethereum.block_decoder import decode_block
from scan.ethereum.blocks import (
    BLOCK_COLUMNS,
    TRANSACTION_COLUMNS,
    BlockJson,
    DecodedBlock,
    EventLog,
    ReceiptsJson,
    read_json,
)
from scan.ethereum.burns import burns_in
from scan.ethereum.client import Node, NodeError
from scan.ethereum.coin_transfers import contract_logs
from scan.ethereum.column_types import Column
from scan.ethereum.contract_creations import creations_in
from scan.ethereum.events import (
    WRAPPING,
    Transfer,
    duplicate_wraps,
    swap_event,
    trade,
    transfer_event,
    transfers,
)
from scan.ethereum.forms.form import BURN
from scan.hex import to_hex
from scan.indexer import log_selection
from scan.indexer.block_rows import WRITTEN
from scan.indexer.block_source import BlockSource
from scan.indexer.block_traces import (
    TRACE_ATTEMPTS,
    UNTRACED,
    TracedBlock,
    TraceReader,
    with_logged_transfers,
)
from scan.settings import Settings

RANGE_BLOCKS = 20
NEWEST_BLOCKS = 100  # always compared, because reorgs affect these

_Row = dict[str, Any]  # by column
_Rows = dict[tuple[Any, ...], _Row]  # by key


class Entity(NamedTuple):
    """A table whose rows are determined by the node's blocks, and the columns of its key."""

    statement: str
    key: tuple[str, ...]
    columns: Mapping[str, Column] = {}  # those that are annotated with a Column


_OF_LOG = "block_number", "log_index"
ENTITIES = {
    "block": Entity("audit/blocks_get_rows", ("number",), BLOCK_COLUMNS),
    "transaction": Entity(
        "audit/transactions_get_rows",
        ("block_number", "transaction_index"),
        TRANSACTION_COLUMNS,
    ),
    "emitter": Entity("audit/emitters_get_rows", ("block_number", "address")),
    "transfer": Entity("audit/token_transfers_get_rows", (*_OF_LOG, "batch_index")),
    "trade": Entity("audit/dex_trades_get_rows", _OF_LOG),
    "withdrawal": Entity("audit/withdrawals_get_rows", ("block_number", "withdrawal_index")),
    "credit": Entity("audit/credits_get_rows", ("ordinal",)),
    "uncle": Entity("audit/uncles_get_rows", ("ordinal",)),
    "authorization": Entity("audit/authorizations_get_rows", ("ordinal",)),
    "message to L1": Entity("audit/messages_to_l1_get_rows", ("ordinal",)),
    "contract creation": Entity("audit/contract_creations_get_rows", ("ordinal",)),
    "internal transfer": Entity(
        "audit/internal_transfers_get_rows", ("block_number", "transaction_index", "transfer_index")
    ),
    "log": Entity("audit/logs_get_rows", _OF_LOG),
    **{table: Entity(f"audit/{table}_get_rows", ("ordinal",)) for table in WRITTEN},
}


# These are not compared in blocks that were traced and that the node cannot trace now.
OF_TRACES = ("internal transfer", "contract creation")


class NodeComparison:
    """Compares ranges of blocks. Raises NodeError or MalformedBlock if the node fails."""

    def __init__(
        self,
        database: Database | Transaction,
        node: Node,
        settings: Settings,
        *,
        checked: bool = False,
    ) -> None:
        """With `checked`, blocks of the node that contradict themselves are read again first."""
        self._checked = checked
        self._database = database
        self._source = BlockSource(node, traces="off")
        self._traces = TraceReader(node, threading.Lock(), traces=settings.traces)
        self._logs = log_selection.read_stored(database)
        self.compared = 0
        self.unproven: Counter[str] = Counter()  # blocks, by what no hash proves
        self.untraced = 0  # blocks that the node could not trace

    def ranges(self, blocks: int) -> list[tuple[int, int]]:
        """Return ranges of the newest blocks and of random older ones, `blocks` in total, or of all
        blocks for 0."""
        row = self._database.row("audit/blocks_get_ends")
        if row is None:
            return []
        lowest, highest = row
        firsts = list(range(lowest, highest + 1, RANGE_BLOCKS))
        if blocks:
            newest = [f for f in firsts if f > highest - NEWEST_BLOCKS]
            older = firsts[: len(firsts) - len(newest)]
            older_count = max(0, -(-blocks // RANGE_BLOCKS) - len(newest))
            firsts = sorted(random.sample(older, min(older_count, len(older)))) + newest
        return [(first, min(first + RANGE_BLOCKS - 1, highest)) for first in firsts]

    def compare(self, first: int, last: int) -> Iterator[str]:
        """Yield one line per difference."""
        expected: dict[str, list[_Row]] = {name: [] for name in ENTITIES}
        blocks = []
        for number, (header, receipts) in enumerate(
            self._source.raw_blocks(first, last, checked=self._checked), start=first
        ):
            header = read_json(header, BlockJson, number)
            receipts = read_json(receipts, ReceiptsJson, number)
            yield from self._check(number, header, receipts)
            block = self._source.complete(decode_block(header, receipts, number), header)
            blocks.append(block)
            _expect_block(expected, block, filter(self._logs.stores, block.logs))
        self._expect_events(expected, blocks)
        unknown = self._expect_traced(expected, blocks)
        for name, entity in ENTITIES.items():
            rows = self._database.rows(entity.statement, block_from=first, block_to=last)
            stored = _by_key(entity, (row for (row,) in rows))
            node_rows = _by_key(entity, expected[name])
            _pass_over_older(entity, node_rows, stored)
            if name in OF_TRACES:
                stored = {k: row for k, row in stored.items() if row["block_number"] not in unknown}
            elif name == "credit":  # burns are of traces, too
                stored = {
                    key: row
                    for key, row in stored.items()
                    if row["type"] != BURN or row["block_number"] not in unknown
                }
            yield from _differences(name, node_rows, stored)
        self.compared += len(blocks)

    def _check(self, number: int, header: Any, receipts: Any) -> Iterator[str]:
        contradiction, unproven = self._source.checker.check(number, header, receipts)
        if contradiction:
            yield f"block {number}: the node's block contradicts itself ({contradiction})"
        self.unproven.update(unproven)

    def _expect_traced(
        self, expected: dict[str, list[_Row]], blocks: list[DecodedBlock]
    ) -> set[int]:
        """Add internal transfers, creations, withdrawals, and failures that only traces show.
        Return the blocks with traces that the node could not trace now."""
        first, last = blocks[0].number, blocks[-1].number
        rows = self._database.rows("audit/blocks_list_traced", block_from=first, block_to=last)
        has_traces: dict[int, bool] = dict(rows)
        unknown = set()
        failed: set[tuple[int, int]] = set()
        for block in blocks:
            traced = self._traced(block)
            in_block = {"block_number": block.number}
            expected["withdrawal"] += [in_block | w._asdict() for w in block.withdrawals or ()]
            if traced.is_complete is False:
                self.untraced += 1
            if not has_traces.get(block.number):
                traced = with_logged_transfers(block, UNTRACED)
            elif traced.is_complete is False:
                unknown.add(block.number)
                continue
            expected["credit"] += [b._asdict() for b in burns_in(block, traced.transfers)]
            expected["internal transfer"] += [in_block | t._asdict() for t in traced.transfers]
            failed |= {(block.number, index) for index in traced.failed}
            creations = creations_in(block.with_failed(traced.failed), traced.transfers)
            expected["contract creation"] += [creation._asdict() for creation in creations]
        for row in expected["transaction"]:
            if (row["block_number"], row["transaction_index"]) in failed:
                row |= {"status": False, "contract_address": None}
        return unknown

    def _traced(self, block: DecodedBlock) -> TracedBlock:
        # After this many failures the reader returns the block as untraced instead of raising.
        for _ in range(TRACE_ATTEMPTS - 1):
            with suppress(NodeError):
                return self._traces.read([block])[0]
        return self._traces.read([block])[0]

    def _expect_events(self, expected: dict[str, list[_Row]], blocks: list[DecodedBlock]) -> None:
        # Tokens and pools are taken from the index; their events are compared.
        addresses = {log.address for block in blocks for log in contract_logs(block)}
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
                row = {"block_number": block.number, **transfer._asdict()}
                expected["transfer"].append(row | {"token_address": row.pop("token")})
            expected["trade"] += _trades(block, pools)


def _expect_block(
    expected: dict[str, list[_Row]], block: DecodedBlock, stored_logs: Iterable[EventLog]
) -> None:
    in_block = {"block_number": block.number}
    # What was proven when a block was indexed may not be so now.
    expected["block"].append({n: getattr(block, n) for n in BLOCK_COLUMNS if n != "unproven"})
    expected["transaction"] += [in_block | t._asdict() for t in block.transactions]
    expected["credit"] += [credit._asdict() for credit in block.credits]
    expected["uncle"] += [uncle._asdict() for uncle in block.uncles]
    expected["authorization"] += [a._asdict() for a in block.authorizations]
    expected["message to L1"] += [message._asdict() for message in block.messages_to_l1]
    emitters = {log.address for log in block.logs}
    for name, table in WRITTEN.items():
        if not table.of_traces:
            rows = table.rows_of(block, (), emitters)
            expected[name] += [dict(zip(table.columns, row, strict=True)) for row in rows]
    expected["emitter"] += [in_block | {"address": address} for address in emitters]
    expected["log"] += [
        in_block | log._asdict() | {"topics": b"".join(log.topics)} for log in stored_logs
    ]


def _transfers(block: DecodedBlock, tokens: dict[bytes, Row]) -> Iterator[Transfer]:
    """Yield transfers as the indexer stores them: those of a token begin with the one by which the
    token was discovered."""
    events = [event for log in contract_logs(block) if (event := transfer_event(log)) is not None]
    duplicates = duplicate_wraps(events)
    for event in events:
        if event.token not in tokens:
            continue
        token_type, wraps, first_block, first_log = tokens[event.token]
        if (block.number, event.log_index) < (first_block, first_log or 0):
            continue
        if event.log_index not in duplicates and (wraps or event.shape not in WRAPPING):
            yield from transfers(event, token_type)


def _trades(block: DecodedBlock, pools: dict[bytes, tuple[int, bytes, bytes]]) -> Iterator[_Row]:
    for log in contract_logs(block):
        swap = swap_event(log)
        if swap is None or swap.pool not in pools or block.number < pools[swap.pool][0]:
            continue
        _, token0, token1 = pools[swap.pool]
        yield {
            "block_number": block.number,
            "log_index": swap.log_index,
            "transaction_index": swap.transaction_index,
            "pool_address": swap.pool,
            "maker": block.transactions[swap.transaction_index].from_address,
            **trade(swap, token0, token1)._asdict(),
        }


def _pass_over_older(entity: Entity, expected: _Rows, stored: _Rows) -> None:
    """Leave columns that a migration added out of the comparison where older rows have null."""
    added = [name for name, column in entity.columns.items() if column.added_by]
    for key in expected.keys() & stored.keys() if added else ():
        for name in added:
            if stored[key][name] is None:
                del expected[key][name]


def _by_key(entity: Entity, rows: Iterable[_Row]) -> _Rows:
    """Return rows by their keys; a missing batch index counts as 0 in the key."""
    plain = [{name: _plain(value) for name, value in row.items()} for row in rows]
    return {tuple(row[name] or 0 for name in entity.key): row for row in plain}


def _plain(value: Any) -> Any:
    """Return bytes, which PostgreSQL's JSON has as \\x, as 0x hex, and other values unchanged."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return to_hex(value)
    return "0" + value[1:] if isinstance(value, str) and value[:2] == "\\x" else value


def _differences(name: str, expected: _Rows, stored: _Rows) -> Iterator[str]:
    key_columns = ENTITIES[name].key
    for key in sorted(expected.keys() | stored.keys()):
        if name == "emitter" and key not in expected:
            continue  # contracts created by contracts, which are known only from traces
        row_name = f"{name} {' '.join(map(str, key))}"
        if key not in stored:
            yield f"{row_name} is missing"
        elif key not in expected:
            yield f"{row_name} is not the node's"
        else:
            for column, node_value in expected[key].items():
                value = stored[key][column]
                if value != node_value and column not in key_columns:
                    yield f"{row_name}: {column} is {value}, the node has {node_value}"
