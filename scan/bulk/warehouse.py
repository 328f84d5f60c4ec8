"""One DuckDB over the files of a backfill: statements of sql/bulk by name, within a memory limit.

What a statement derives is a table of its database file, whole or absent after SIGKILL.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
from duckdb.sqltypes import BLOB, HUGEINT, VARCHAR

from scan.database.statements import load_statements, render
from scan.exports.columns import (
    ADDRESS,
    BYTES,
    HASH,
    HASHES,
    LIMB_BITS,
    UINT256,
    ColumnFormat,
    limb_names,
)
from scan.settings import ROOT

FILE = "derived.duckdb"
MACROS = (
    *("bulk/macros_uint256_text", "bulk/macros_sum_text", "bulk/macros_bytea_text"),
    *("bulk/macros_bytea_array_text", "bulk/macros_csv_text"),
    *("bulk/macros_uint256", "bulk/macros_zero_address", "bulk/macros_all_blocks"),
    "bulk/macros_day_of",
    "bulk/macros_removed_first_transfer",
    "bulk/macros_in_bucket",
    "bulk/macros_in_partition",
)
KEY_HASHES = 1 << 64  # of in_bucket()
BATCH_ROWS = 2048  # of text; DuckDB's own chunk
_FUNCTION = re.compile(
    r"^CREATE OR REPLACE FUNCTION (?P<name>\w+)\((?P<params>[^)]*)\)\n?[^;]*?LANGUAGE sql[^;]*?"
    r"(?:\$\$(?P<rows>.*?)\$\$|\bRETURN (?P<value>[^;]*));",
    re.M | re.S,
)
WarehouseError = duckdb.Error  # such as one for memory or disk


class Warehouse:
    """DuckDB's database of one process at a time; each session is for one thread."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._defined: list[str] = []
        self._rows: dict[str, pyarrow.Table] = {}

    @staticmethod
    def open(folder: Path, *, memory_bytes: int, threads: int) -> "Warehouse":
        """Raises duckdb's IOException while another process has it."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE
        config = {
            "memory_limit": f"{memory_bytes}B",
            "threads": threads,
            "temp_directory": str(folder / "spill"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "arrow_large_buffer_size": True,  # lines of a batch may be longer than 2 GB
        }
        try:
            connection = duckdb.connect(str(path), config=config)
        except duckdb.IOException as error:
            if "not a valid DuckDB database file" not in str(error):
                raise
            path.unlink()  # SIGKILL came while it was made
            connection = duckdb.connect(str(path), config=config)
        connection.create_function(
            "integer_text", _integer_text, [HUGEINT] * 4, VARCHAR, type="native"
        )
        connection.create_function("price_order", _price_order, [HUGEINT] * 8, BLOB, type="native")
        warehouse = Warehouse(connection)
        for statement in MACROS:
            warehouse.define(statement)
        return warehouse

    def session(self) -> "Warehouse":
        """Open the same files and tables for another thread, within the same limits."""
        session = Warehouse(self._connection.cursor())
        for name, table in self._rows.items():
            session.set_rows(name, table)
        for statement in self._defined:
            session.define(statement)
        return session

    def define(self, statement: str) -> None:
        """Define a macro or view for this session, and for those that it begins."""
        self.run(statement)
        self._defined.append(statement)

    def define_function(self, name: str) -> None:
        """Make a macro of a function in sql/schema/, of the same text, for this session."""
        params, is_table, body = _functions()[name]
        kind = "TABLE " if is_table else ""
        self._connection.execute(
            f"CREATE OR REPLACE TEMPORARY MACRO {name}({params}) AS {kind}({body})"
        )

    def define_as_table(self, function: str, table: str) -> None:
        """Let a function without parameters read a table that was derived by it."""
        self._connection.execute(
            f"CREATE OR REPLACE TEMPORARY MACRO {function}() AS TABLE (FROM {table})"
        )

    def close(self) -> None:
        self._connection.close()

    def run(self, statement: str, **params: object) -> None:
        self._connection.execute(_text(statement), params or None)

    def rows(self, statement: str, **params: object) -> list[tuple[Any, ...]]:
        self.run(statement, **params)
        rows: list[tuple[Any, ...]] = self._connection.fetchall()
        return rows

    def arrow(self, statement: str, **params: object) -> pyarrow.Table:
        return self._connection.sql(_text(statement), params=params).to_arrow_table()

    def has_table(self, name: str) -> bool:
        with suppress(duckdb.CatalogException):
            self._connection.table(name)
            return True
        return False

    def make_table(self, name: str, statement: str, buckets: int, **params: object) -> None:
        """Of the statement's rows, a bucket of keys after the other: see bulk/macros_in_bucket.

        Whole or not at all, also after SIGKILL.
        """
        self._connection.begin()
        try:
            for bucket in range(buckets):
                first, end = (KEY_HASHES * number // buckets for number in (bucket, bucket + 1))
                self.run("bulk/bucket_set", first=first, last=end - 1)
                rows = self._connection.sql(_text(statement), params=params or None)
                if bucket == 0:
                    rows.create(name)
                else:
                    rows.insert_into(name)
            self._connection.commit()
        except BaseException:
            with suppress(duckdb.Error):
                self._connection.rollback()
            raise

    def set_rows(self, name: str, table: pyarrow.Table) -> None:
        """Let statements read rows under this name."""
        self._connection.register(name, table)
        self._rows[name] = table

    def set_files(self, kind: str, paths: Sequence[Path]) -> None:
        """Let statements read files, one after the other, as `kind`_files."""
        files = self._connection.read_parquet(
            [str(path) for path in paths], filename=True, file_row_number=True
        )
        files.create_view(f"{kind}_files")

    @contextmanager
    def copy_text(
        self, statement: str, table: str, columns: Mapping[str, ColumnFormat]
    ) -> Iterator[tuple[Sequence[str], "CsvReader"]]:
        """Columns of the statement's rows, and a file of them as PostgreSQL's CSV.

        The table and columns given stand where the statement has %(table)s and %(columns)s.

        Where DuckDB fails, the end of the block raises: until then the file just ended early.
        """
        expressions = ", ".join(map(_copied, columns, columns.values()))
        rows = self._connection.sql(_text(statement, table=table, columns=expressions))
        lines = rows.query("copied", _text("bulk/lines_copy"))
        # Not DuckDB's own COPY, whose threads spin while their file is a pipe that is full.
        with lines.to_arrow_reader(BATCH_ROWS) as batches:
            file = CsvReader(batches)
            yield rows.columns, file
        if file.failure:
            raise file.failure


class CsvReader:
    """A file of lines that DuckDB derives while they are read."""

    def __init__(self, batches: pyarrow.RecordBatchReader) -> None:
        """`batches` have lines in their only column."""
        self._batches = batches
        self._text = memoryview(b"")
        self.failure: duckdb.Error | None = None

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes, and none at the end."""
        try:
            while not self._text:
                [lines] = self._batches.read_next_batch().columns
                self._text = memoryview(lines.buffers()[-1] or b"")
        except StopIteration:
            return b""
        except Exception as error:  # of DuckDB, as pyarrow raises it; psycopg2 would hide it
            self.failure = WarehouseError(str(error))
            return b""
        text, self._text = self._text[:size], self._text[size:]
        return bytes(text)


def _text(statement: str, **texts: str) -> str:
    """Return a statement as DuckDB takes it: $name for a parameter whose text is not given."""
    loaded = load_statements()[statement]
    names: Mapping[str, str] = {name: f"${name}" for name in loaded.params} | texts
    return loaded.text % names if "%" in loaded.text else loaded.text


def _copied(name: str, column: ColumnFormat) -> str:
    """Return a column as text, by macros of sql/bulk; of a number or boolean DuckDB's own."""
    if column.type == UINT256:
        return f"uint256_text({', '.join(limb_names(name))}) AS {name}"
    if column.type == HASHES:
        return f"bytea_array_text({name}) AS {name}"
    return f"bytea_text({name}) AS {name}" if column.type in (ADDRESS, HASH, BYTES) else name


@functools.cache
def _functions() -> Mapping[str, tuple[str, bool, str]]:
    """Return parameters, whether rows are returned, and the body of each function in SQL."""
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "sql/schema").glob("*.sql"))]
    texts.append(render("schema/list_records.sql.j2"))
    return {
        match["name"]: (
            ", ".join(param.split()[0] for param in match["params"].split(",") if param),
            match["rows"] is not None,
            match["rows"] or match["value"],
        )
        for text in texts
        for match in _FUNCTION.finditer(text)
    }


def _price_order(  # DuckDB counts parameters
    a0: int, a1: int, a2: int, a3: int, b0: int, b1: int, b2: int, b3: int
) -> bytes:
    """Of two uint256 amounts, neither 0: what orders amount1 / amount0 exactly, since two of them
    differ by more than 2^-512."""
    amount0, amount1 = _integer((a0, a1, a2, a3)), _integer((b0, b1, b2, b3))
    return ((amount1 << 520) // amount0).to_bytes(97, "big")


def _integer_text(limb_0: int, limb_1: int, limb_2: int, limb_3: int) -> str:
    return str(_integer((limb_0, limb_1, limb_2, limb_3)))


def _integer(limbs: Sequence[int]) -> int:
    return sum(limb << (LIMB_BITS * index) for index, limb in enumerate(limbs))
