"""The public export of Sourcify's repository: tables of the Verifier Alliance's database, and its
own, as Parquet files (docs.sourcify.dev/docs/repository/download-dataset).

Input: a folder with files such as code/code_0_100000.parquet, or with all of them in itself; the
older form's end in _zstd.parquet, and its manifest.json lists them. Output: rows, some at a time,
by statements of DuckDB in sql/parquet_export. Files are not trusted: that none is missing, and the
columns and types of each are checked before a row is read, and what DuckDB holds is bounded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import duckdb
import msgspec
from tqdm import tqdm

from scan.cached_values import json_decoder
from scan.database.connection import Database
from scan.database.statements import duckdb_text
from scan.database.transaction import Transaction
from scan.errors import ScanError
from scan.extensions.contract_details.contract_page import clean
from scan.files import file_errors, temporary_folder

MEMORY = "768MB"
THREADS = 2
MAX_MANIFEST_BYTES = 16 * 1024 * 1024
BYTES, TEXT, FLAG, ID = ("BLOB",), ("VARCHAR",), ("BOOLEAN",), ("VARCHAR", "UUID")
INTEGER = ("BIGINT", "INTEGER", "UBIGINT", "HUGEINT")
JSON = ("VARCHAR", "JSON")
COLUMNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "code": {"code_hash": BYTES, "code_hash_keccak": BYTES},
    "contracts": {"id": ID, "runtime_code_hash": BYTES},
    "contract_deployments": {"id": ID, "chain_id": INTEGER, "address": BYTES, "contract_id": ID},
    "verified_contracts": {
        "deployment_id": ID,
        "compilation_id": ID,
        "runtime_match": FLAG,
        "creation_match": FLAG,
        "runtime_metadata_match": FLAG,
        "creation_metadata_match": FLAG,
    },
    "compiled_contracts": {
        "id": ID,
        "version": TEXT,
        "fully_qualified_name": TEXT,
        "compiler_settings": JSON,
        "compilation_artifacts": JSON,
    },
    "compiled_contracts_sources": {"compilation_id": ID, "path": TEXT, "source_hash": BYTES},
    "sources": {"source_hash": BYTES, "content": TEXT},
    "signatures": {"signature_hash_32": BYTES, "signature": TEXT},
}


class _Manifest(msgspec.Struct):
    files: dict[str, list[str]]


class ParquetExport:
    """The files of some tables of an export, by table and in their order, and a session of DuckDB
    that reads them. Raises ScanError, which names the file, for what cannot be read."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, files: Mapping[str, Sequence[Path]]
    ) -> None:
        self.files = files
        self._connection = connection

    def run(self, statement: str, **params: object) -> None:
        with _named(params):
            self._connection.execute(duckdb_text(statement), params or None)

    def rows(
        self, statement: str, batch_rows: int, **params: object
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a statement, at most `batch_rows` at once, while others may be run."""
        with _named(params), self._connection.cursor() as cursor:
            cursor.execute(duckdb_text(statement), params or None)
            while rows := cursor.fetchmany(batch_rows):
                yield rows


@contextmanager
def opened(folder: Path, tables: Sequence[str]) -> Iterator[ParquetExport]:
    """Yield the tables' files in a folder, once their names and columns are checked."""
    files = {table: _files(folder, table) for table in tables}
    _check_manifest(folder, files)
    config: dict[str, Any] = {
        "memory_limit": MEMORY,
        "threads": THREADS,
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with ExitStack() as stack:
        try:
            scratch = stack.enter_context(temporary_folder("scan-export-"))
            config["temp_directory"] = f"{scratch}/spill"
            connection = duckdb.connect(f"{scratch}/tables.duckdb", config=config)
        except (OSError, duckdb.Error) as error:
            raise ScanError(f"temporary files cannot be written: {error}") from None
        export = ParquetExport(stack.enter_context(connection), files)
        for table, paths in files.items():
            for path in paths:
                _check_columns(export, table, path)
        yield export


def unread(
    database: Database, paths: Sequence[Path], compared_with: object
) -> Iterator[tuple[Path, str]]:
    """Yield the files that were not read whole, or compared with something else then, with the
    state to note once they are."""
    before: dict[str, str] = dict(database.rows("parquet_files/read_export_files_list"))
    for path in tqdm(paths, unit=" files", disable=None):
        state = f"{path.stat().st_size} {compared_with}"
        if before.get(path.name) != state:
            yield path, state


def note_read(database: Database | Transaction, path: Path, state: str) -> None:
    database.rows("parquet_files/read_export_files_put", file=path.name, state=state)


def _files(folder: Path, table: str) -> list[Path]:
    """Return a table's files. Raises ScanError where rows between them are missing or twice."""
    name = re.compile(rf"{table}_(\d{{1,15}})_(\d{{1,15}})(?:_zstd)?\.parquet")
    ranges: list[tuple[int, int, Path]] = []
    with file_errors(folder):
        for path in chain(
            folder.iterdir(), *([sub.iterdir()] if (sub := folder / table).is_dir() else ())
        ):
            if (match := name.fullmatch(path.name)) and path.is_file():
                ranges.append((int(match[1]), int(match[2]), path))
    ranges.sort()
    if not ranges:
        example = f"{table}/{table}_0_100000.parquet"
        raise ScanError(f"{folder} has no file of the table {table}, such as {example}")
    for (_, end, path), (start, _, following) in pairwise([(0, 0, folder), *ranges]):
        if start != end:
            fault = "are missing before" if start > end else f"are in {path.name} and"
            raise ScanError(f"rows {min(start, end)} to {max(start, end)} {fault} {following.name}")
    if any(set(str(path)) & set("*?[") for _, _, path in ranges):
        raise ScanError(f"{folder}: the path of an export may not have any of * ? [")
    return [path for _, _, path in ranges]


def _check_manifest(folder: Path, files: Mapping[str, Sequence[Path]]) -> None:
    """Raise ScanError where a manifest lists a file that is not there. Its paths are compared, and
    never opened."""
    path = folder / "manifest.json"
    try:
        with file_errors(path):
            if not path.exists():
                return
            with path.open("rb") as file:
                manifest = json_decoder(_Manifest).decode(file.read(MAX_MANIFEST_BYTES))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise ScanError(f"{path} is not the manifest of an export") from None
    for table, paths in files.items():
        present = {file.name for file in paths}
        for listed in manifest.files.get(table, ()):
            if (name := listed.rpartition("/")[2]) not in present:
                raise ScanError(f"{path} lists {clean(name)}, which is not there")


def _check_columns(export: ParquetExport, table: str, path: Path) -> None:
    [columns] = [*export.rows("parquet_export/columns_list", 10_000, file=str(path))] or [[]]
    types = {name: type_ for name, type_, *_ in columns}
    for column, accepted in COLUMNS[table].items():
        if column not in types:
            raise ScanError(f"{path} has no column {column}")
        if types[column] not in accepted:
            type_ = clean(types[column])
            raise ScanError(f"{path}: the column {column} is {type_}, not {' or '.join(accepted)}")


@contextmanager
def _named(params: Mapping[str, object]) -> Iterator[None]:
    """Raise DuckDB's errors as a ScanError that names the file that was read."""
    try:
        yield
    except duckdb.Error as error:
        [reason, *_] = str(error).splitlines()
        file = params.get("file")
        raise ScanError(f"{file}: {reason}" if file else reason) from None
