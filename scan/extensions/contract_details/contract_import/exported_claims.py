"""The import of the public export: what it claims of this chain's contracts, into tables of claims.

Input: the export's files and the chain's id. Output: rows of exported_contracts and of the tables
of their compilations, paths and sources, each read by one pass over the files of a table, which
takes only what the rows of the pass before need. A file that was read whole is noted with its size
and how much it was compared with: an interrupted import goes on, and a newer export is added to it.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec
import orjson

from scan.cached_values import json_decoder
from scan.database import transaction
from scan.database.connection import Database
from scan.errors import TooLarge
from scan.extensions.contract_details import parquet_export
from scan.extensions.contract_details.contract_page import clean
from scan.json_bodies import parse_json
from scan.observability.logs import print_lines
from scan.verification.request import MAX_SOURCE_BYTES

TABLES = (
    "code",
    "contracts",
    "contract_deployments",
    "verified_contracts",
    "compiled_contracts",
    "compiled_contracts_sources",
    "sources",
)
BATCH_ROWS = 10_000
LARGE_ROWS = 20  # of which each has up to 1 MiB of sources, or 16 MiB of artifacts
MAX_PATH = 1_000  # bytes
CONTRACTS, COMPILATIONS, FILES, SOURCES = range(4)  # columns of exported_rows_count
Pass = Callable[[str], int]
Rows = list[transaction.Row]
Pair = tuple[str, str]  # of statements


class _Input(msgspec.Struct):
    type: str
    name: str = ""


class _Entry(msgspec.Struct):
    """What is read of an entry of an ABI."""

    type: str
    name: str = ""
    inputs: list[_Input] = []
    outputs: list[_Input] | None = None


class _Artifacts(msgspec.Struct):
    abi: msgspec.Raw = msgspec.Raw(b"null")


class ExportedClaims:
    """An import from an export into a database. `skipped` counts what was left out, by reason."""

    def __init__(
        self, database: Database, export: parquet_export.ParquetExport, chain_id: int
    ) -> None:
        self.skipped: Counter[str] = Counter()
        self._database = database
        self._export = export
        self._chain_id = chain_id
        self._has_deployments = False

    def forget(self) -> None:
        """Have what was not verified compiled again."""
        self._database.rows("contract_import/exported_contracts_reset")

    def counts(self) -> Sequence[int]:
        """Return the numbers of contracts, compilations, paths and sources that are stored."""
        [counts] = self._database.rows("contract_import/exported_rows_count")
        numbers: Sequence[int] = counts
        return numbers

    def read(self) -> None:
        """Read what was not read yet."""
        files = self._export.files
        joined = (files[table] for table in ("code", "contracts", "contract_deployments"))
        size = sum(path.stat().st_size for paths in joined for path in paths)
        self._read_files("verified_contracts", self._contracts, size)
        counts = self.counts
        self._read_files("compiled_contracts", self._compilations, counts()[CONTRACTS])
        self._read_files("compiled_contracts_sources", self._paths, counts()[COMPILATIONS])
        self._read_files("sources", self._sources, counts()[FILES])

    def _read_files(self, table: str, read: Pass, compared_with: int) -> None:
        """Read the files of a table that were not read, or compared with something else."""
        of_chain = f"{compared_with} of {self._chain_id}"
        for path, state in parquet_export.unread(
            self._database, self._export.files[table], of_chain
        ):
            count = read(str(path))
            parquet_export.note_read(self._database, path, state)
            print_lines(f"{path.name}: {count:,} rows stored")

    def _contracts(self, file: str) -> int:
        """Store this chain's contracts in a file of verified ones."""
        if not self._has_deployments:
            names = ("deployments", "contracts", "codes")
            tables = ("contract_deployments", "contracts", "code")
            paths = ([*map(str, self._export.files[table])] for table in tables)
            print_lines("the deployments of this chain are read")
            chain_id = self._chain_id
            self._export.run(
                "parquet_export/deployments_create",
                chain_id=chain_id,
                **dict(zip(names, paths, strict=True)),
            )
            self._has_deployments = True
        columns = ("addresses", "code_hashes", "compilation_ids", "matches")
        rows = self._export.rows("parquet_export/verified_select", BATCH_ROWS, file=file)
        return self._put("contract_import/exported_contracts_put", columns, rows)

    def _paths(self, file: str) -> int:
        """Store the paths in a file that belong to a stored compilation."""
        columns = ("compilation_ids", "paths", "source_hashes")
        rows = self._export.rows(
            "parquet_export/files_select", BATCH_ROWS, file=file, most_bytes=MAX_PATH
        )
        usable = ([row for row in batch if "\0" not in row[1]] for batch in rows)
        return self._put("contract_import/exported_files_put", columns, usable)

    def _put(self, statement: str, columns: Sequence[str], batches: Iterable[Rows]) -> int:
        """Store rows, whose columns are arrays of the statement; return how many were stored."""
        count = 0
        for batch in filter(None, batches):
            arrays = dict(zip(columns, map(list, zip(*batch, strict=True)), strict=True))
            with self._database.transaction() as tx:
                count += tx.execute(statement, **arrays)
        return count

    def _compilations(self, file: str) -> int:
        """Store the compilations in a file that a stored contract has."""
        ids = self._export.rows("parquet_export/compilations_list_ids", BATCH_ROWS, file=file)
        statements = (
            "contract_import/exported_compilations_list_missing",
            "parquet_export/compilations_select",
        )
        rows = self._wanted(statements, ids, str, str, file)
        return self._stored(
            "contract_import/exported_compilations_put", map(self._compilation, rows)
        )

    def _sources(self, file: str) -> int:
        """Store the sources in a file that a stored compilation has."""
        hashes = self._export.rows("parquet_export/sources_list_hashes", BATCH_ROWS, file=file)
        statements = (
            "contract_import/exported_sources_list_missing",
            "parquet_export/sources_select",
        )
        rows = self._wanted(statements, hashes, bytes, lambda key: bytes(key).hex().upper(), file)
        return self._stored("contract_import/exported_sources_put", map(self._source, rows))

    def _wanted(
        self,
        statements: Pair,
        batches: Iterable[Rows],
        of_key: Callable[[Any], object],
        text_of: Callable[[Any], str],
        file: str,
    ) -> Iterator[transaction.Row]:
        """Yield the rows of a file whose keys are missing, by the first statement; the second one
        reads these rows alone, which are large."""
        list_missing, select = statements
        self._export.run("parquet_export/wanted_create")
        is_any = False
        for batch in batches:
            keys = [of_key(key) for (key,) in batch]
            missing = self._database.rows(list_missing, keys=keys)
            if missing:
                is_any = True
                self._export.run(
                    "parquet_export/wanted_insert", keys=[text_of(key) for (key,) in missing]
                )
        if is_any:
            sizes = {"file": file, "most_bytes": MAX_SOURCE_BYTES}
            yield from chain.from_iterable(self._export.rows(select, LARGE_ROWS, **sizes))

    def _stored(self, statement: str, values: Iterator[dict[str, object] | None]) -> int:
        """Store rows, some in a transaction; return how many there were."""
        count = 0
        usable = filter(None, values)
        while batch := [*islice(usable, LARGE_ROWS)]:
            with self._database.transaction() as tx:
                for row in batch:
                    tx.defer(statement, **row)
            count += len(batch)
        return count

    def _compilation(self, row: transaction.Row) -> dict[str, object] | None:
        """Return what is stored of a compilation; None where it cannot be one."""
        id_, full_name, version, settings, artifacts = row
        path, _, name = (full_name or "").rpartition(":")
        compiled_with = _json(settings, dict[str, Any])
        if not path or not name or not version or compiled_with is None:
            self.skipped["compilations without a name, a version or settings"] += 1
            return None
        if "\0" in path or len(path.encode()) > MAX_PATH:
            self.skipped["compilations with an unusable path"] += 1
            return None
        return {
            "compilation_id": id_,
            "contract_name": clean(name),
            "file_path": path,
            "compiler_version": clean(version),
            "settings": compiled_with,
            "abi": _abi(artifacts),
        }

    def _source(self, row: transaction.Row) -> dict[str, object] | None:
        """Return what is stored of a source; None where it is not what its hash says."""
        source_hash, content = row
        if hashlib.sha256(content.encode()).digest() != bytes(source_hash):
            self.skipped["sources of another hash"] += 1
            return None
        if "\0" in content:
            self.skipped["sources that are no text"] += 1
            return None
        return {"source_hash": bytes(source_hash), "content": content}


def _json(text: str | None, type_: type[object]) -> str | None:
    """Return a JSON text as the project writes it, within the bounds of a client's; None where it
    is not of a type."""
    try:
        written = orjson.dumps(parse_json(text or ""))
        json_decoder(type_).decode(written)
    except (ValueError, RecursionError, TooLarge, orjson.JSONEncodeError, msgspec.MsgspecError):
        return None
    return written.decode() if len(written) <= MAX_SOURCE_BYTES else None


def _abi(artifacts: str | None) -> str | None:
    """Return the ABI among a compilation's artifacts, as JSON; None where what is there is none."""
    try:
        read = json_decoder(_Artifacts).decode(artifacts or "")
    except (RecursionError, msgspec.MsgspecError):
        return None
    return _json(bytes(read.abi).decode(), list[_Entry])


def import_folder(database: Database, folder: Path, chain_id: int, *, again: bool) -> None:
    """Import an export, and print what of it is stored."""
    with parquet_export.opened(folder, TABLES) as export:
        claims = ExportedClaims(database, export, chain_id)
        if again:
            claims.forget()
        claims.read()
        contracts, compilations, _, sources = claims.counts()
    print_lines(
        f"{contracts:,} contracts claimed, of {compilations:,} compilations and {sources:,} sources"
    )
    print_lines(*(f"  left out: {count:,} {reason}" for reason, count in claims.skipped.items()))
