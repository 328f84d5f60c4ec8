"""The comparison of indexed rows with blocks of another source, such as the node's, and of these
with the roots in headers."""

import math
import random
import threading
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from scan.cached_values import LazyMapping
from scan.database import connection, transaction
from scan.ethereum import block_decoder, client, column_types, events
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
_OF_SWAP = (*_OF_LOG, "transaction_index", "pool_address", "maker", "dex_id")
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
# Contracts with Transfers of no life of a token: each but those of CLAIMS makes a contract one.
UNKNOWN_TOKENS = "tokens"
# These are not compared in blocks that were traced and that the node cannot trace now.
OF_TRACES = "internal_transfers", "contract_creations", "log_emitters"


class Expected(NamedTuple):
    """Blocks with which rows are compared, those of them whose traces are unknown now, though they
    were traced when they were indexed, and what is wrong with others, in words."""

    blocks: Sequence[block_rows.FetchedBlock]
    untraced: Collection[int] = ()
    faults: Sequence[str] = ()


class Comparison(ABC):
    """Compares ranges of blocks of one database with blocks of another source."""

    owner: str  # of these blocks, in words

    def __init__(self, database: connection.Database | transaction.Transaction) -> None:
        self._database = database
        self._logs = block_rows.read_stored(database)
        rows = database.rows("queries/filled_tables_list", tables=[*block_rows.WRITTEN])
        self._incomplete: dict[str, int] = dict(rows)
        self.compared = 0
        self.differing: set[str] = set()  # tables

    @abstractmethod
    def _expected_blocks(self, first: int, last: int) -> Expected:
        """Return the blocks with which these are compared."""

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
        fetched, unknown, faults = self._expected_blocks(first, last)
        yield from faults
        expected = self._expected(fetched)
        present = {block.block.number for block in fetched}
        for name, entity in ENTITIES.items():
            rows = self._database.rows(f"audit/{name}_get_rows", block_from=first, block_to=last)
            number = "number" if name == "blocks" else "block_number"
            are_all = len(present) > last - first  # a wrong number of a block is a difference, too
            compared = (row for (row,) in rows if are_all or row[number] in present)
            stored = _rows_by_key(entity, compared)
            other_rows = _rows_by_key(entity, map(_as_stored, expected[name]))
            # Columns that a migration added are not compared where older rows have null.
            added = [column for column, of in entity.columns.items() if of.added_by]
            for key in other_rows.keys() & stored.keys() if added else ():
                for column in added:
                    if stored[key][column] is None:
                        del other_rows[key][column]
            for of in (other_rows, stored) if unknown else ():
                for key, row in [*of.items()]:  # it may follow from a trace that is not given now
                    is_of_traces = name in OF_TRACES or (name == "credits" and row["type"] == BURN)
                    if is_of_traces and row["block_number"] in unknown:
                        del of[key]
            if (begin := self._incomplete.get(name)) is not None:  # rows before it may be missing
                other_rows = {
                    key: row
                    for key, row in other_rows.items()
                    if key in stored or row["block_number"] >= begin
                }
            for line in _differences(name, entity, other_rows, stored, self.owner):
                self.differing.add(name)
                yield line
        for row in expected[UNKNOWN_TOKENS]:
            self.differing.add(UNKNOWN_TOKENS)
            yield (
                f"token {to_hex(row['address'])}: its Transfer in block {row['block_number']}, log"
                f" {row['log_index']}, counts nowhere"
            )
        self.compared += len(fetched)

    def _expected(self, fetched: Sequence[block_rows.FetchedBlock]) -> dict[str, list[_Row]]:
        """Return the rows of each table, as the indexer makes them of these blocks."""
        expected: dict[str, list[_Row]] = {name: [] for name in ENTITIES}
        made = block_rows.stored_rows(self._database, fetched, self._logs)
        for rows in made:
            # What was proven when a block was indexed may not be so now.
            expected["blocks"].append({n: rows.block[n] for n in BLOCK_COLUMNS if n != "unproven"})
            tables = {name: block_rows.UNNUMBERED[name] for name in rows.unnumbered}
            for name, columns, of_block in (
                ("transactions", block_rows.TRANSACTION_COLUMNS, rows.transactions),
                (OF_TRACES[0], block_rows.INTERNAL_TRANSFER_COLUMNS, rows.internal_transfers),
                *((name, tables[name], of_table) for name, of_table in rows.unnumbered.items()),
            ):
                if name in expected:
                    expected[name] += [dict(zip(columns, row, strict=True)) for row in of_block]
            for values in rows.logs:
                log = dict(zip(block_rows.LOG_COLUMNS, values, strict=True))
                log["topics"] = (log.pop("topic0") or b"") + log["topics"]
                expected["logs"].append(log)
        blocks = [block.block for block in fetched]
        return expected | events_of(self._database, blocks, made)


class Check(Enum):
    """What is done with the node's blocks that contradict themselves."""

    NONE = "they are compared as they are"
    REPORT = "they are faults"
    REQUIRE = "they are read again, and then raise MalformedBlock"


class NodeComparison(Comparison):
    """Compares blocks with the node's. Raises NodeError or MalformedBlock if the node fails."""

    owner = "the node"

    def __init__(
        self,
        database: connection.Database | transaction.Transaction,
        node: client.Node,
        settings: Settings,
        check: Check = Check.REPORT,
    ) -> None:
        super().__init__(database)
        self._check = check
        self._source = block_source.BlockSource(node, traces="off")
        self._traces = hooks.make_trace_reader(node, threading.Lock(), traces=settings.traces)
        self.unproven: Counter[str] = Counter()  # blocks, by what no hash proves
        self.untraced = 0  # blocks that the node could not trace

    def _expected_blocks(self, first: int, last: int) -> Expected:
        rows = self._database.rows("audit/blocks_list_traced", block_from=first, block_to=last)
        stored = {number: (is_traced, frozenset(known)) for number, is_traced, known in rows}
        blocks: list[block_rows.FetchedBlock] = []
        untraced: set[int] = set()
        faults: list[str] = []
        for number, (header, receipts) in enumerate(
            self._source.raw_blocks(first, last, checked=self._check is Check.REQUIRE), start=first
        ):
            header = read_json(header, BlockJson, number)
            receipts = read_json(receipts, ReceiptsJson, number)
            if self._check is Check.REPORT:
                verdict = self._source.checker.check(number, header, receipts)
                if contradiction := verdict.contradiction:
                    faults.append(
                        f"block {number}: the node's block contradicts itself ({contradiction})"
                    )
                self.unproven.update(verdict.unproven)
            block = block_decoder.decode_block(header, receipts, number, self._source.chain_id())
            block = self._source.complete(block, header)
            traced = self._traces.read([block])[0]
            if traced.is_complete is False:
                self.untraced += 1
            is_traced, known = stored.get(number, (False, frozenset[int]()))
            if not is_traced and not known:
                traced = self._traces.without_traces(block)
            elif traced.is_complete is False if is_traced else traced.known != known:
                untraced.add(number)
            failed = traced.failed if is_traced or not known else traced.failed & known
            block = block.with_traces(failed, known)
            blocks.append(block_rows.FetchedBlock(block, *traced[:3], traced.destroyed))
        return Expected(blocks, untraced, faults)

    def _expected(self, fetched: Sequence[block_rows.FetchedBlock]) -> dict[str, list[_Row]]:
        expected = super()._expected(fetched)
        for row in expected["blocks"] if self._check is Check.NONE else ():
            del row["size"]  # which is computed by the check, as some nodes say another
        return expected


def events_of(
    database: connection.Database | transaction.Transaction,
    blocks: Sequence[DecodedBlock],
    made: Sequence[block_rows.TableRows],
) -> dict[str, list[_Row]]:
    """Return the rows of transfers and trades in blocks, of which `made` are the other rows: tokens
    and pools are those that the index has. Also the first event of each that it should have."""
    addresses = {log.address for block in blocks for log in block.contract_logs}
    tokens: dict[bytes, list[transaction.Row]] = defaultdict(list)
    for address, *life in database.rows("audit/tokens_list_types", addresses=list(addresses)):
        tokens[bytes(address)].append(tuple(life))
    swapped = [swap.pool for rows in made for swap, _ in rows.swaps]
    pools = {
        bytes(address): (number, bytes(token0), bytes(token1), dex_id)
        for address, number, token0, token1, dex_id in database.rows(
            "audit/pools_list", addresses=swapped
        )
    }
    events_by_table: dict[str, list[_Row]] = {"token_transfers": [], "dex_trades": []}
    unknown: dict[bytes, _Row] = {}
    for rows in made:
        number = rows.block["number"]
        for event, _ in rows.transfers:
            lives = [*_lives_at(number, event, tokens)]
            for token_type, item_type, wraps_since, *_ in lives:
                is_wrapper = wraps_since is not None and number >= wraps_since
                if is_wrapper or event.shape not in events.WRAPPING:
                    for transfer in events.transfers(event, token_type, item_type):
                        row = {"block_number": number, **transfer._asdict()}
                        row["token_address"] = row.pop("token")
                        events_by_table["token_transfers"].append(row)
            if event.shape not in events.CLAIMS and not lives:
                at = {"block_number": number, "log_index": event.log_index}
                unknown.setdefault(event.token, {"address": event.token, **at})
        for swap, maker in rows.swaps:
            since, token0, token1, dex_id = pools.get(swap.pool, (math.inf, b"", b"", 0))
            if number >= since:
                indexes = swap.log_index, swap.transaction_index
                of_swap = (number, *indexes, swap.pool, maker, dex_id)
                row = dict(zip(_OF_SWAP, of_swap, strict=True))
                trade = events.trade(swap, token0, token1)._asdict()
                events_by_table["dex_trades"].append(row | trade)
    return events_by_table | {UNKNOWN_TOKENS: [*unknown.values()]}


_Lives = Mapping[bytes, Sequence[transaction.Row]]  # as audit/tokens_list_types has them


def _lives_at(number: int, event: events.TransferEvent, tokens: _Lives) -> Iterator[Any]:
    """Yield the token's life that an event is of, if any: each begins with the one by which it was
    discovered."""
    for life in tokens.get(event.token, ()):
        *_, first_block, first_log, end = life
        if (number, event.log_index) >= (first_block, first_log) and (end is None or number < end):
            yield life


def _rows_by_key(entity: Entity, rows: Iterable[_Row]) -> _Rows:
    """Return rows by their keys; a missing batch index counts as 0 in the key."""
    return {tuple([row[name] or 0 for name in entity.key]): row for row in rows}


def _as_stored(row: _Row) -> _Row:
    """Return a row with its values as PostgreSQL's JSON has them: bytes as \\x and hex digits."""
    return {
        name: f"\\x{value.hex()}"
        if value.__class__ is bytes
        else [f"\\x{hash_.hex()}" for hash_ in value]
        if value.__class__ in (tuple, list)
        else value
        for name, value in row.items()
    }


def _in_words(value: Any) -> Any:
    """Return a stored value with bytes as 0x and hex digits."""
    if isinstance(value, list):
        return [_in_words(item) for item in value]
    return "0" + value[1:] if isinstance(value, str) and value[:2] == "\\x" else value


def _differences(
    name: str, entity: Entity, expected: _Rows, stored: _Rows, owner: str
) -> Iterator[str]:
    for key in sorted(expected.keys() | stored.keys()):
        expected_row, row = expected.get(key), stored.get(key)
        if expected_row is not None and row is not None and expected_row.items() <= row.items():
            continue  # most rows
        row_name = f"{name} {' '.join(str(_in_words(value)) for value in key)}"
        if row is None:
            yield f"{row_name} is missing"
        elif expected_row is None:
            yield f"{row_name} is not {owner}'s"
        else:
            for column, value in expected_row.items():
                if row[column] != value and column not in entity.key:
                    words = f"{column} is {_in_words(row[column])}, {owner} has {_in_words(value)}"
                    yield f"{row_name}: {words}"
