"""Parquet and CSV files of a table's rows, whole or absent: rows are read by ranges of blocks, in
batches of about ROWS_AT_ONCE, of which one is in memory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import IO, NamedTuple

from pyarrow import parquet

from scan.cached_values import LazyMapping, LazySequence
from scan.database import lists, statements
from scan.database.connection import Database
from scan.ethereum import column_types
from scan.ethereum.blocks import BLOCK_COLUMNS, TRANSACTION_COLUMNS
from scan.extensions.exports import csv_columns
from scan.extensions.exports.parquet import (
    COMPRESSION,
    KINDS,
    TEXT,
    UINT256,
    ColumnFormat,
    make_table,
    schema,
)
from scan.files import whole_file

ROWS_AT_ONCE = 10_000

# Tokens are no part of a range of blocks: their file has them as they are at the end of an export.
TOKENS = "tokens"
TOKEN_COLUMNS: Mapping[str, ColumnFormat] = LazyMapping(
    lambda: {
        "address": KINDS["token_transfers"]["token_address"],
        "type": ColumnFormat(TEXT),
        "name": ColumnFormat(TEXT),
        "symbol": ColumnFormat(TEXT),
        "decimals": KINDS["token_transfers"]["log_index"]._replace(is_nullable=True),
        # Decimal: what an NFT's holders hold may exceed a uint256.
        "total_supply": ColumnFormat(TEXT),
        "holder_count": KINDS["blocks"]["number"],
        "transfer_count": KINDS["blocks"]["number"],
    }
)
# Files have columns that tables have not, such as what is a builder's of a validator's index.
EXPORTED: Mapping[str, Mapping[str, ColumnFormat]] = LazyMapping(
    lambda: {
        **KINDS,
        "withdrawals": {
            **KINDS["withdrawals"],
            "builder_index": KINDS["withdrawals"]["validator_index"]._replace(is_nullable=True),
        },
    }
)
# Tables whose rows exports/blocks_count_rows counts for each block, in the order of its columns.
_COUNTED: Sequence[str] = LazySequence(
    lambda: (
        *"""
    transactions internal_transfers withdrawals token_transfers dex_trades logs credits uncles
    """.split(),
        *(name for name, entity in lists.all_entities().items() if entity.is_sparse),
    )
)
RANGE_TABLES: Sequence[str] = LazySequence(lambda: ("blocks", *_COUNTED))
TABLES: Sequence[str] = LazySequence(lambda: (*RANGE_TABLES, TOKENS))

Values = dict[str, list[object]]


class BlockRows(NamedTuple):
    """A block, with the number of its rows by table."""

    number: int
    hash: bytes
    parent_hash: bytes
    counts: dict[str, int]


def columns_of(table: str) -> dict[str, ColumnFormat]:
    return dict(TOKEN_COLUMNS if table == TOKENS else EXPORTED[table])


def count_rows(database: Database, block_from: int, block_to: int) -> list[BlockRows]:
    return [
        BlockRows(
            number, bytes(block_hash), bytes(parent_hash), dict(zip(_COUNTED, counts, strict=True))
        )
        for number, block_hash, parent_hash, *counts in database.rows(
            "exports/blocks_count_rows", block_from=block_from, block_to=block_to
        )
    ]


def range_rows(database: Database, table: str, blocks: Sequence[BlockRows]) -> Iterator[Values]:
    """Yield the table's rows of consecutive blocks in batches, as values by column; a uint256 is an
    int."""
    for first, last in _batches(table, blocks):
        rows = database.rows(
            f"exports/{table}_get_range",
            columns=statements.identifiers(EXPORTED[table]),
            block_from=first,
            block_to=last,
        )
        yield _values(table, rows)


def _batches(table: str, blocks: Sequence[BlockRows]) -> Iterator[tuple[int, int]]:
    """Yield the first and last numbers of ranges of blocks with about ROWS_AT_ONCE rows each."""
    first, rows = 0, 0
    for index, block in enumerate(blocks):
        rows += block.counts.get(table, 1)
        is_last = index == len(blocks) - 1
        if is_last or rows >= ROWS_AT_ONCE:
            if rows:
                yield blocks[first].number, block.number
            first, rows = index + 1, 0


def token_rows(database: Database) -> Iterator[Values]:
    after = b""
    while rows := database.rows("exports/tokens_get_after", after=after, limit=ROWS_AT_ONCE):
        yield _values(TOKENS, rows)
        after = bytes(rows[-1][0])


def _values(table: str, rows: Sequence[tuple[object, ...]]) -> Values:
    columns = columns_of(table)
    by_column = zip(*rows, strict=True) if rows else ((),) * len(columns)
    return {
        name: [_value(value, column) for value in values]
        for (name, column), values in zip(columns.items(), by_column, strict=True)
    }


def _value(value: object, column: ColumnFormat) -> object:
    if value is None:
        return None
    if column.type == UINT256:
        return int(str(value))
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list):
        return [bytes(item) for item in value]
    return value


# Columns of bytes that hold unsigned integers.
_INTEGERS = frozenset(
    name
    for name, column in (BLOCK_COLUMNS | TRANSACTION_COLUMNS).items()
    if column.type == column_types.UNSIGNED
)

Columns = Mapping[str, ColumnFormat]


@contextmanager
def new_file(path: Path, columns: Columns) -> Iterator["_Csv | _Parquet"]:
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = _Csv if path.suffix == ".csv" else _Parquet
    with whole_file(path) as file, closing(kind(file, columns)) as writer:
        yield writer


class _Parquet:
    """A Parquet file, with a row group for each batch."""

    def __init__(self, file: IO[bytes], columns: Columns) -> None:
        self._columns = columns
        self._writer = parquet.ParquetWriter(file, schema(columns), compression=COMPRESSION)

    def write(self, values: Values) -> None:
        self._writer.write_table(make_table(self._columns, values))

    def close(self) -> None:
        self._writer.close()


class _Csv:
    """A CSV file for programs: integers in digits, bytes in hex, lists separated by spaces, null as
    an empty cell."""

    def __init__(self, file: IO[bytes], columns: Columns) -> None:
        self._file = file
        self._columns = columns
        self._file.write(csv_columns.lines([[*columns]]))

    def write(self, values: Values) -> None:
        cells = [
            [_cell(name, column, value) for value in values[name]]
            for name, column in self._columns.items()
        ]
        self._file.write(csv_columns.lines(zip(*cells, strict=True)))

    def close(self) -> None:
        pass


def _cell(name: str, column: ColumnFormat, value: object) -> csv_columns.Cell:
    if isinstance(value, bytes):
        if name in _INTEGERS and column.type != UINT256:
            return int.from_bytes(value)
        return f"0x{value.hex()}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(f"0x{item.hex()}" for item in value)
    if isinstance(value, str):
        return value if value.isdecimal() and value.isascii() else csv_columns.text(value)
    assert value is None or isinstance(value, int)
    return value
