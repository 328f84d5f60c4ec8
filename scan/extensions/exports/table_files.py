"""Parquet and CSV files of a table's rows, whole or absent: rows are read by ranges of blocks, in
batches of about ROWS_AT_ONCE, of which one is in memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from pyarrow.parquet import ParquetWriter

from scan.cached_values import LazyMapping, LazySequence
from scan.database import lists, statements
from scan.database.connection import Database
from scan.extensions.exports import csv_columns, parquet
from scan.files import whole_file
from scan.http import csv_text

ROWS_AT_ONCE = 10_000

# Tokens are no part of a range of blocks: their file has them as they are at the end of an export.
TOKENS = "tokens"
TOKEN_COLUMNS: Mapping[str, parquet.ColumnFormat] = LazyMapping(
    lambda: {
        "address": parquet.KINDS["token_transfers"]["token_address"],
        "type": parquet.ColumnFormat(parquet.TEXT),
        "name": parquet.ColumnFormat(parquet.TEXT),
        "symbol": parquet.ColumnFormat(parquet.TEXT),
        "decimals": parquet.KINDS["token_transfers"]["log_index"]._replace(is_nullable=True),
        # Decimal: what an NFT's holders hold may exceed a uint256.
        "total_supply": parquet.ColumnFormat(parquet.TEXT),
        "holder_count": parquet.KINDS["blocks"]["number"],
        "transfer_count": parquet.KINDS["blocks"]["number"],
    }
)
# Files have columns that tables have not, such as what is a builder's of a validator's index.
EXPORTED: Mapping[str, Mapping[str, parquet.ColumnFormat]] = LazyMapping(
    lambda: {
        **parquet.KINDS,
        "withdrawals": {
            **parquet.KINDS["withdrawals"],
            "builder_index": parquet.KINDS["withdrawals"]["validator_index"]._replace(
                is_nullable=True
            ),
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


def columns_of(table: str) -> dict[str, parquet.ColumnFormat]:
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


def _value(value: object, column: parquet.ColumnFormat) -> object:
    if value is None:
        return None
    if column.type == parquet.UINT256:
        return int(str(value))
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list):
        return [bytes(item) for item in value]
    return value


Columns = Mapping[str, parquet.ColumnFormat]


@contextmanager
def new_file(path: Path, columns: Columns) -> Iterator[Callable[[Values], object]]:
    """Yield what writes a batch to a new file: a row group of a Parquet file, or lines of a CSV
    file for programs: integers in digits, bytes in hex, lists separated by spaces, null as an empty
    cell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        if path.suffix == ".csv":
            file.write(csv_text.lines([[*columns]]))
            yield lambda values: file.write(_csv_lines(columns, values))
        else:
            schema = parquet.schema(columns)
            with ParquetWriter(file, schema, compression=parquet.COMPRESSION) as writer:
                yield lambda values: writer.write_table(parquet.make_table(columns, values))


def _csv_lines(columns: Columns, values: Values) -> bytes:
    cells = ([_cell(column, value) for value in values[name]] for name, column in columns.items())
    return csv_text.lines(zip(*cells, strict=True))


def _cell(column: parquet.ColumnFormat, value: object) -> csv_text.Cell:
    if isinstance(value, bytes):
        if column.is_unsigned:
            return int.from_bytes(value)
        return f"0x{value.hex()}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(f"0x{item.hex()}" for item in value)
    if isinstance(value, str):
        return csv_columns.stored(value)
    assert value is None or isinstance(value, int)
    return value
