"""The DuckDB database over the files of a backfill: statements of sql/bulk by name, in bounded
memory.

A derived table is a table of its database file, which after SIGKILL is whole or absent.
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

from scan.database.statements import duckdb_text, render
from scan.extensions.exports import parquet
from scan.settings import ROOT

FILE = "derived.duckdb"
MACROS = (
    "bulk/macros_uint256_text",
    "bulk/macros_sum_text",
    "bulk/macros_bytea_text",
    "bulk/macros_bytea_array_text",
    "bulk/macros_csv_text",
    "bulk/macros_uint256",
    "bulk/macros_zero_address",
    "bulk/macros_all_blocks",
    "bulk/macros_day_of",
    "bulk/macros_removed_first_transfer",
    "bulk/macros_in_bucket",
    "bulk/macros_in_partition",
)
KEY_HASHES = 1 << 64  # of in_bucket()
BATCH_ROWS = 2048  # of text; the size of DuckDB's own chunks
_FUNCTION = re.compile(
    r"^CREATE OR REPLACE FUNCTION (?P<name>\w+)\((?P<params>[^)]*)\)\n?[^;]*?LANGUAGE sql[^;]*?"
    r"(?:\$\$(?P<rows>.*?)\$\$|\bRETURN (?P<value>[^;]*));",
    re.M | re.S,
)
WarehouseError = duckdb.Error  # such as out of memory, or a full disk


class Warehouse:
    """A session of DuckDB for one thread. Only one process at a time may open the database."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._defined: list[str] = []
        self._rows: dict[str, pyarrow.Table] = {}

    @staticmethod
    def open(folder: Path, *, memory_bytes: int, threads: int) -> "Warehouse":
        """Open the database in a folder, or make it. Raises duckdb.IOException while another
        process has it open."""
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
            path.unlink()  # SIGKILL came while the file was made
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
        """Return a session for another thread, with the same files, tables and limits."""
        session = Warehouse(self._connection.cursor())
        for name, table in self._rows.items():
            session.set_rows(name, table)
        for statement in self._defined:
            session.define(statement)
        return session

    def define(self, statement: str) -> None:
        """Define a macro or view for this session, and for those that session() returns later."""
        self.run(statement)
        self._defined.append(statement)

    def define_function(self, name: str) -> None:
        """Define a macro from the text of a function in sql/schema/, for this session."""
        params, is_table, body = _functions()[name]
        kind = "TABLE " if is_table else ""
        macro = f"CREATE OR REPLACE TEMPORARY MACRO {name}({params}) AS {kind}({body})"
        self._connection.execute(macro)

    def define_as_table(self, function: str, table: str) -> None:
        """Let a function without parameters return the rows of a table that was derived from it."""
        macro = f"CREATE OR REPLACE TEMPORARY MACRO {function}() AS TABLE (FROM {table})"
        self._connection.execute(macro)

    def close(self) -> None:
        self._connection.close()

    def run(self, statement: str, **params: object) -> None:
        self._connection.execute(duckdb_text(statement), params or None)

    def rows(self, statement: str, **params: object) -> list[tuple[Any, ...]]:
        self.run(statement, **params)
        rows: list[tuple[Any, ...]] = self._connection.fetchall()
        return rows

    def arrow(self, statement: str, **params: object) -> pyarrow.Table:
        return self._connection.sql(duckdb_text(statement), params=params).to_arrow_table()

    def has_table(self, name: str) -> bool:
        with suppress(duckdb.CatalogException):
            self._connection.table(name)
            return True
        return False

    def make_table(self, name: str, statement: str, buckets: int, **params: object) -> None:
        """Make a table of the statement's rows, one bucket of keys after another: see
        bulk/macros_in_bucket. It is made whole or not at all, even after SIGKILL.
        """
        self._connection.begin()
        try:
            for bucket in range(buckets):
                first, end = (KEY_HASHES * number // buckets for number in (bucket, bucket + 1))
                self.run("bulk/bucket_set", first=first, last=end - 1)
                rows = self._connection.sql(duckdb_text(statement), params=params or None)
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
        """Let statements read the rows of `table` as `name`."""
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
        self, statement: str, table: str, columns: Mapping[str, parquet.ColumnFormat]
    ) -> Iterator[tuple[Sequence[str], "CopyReader"]]:
        """Yield the columns of the statement's rows, and a file of the rows as PostgreSQL's CSV.

        `table` and `columns` replace %(table)s and %(columns)s in the statement. Where DuckDB
        fails, the file ends early, and the end of the `with` block raises WarehouseError.
        """
        expressions = ", ".join(map(_copied, columns, columns.values()))
        rows = self._connection.sql(duckdb_text(statement, table=table, columns=expressions))
        lines = rows.query("copied", duckdb_text("bulk/lines_copy"))
        # DuckDB's own COPY is not used: its threads spin while their file is a full pipe.
        with lines.to_arrow_reader(BATCH_ROWS) as batches:
            file = CopyReader(memoryview(batch[0].buffers()[-1] or b"") for batch in batches)
            yield rows.columns, file
        if file.failure:
            raise file.failure


class CopyReader:
    """A file for COPY of pieces, each of some rows, that are derived while they are read."""

    def __init__(self, pieces: Iterator[bytes | memoryview]) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")
        self.failure: duckdb.Error | None = None

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes, b"" at the end or after a failure."""
        try:
            while not self._piece:
                self._piece = memoryview(next(self._pieces))
        except StopIteration:
            return b""
        except Exception as error:  # DuckDB's error by way of pyarrow; psycopg2 would hide it
            self.failure = WarehouseError(str(error))
            return b""
        start, self._piece = self._piece[:size], self._piece[size:]
        return bytes(start)


def _copied(name: str, column: parquet.ColumnFormat) -> str:
    """Return the expression of a column as text, by macros of sql/bulk where DuckDB's own text is
    not PostgreSQL's."""
    if column.type == parquet.UINT256:
        return f"uint256_text({', '.join(parquet.limb_names(name))}) AS {name}"
    if column.type == parquet.HASHES:
        return f"bytea_array_text({name}) AS {name}"
    is_bytea = column.type in (parquet.ADDRESS, parquet.HASH, parquet.BYTES)
    return f"bytea_text({name}) AS {name}" if is_bytea else name


@functools.cache
def _functions() -> Mapping[str, tuple[str, bool, str]]:
    """Return each SQL function of the schema by name: its parameters, whether it returns rows, and
    its body."""
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
    """Return bytes that sort as amount1 / amount0, given the limbs of two amounts that are not 0.
    It is exact: two such quotients differ by more than 2^-512."""
    amount0, amount1 = _integer((a0, a1, a2, a3)), _integer((b0, b1, b2, b3))
    return ((amount1 << 520) // amount0).to_bytes(97, "big")


def _integer_text(limb_0: int, limb_1: int, limb_2: int, limb_3: int) -> str:
    return str(_integer((limb_0, limb_1, limb_2, limb_3)))


def _integer(limbs: Sequence[int]) -> int:
    return sum(limb << (parquet.LIMB_BITS * index) for index, limb in enumerate(limbs))
