"""Parquet files of one table each: compression, writing, reading."""

import os
from collections.abc import Mapping
from pathlib import Path

import pyarrow
from pyarrow import parquet

from scan.extensions.exports.parquet_columns import ColumnFormat, schema
from scan.extensions.exports.whole_file import whole_file

COMPRESSION = "zstd"


def write_file(path: Path, table: pyarrow.Table) -> None:
    """Write a file that is whole or absent, even where several processes write it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, f".{os.getpid()}-{os.urandom(4).hex()}") as file:
        parquet.write_table(table, file, compression=COMPRESSION)


def read_file(path: Path, kind: Mapping[str, ColumnFormat]) -> pyarrow.Table:
    """Return a file's rows; raises ValueError where the file has other columns."""
    table = parquet.ParquetFile(path).read()
    if not table.schema.equals(schema(kind)):
        raise ValueError(f"{path} has other columns than its kind of row")
    return table
