"""The comparison of indexed rows with the node's blocks, and of these with the roots in headers."""

import random
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scan.cached_values import LazyMapping, LazySequence
from scan.database import connection, transaction
from scan.ethereum import client, column_types, events
from scan.ethereum.block_decoder import decode_block
from scan.ethereum.blocks import (
    BLOCK_COLUMNS,
    TRANSACTION_COLUMNS,
    BlockJson,
    DecodedBlock,
    ReceiptsJson,
    read_json,
)
from scan.ethereum.forms.form import BURN
from scan.hex import to_hex
from scan.indexer import block_rows, block_source, hooks
from scan.settings import Settings

RANGE_BLOCKS = 20
NEWEST_BLOCKS = 100  # always compared, because reorgs affect these

_Row = dict[str, Any]  # by column
_Rows = dict[tuple[Any, ...], _Row]  # by key


class Entity(NamedTuple):
    """A table whose rows are determined by the node's blocks, and the columns of its key."""

    key: tuple[str, ...] = ("ordinal",)
    columns: Mapping[str, column_types.Column] = {}  # those that are annotated with a Column


_OF_LOG = "block_number", "log_index"
ENTITIES: Mapping[str, Entity] = LazyMapping(
    lambda: {
        "blocks": Entity(("number",), BLOCK_COLUMNS),
        "transactions": Entity(("block_number", "transaction_index"), TRANSACTION_COLUMNS),
        "internal_transfers": Entity(("block_number", "transaction_index", "transfer_index")),
        "token_transfers": Entity((*_OF_LOG, "batch_index")),
        "dex_trades": Entity(_OF_LOG),
        "logs": Entity(_OF_LOG),
        **{
            name: Entity()
            for name, columns in block_rows.UNNUMBERED.items()
            if "ordinal" in columns
            and (name in block_rows.WRITTEN or name not in block_rows.TABLES)
        },
        "withdrawals": Entity(("block_number", "withdrawal_index")),
        "log_emitters": Entity(("block_number", "address")),
    }
)
# These are not compared in blocks that were traced and that the node cannot trace now.
OF_TRACES = LazySequence(
    lambda: (
        *("internal_transfers", "contract_creations", "log_emitters"),
        *(name for name, table in block_rows.TABLES.items() if table.of_traces),
    )
)


class NodeComparison:
    """Compares ranges of blocks. Raises NodeError or MalformedBlock if the node fails."""

    def __init__(
        self,
        database: connection.Database | transaction.Transaction,
        node: client.Node,
        settings: Settings,
        *,
        checked: bool = False,
    ) -> None:
        """With `checked`, blocks of the node that contradict themselves are read again first."""
        self._checked = checked
        self._database = database
        self._source = block_source.BlockSource(node, traces="off")
        self._traces = hooks.make_trace_reader(node, threading.Lock(), traces=settings.traces)
        self._logs = block_rows.read_stored(database)
        rows = database.rows("queries/filled_tables_list", tables=[*block_rows.WRITTEN])
        self._incomplete: dict[str, int] = dict(rows)
        self.compared = 0
        self.unproven: Counter[str] = Counter()  # blocks, by what no hash proves
        self.untraced = 0  # blocks that the node could not trace

    def ranges(self, blocks: int, first_block: int = 0) -> list[tuple[int, int]]:
        """Return ranges of the newest blocks and of random older ones from `first_block` on,
        `blocks` in total, or of all blocks for 0."""
        row = self._database.row("audit/blocks_get_ends")
        if row is None:
            return []
        lowest, highest = row
        firsts = list(range(max(lowest, first_block), highest + 1, RANGE_BLOCKS))
        if blocks:
            newest = [f for f in firsts if f > highest - NEWEST_BLOCKS]
            older = firsts[: len(firsts) - len(newest)]
            older_count = max(0, -(-blocks // RANGE_BLOCKS) - len(newest))
            firsts = sorted(random.sample(older, min(older_count, len(older)))) + newest
        return [(first, min(first + RANGE_BLOCKS - 1, highest)) for first in firsts]

    def compare(self, first: int, last: int) -> Iterator[str]:
        """Yield one line per difference."""
        blocks = []
        for number, (header, receipts) in enumerate(
            self._source.raw_blocks(first, last, checked=self._checked), start=first
        ):
            header = read_json(header, BlockJson, number)
            receipts = read_json(receipts, ReceiptsJson, number)
            verdict = self._source.checker.check(number, header, receipts)
            if verdict.contradiction:
                reason = verdict.contradiction
                yield f"block {number}: the node's block contradicts itself ({reason})"
            self.unproven.update(verdict.unproven)
            block = decode_block(header, receipts, number, self._source.known_chain_id())
            block = self._source.complete(block, header)
            blocks.append(block)
        expected, unknown = self._expected(blocks)
        for name, entity in ENTITIES.items():
            rows = self._database.rows(f"audit/{name}_get_rows", block_from=first, block_to=last)
            stored = _rows_by_key(entity, (row for (row,) in rows))
            node_rows = _rows_by_key(entity, expected[name])
            _pass_over_older(entity, node_rows, stored)
            if unknown:
                node_rows, stored = (
                    {k: row for k, row in of.items() if not _is_unknown(name, row, unknown)}
                    for of in (node_rows, stored)
                )
            if (begin := self._incomplete.get(name)) is not None:  # rows before it may be missing
                node_rows = {
                    key: row
                    for key, row in node_rows.items()
                    if key in stored or row["block_number"] >= begin
                }
            yield from _differences(name, entity, node_rows, stored)
        self.compared += len(blocks)

    def _expected(self, blocks: list[DecodedBlock]) -> tuple[dict[str, list[_Row]], set[int]]:
        """Return the rows of each table, as the indexer makes them of the node's blocks, and the
        blocks that were traced when they were indexed and that the node could not trace now."""
        expected: dict[str, list[_Row]] = {name: [] for name in ENTITIES}
        rows = self._database.rows(
            "audit/blocks_list_traced", block_from=blocks[0].number, block_to=blocks[-1].number
        )
        has_traces: dict[int, bool] = dict(rows)
        unknown = set()
        made: list[block_rows.TableRows] = []
        for block in blocks:
            traced = self._traced(block)
            if traced.is_complete is False:
                self.untraced += 1
            if not has_traces.get(block.number):
                traced = self._traces.without_traces(block)
            elif traced.is_complete is False:
                unknown.add(block.number)
            fetched = block_rows.FetchedBlock(
                block.with_failed(traced.failed), *traced[:3], traced.destroyed
            )
            made.append(block_rows.table_rows(fetched, self._logs))
            _expect_rows(expected, made[-1])
        self._expect_events(expected, blocks, made)
        return expected, unknown

    def _traced(self, block: DecodedBlock) -> hooks.TracedBlock:
        # After this many failures the reader returns the block as untraced instead of raising.
        for _ in range(hooks.TRACE_ATTEMPTS - 1):
            with suppress(client.NodeError):
                return self._traces.read([block])[0]
        return self._traces.read([block])[0]

    def _expect_events(
        self,
        expected: dict[str, list[_Row]],
        blocks: list[DecodedBlock],
        made: list[block_rows.TableRows],
    ) -> None:
        # Tokens and pools are taken from the index; their events are compared.
        addresses = {log.address for block in blocks for log in block.contract_logs}
        tokens: dict[bytes, list[transaction.Row]] = defaultdict(list)
        for address, *life in self._database.rows(
            "audit/tokens_list_types", addresses=list(addresses)
        ):
            tokens[bytes(address)].append(tuple(life))
        pools = {
            bytes(row[0]): (row[1], bytes(row[2]), bytes(row[3]))
            for row in self._database.rows(
                "audit/pools_list", addresses=[swap.pool for rows in made for swap, _ in rows.swaps]
            )
        }
        for rows in made:
            number = rows.block["number"]
            for transfer in _transfers(number, rows, tokens):
                row = {"block_number": number, **transfer._asdict()}
                expected["token_transfers"].append(row | {"token_address": row.pop("token")})
            expected["dex_trades"] += _trades(number, rows, pools)


def _expect_rows(expected: dict[str, list[_Row]], rows: block_rows.TableRows) -> None:
    # What was proven when a block was indexed may not be so now.
    expected["blocks"].append({n: rows.block[n] for n in BLOCK_COLUMNS if n != "unproven"})
    for name, columns, of_block in (
        ("transactions", block_rows.TRANSACTION_COLUMNS, rows.transactions),
        ("internal_transfers", block_rows.INTERNAL_TRANSFER_COLUMNS, rows.internal_transfers),
        *(
            (name, block_rows.UNNUMBERED[name], of_table)
            for name, of_table in rows.unnumbered.items()
            if name != block_rows.BODIES
        ),
    ):
        expected[name] += [dict(zip(columns, row, strict=True)) for row in of_block]
    for *position, first_topic, address, topics, data in rows.logs:
        values = (*position, address, (first_topic or b"") + topics, data)
        expected["logs"].append(dict(zip(block_rows.LOG_COLUMNS, values, strict=True)))


def _is_unknown(name: str, row: _Row, unknown: Collection[int]) -> bool:
    """Return whether a row of a table follows from a trace that the node does not give now."""
    is_of_traces = name in OF_TRACES or (name == "credits" and row["type"] == BURN)
    return is_of_traces and row["block_number"] in unknown


def _transfers(
    number: int, rows: block_rows.TableRows, tokens: Mapping[bytes, Sequence[transaction.Row]]
) -> Iterator[events.Transfer]:
    """Yield transfers as the indexer stores them: those of a token's life begin with the one by
    which it was discovered."""
    for event, _ in rows.transfers:
        for token_type, item_type, wraps_since, *first, end in tokens.get(event.token, ()):
            if (number, event.log_index) < tuple(first) or (end is not None and number >= end):
                continue
            is_wrapper = wraps_since is not None and number >= wraps_since
            if is_wrapper or event.shape not in events.WRAPPING:
                yield from events.transfers(event, token_type, item_type)


def _trades(
    number: int, rows: block_rows.TableRows, pools: Mapping[bytes, tuple[int, bytes, bytes]]
) -> Iterator[_Row]:
    for swap, maker in rows.swaps:
        if swap.pool not in pools or number < pools[swap.pool][0]:
            continue
        _, token0, token1 = pools[swap.pool]
        yield {
            "block_number": number,
            "log_index": swap.log_index,
            "transaction_index": swap.transaction_index,
            "pool_address": swap.pool,
            "maker": maker,
            **events.trade(swap, token0, token1)._asdict(),
        }


def _pass_over_older(entity: Entity, expected: _Rows, stored: _Rows) -> None:
    """Leave columns that a migration added out of the comparison where older rows have null."""
    added = [name for name, column in entity.columns.items() if column.added_by]
    for key in expected.keys() & stored.keys() if added else ():
        for name in added:
            if stored[key][name] is None:
                del expected[key][name]


def _rows_by_key(entity: Entity, rows: Iterable[_Row]) -> _Rows:
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


def _differences(name: str, entity: Entity, expected: _Rows, stored: _Rows) -> Iterator[str]:
    for key in sorted(expected.keys() | stored.keys()):
        row_name = f"{name} {' '.join(map(str, key))}"
        if key not in stored:
            yield f"{row_name} is missing"
        elif key not in expected:
            yield f"{row_name} is not the node's"
        else:
            for column, node_value in expected[key].items():
                value = stored[key][column]
                if value != node_value and column not in entity.key:
                    yield f"{row_name}: {column} is {value}, the node has {node_value}"
