"""Parquet and CSV files of a table's rows: whole or absent, with one batch in memory."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Protocol

from pyarrow import parquet

from scan.ethereum import column_types
from scan.ethereum.blocks import BLOCK_COLUMNS, TRANSACTION_COLUMNS
from scan.extensions.exports import csv_format
from scan.extensions.exports.parquet_columns import UINT256, ColumnFormat, make_table, schema
from scan.extensions.exports.parquet_files import COMPRESSION
from scan.extensions.exports.table_rows import Values
from scan.extensions.exports.whole_file import whole_file

PARQUET, CSV = "parquet", "csv"
FORMATS = (PARQUET, CSV)
# Columns of bytes that hold unsigned integers.
_INTEGERS = frozenset(
    name
    for name, column in (BLOCK_COLUMNS | TRANSACTION_COLUMNS).items()
    if column.type == column_types.UNSIGNED
)

Columns = Mapping[str, ColumnFormat]


class RowWriter(Protocol):
    def write(self, values: Values) -> None: ...

    def close(self) -> None: ...


@contextmanager
def new_file(path: Path, columns: Columns) -> Iterator[RowWriter]:
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = _Csv if path.suffix == f".{CSV}" else _Parquet
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
        self._file.write(csv_format.lines([[*columns]]))

    def write(self, values: Values) -> None:
        cells = [
            [_cell(name, column, value) for value in values[name]]
            for name, column in self._columns.items()
        ]
        self._file.write(csv_format.lines(zip(*cells, strict=True)))

    def close(self) -> None:
        pass


def _cell(name: str, column: ColumnFormat, value: object) -> csv_format.Cell:
    if isinstance(value, bytes):
        if name in _INTEGERS and column.type != UINT256:
            return int.from_bytes(value)
        return f"0x{value.hex()}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(f"0x{item.hex()}" for item in value)
    if isinstance(value, str):
        return value if value.isdecimal() and value.isascii() else csv_format.text(value)
    assert value is None or isinstance(value, int)
    return value
