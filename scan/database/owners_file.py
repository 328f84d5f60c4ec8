"""A file of what people gave to Scan and no index has again: API keys (their hashes), webhooks with
their secrets and deliveries, verified sources, labels, imports. Any version writes it, from tables
of its own or an older version, and every later version reads it.

It is UTF-8, a JSON object a line. The first has `format` (1), the version of `scan` that wrote it,
and of its database the name (`database`), `chainId`, `genesisHash` and `newestBlock` (null where
nothing was indexed), and `tables`, those that were written, be they empty; the last has `rows`,
their number, and `sha256`, in hex, of all bytes before it. Each line between them is a row: `table`
and `row`, its columns by their names, as PostgreSQL's to_json has them (bytea as "\\\\x" and hex).
Which tables these are, sql/lists.toml says, and those of extensions.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import orjson
import psycopg2

from scan.database.connection import Database
from scan.database.lists import all_entities, read_table
from scan.database.migrations import own_version
from scan.database.statements import read_statement
from scan.database.transaction import Transaction
from scan.errors import ScanError
from scan.files import PRIVATE, whole_file
from scan.hex import to_hex

FORMAT = 1
COLUMNS = "database/owners_list_columns"
BATCH_ROWS, BATCH_BYTES = 1000, 8 * 1024 * 1024
MAX_LINE_BYTES = 256 * 1024 * 1024
_ESCAPED = re.compile(rb"\\(.)")


class OwnersFileError(ScanError):
    """A file cannot be written or restored; the message has the reason, and nothing was changed."""


class OwnedTable(NamedTuple):
    """A table of what people gave: see sql/lists.toml."""

    left_out: Sequence[str] = ()
    former: Sequence[str] = ()
    added: Sequence[str] = ()
    written: str | None = None
    restored: str | None = None
    after: str | None = None


class Header(NamedTuple):
    """The first line of a file."""

    scan: str
    database: str
    chain_id: str | None
    genesis_hash: str | None
    newest_block: int | None
    tables: Sequence[str]


class RestoredTable(NamedTuple):
    """How many rows a file has of a table, and how many of them were not in the database."""

    name: str
    rows: int
    inserted: int


def owned_tables() -> Mapping[str, OwnedTable]:
    """Return the tables that a file has, by name, in its order."""
    return {name: OwnedTable(**values) for name, values in read_table()["owners"].items()}


def derived_tables() -> set[str]:
    """Return the tables that a file never has, with those of older versions."""
    table = read_table()
    return {*table["derived"], *table["former"], *all_entities()}


class _Rows:
    """Takes rows as COPY writes them, and writes them as lines of a file with its hash."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = sha256()
        self._prefix = b""
        self._rest = b""
        self.count = 0

    def begin(self, table: str) -> None:
        self._prefix = b'{"table":%b,"row":' % orjson.dumps(table)

    def write(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            # Of control characters, JSON has ends of lines and tabs alone, between its values.
            row = _ESCAPED.sub(lambda m: m[1] if m[1] == b"\\" else b" ", line)
            self.put(self._prefix + row + b"}\n")
            self.count += 1

    def put(self, line: bytes) -> None:
        self._hash.update(line)
        self._file.write(line)

    def end(self) -> None:
        self._file.write(_last_line(self.count, self._hash.hexdigest()))


def _last_line(rows: int, digest: str) -> bytes:
    return orjson.dumps({"rows": rows, "sha256": digest}) + b"\n"


def write(database: Database, path: Path) -> tuple[int, list[str]]:
    """Write a file of a database of this or any older version, as it is at one moment. Return the
    number of rows, and the names of tables with rows that this version does not know: they are not
    in it.
    Raises OwnersFileError, and then leaves an older file as it was."""
    try:
        with database.transaction(snapshot=True) as tx, whole_file(path, PRIVATE) as file:
            filled = {name: has_rows for name, _, has_rows in tx.rows(COLUMNS)}
            if "chain" not in filled:
                raise OwnersFileError("this database has no tables of Scan")
            rows = _Rows(file)
            tables = {name: table for name, table in owned_tables().items() if name in filled}
            header = {"format": FORMAT, **_chain(tx, own_version()), "tables": [*tables]}
            rows.put(orjson.dumps(header) + b"\n")
            for name, table in tables.items():
                rows.begin(name)
                tx.copy_out(name, rows, table.written)
            rows.end()
            known = owned_tables().keys() | derived_tables()
            return rows.count, sorted(n for n in filled if filled[n] and n not in known)
    except OSError as error:
        raise OwnersFileError(f"cannot write {path}: {error.strerror}") from None


class _IndexedChain(NamedTuple):
    """The chain of a database that has blocks."""

    chain_id: str
    genesis_hash: str
    newest_block: int


def _indexed_chain(tx: Transaction) -> _IndexedChain | None:
    row = tx.row("database/owners_get_chain")
    return None if row is None else _IndexedChain(row[0], to_hex(bytes(row[1])), row[2])


def _chain(tx: Transaction, version: str) -> dict[str, Any]:
    chain_id, genesis_hash, newest = _indexed_chain(tx) or (None, None, None)
    return {
        "scan": version,
        "database": tx.value("database/databases_get_name"),
        "chainId": chain_id,
        "genesisHash": genesis_hash,
        "newestBlock": newest,
    }


class OwnersFile:
    """A whole file, of which all bytes were read once and are what was written."""

    def __init__(self, path: Path) -> None:
        """Raises OwnersFileError for a file that is not whole, or of a later format."""
        self.path = path
        self.rows: dict[str, int] = {}
        self.columns: dict[str, set[str]] = {}
        with self._opened() as file:
            self.header = self._read_header(file.readline(MAX_LINE_BYTES))
            self._check(file)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            with self.path.open("rb") as file:
                yield file
        except OSError as error:
            raise OwnersFileError(f"cannot read {self.path}: {error.strerror}") from None

    def _read_header(self, line: bytes) -> Header:
        values = _object(line)
        if not isinstance(values.get("format"), int):
            raise OwnersFileError(f"{self.path} was not written by `scan backup --owners`")
        if values["format"] != FORMAT:
            raise OwnersFileError(
                f"{self.path} has the format {values['format']}, written by Scan"
                f" {values.get('scan')}: this version reads format {FORMAT}; restore it by that one"
            )
        newest_block = values.get("newestBlock")
        scan, database = str(values.get("scan")), str(values.get("database"))
        chain = values.get("chainId"), values.get("genesisHash"), newest_block
        return Header(scan, database, *chain, values.get("tables") or ())

    def _check(self, file: IO[bytes]) -> None:
        """Read all lines after the first, and note tables and columns."""
        file.seek(0)
        hashed, count = sha256(), 0
        line = file.readline(MAX_LINE_BYTES)
        while following := file.readline(MAX_LINE_BYTES):
            hashed.update(line)
            line = following
            if line.startswith(b'{"table":'):
                value = _object(line)
                table, row = value.get("table"), value.get("row")
                if not isinstance(table, str) or not isinstance(row, dict):
                    break
                count += 1
                self.rows[table] = self.rows.get(table, 0) + 1
                self.columns.setdefault(table, set()).update(row)
        if line != _last_line(count, hashed.hexdigest()):
            raise OwnersFileError(
                f"{self.path} is not whole: it was cut or changed since `scan backup --owners`"
                " wrote it; nothing was restored"
            )

    def unknown(self, columns: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the names of the file's tables, and of columns as `table.column`, that a database
        does not have."""
        owned, unknown = owned_tables(), []
        for table, names in self.columns.items():
            if table not in owned or table not in columns:
                unknown.append(table)
                continue
            of_table = owned[table]
            known = {*columns[table], *of_table.left_out, *of_table.former, *of_table.added}
            unknown += [f"{table}.{name}" for name in sorted(names - known)]
        return unknown

    def batches(self) -> Iterator[tuple[str, int, str]]:
        """Yield the table of lines that follow each other, their number, and a JSON array of
        them."""
        with self._opened() as file:
            file.readline(MAX_LINE_BYTES)
            table, lines, size = "", list[bytes](), 0
            while (line := file.readline(MAX_LINE_BYTES)).startswith(b'{"table":'):
                of = str(_object(line)["table"])
                if lines and (of != table or len(lines) >= BATCH_ROWS or size >= BATCH_BYTES):
                    yield table, len(lines), f"[{b','.join(lines).decode()}]"
                    lines, size = [], 0
                table = of
                lines.append(line)
                size += len(line)
            if lines:
                yield table, len(lines), f"[{b','.join(lines).decode()}]"


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def restore(
    database: Database,
    file: OwnersFile,
    *,
    leaves_out_unknown: bool = False,
    then: Callable[[Transaction], None] | None = None,
) -> list[RestoredTable]:
    """Restore a file into a database whose schema is of this version, and do what is to be done
    `then`, all of it or nothing. Rows that are there already stay as they are. Raises
    OwnersFileError for a file of another chain, or with tables or columns that the database does
    not have."""
    owned = owned_tables()
    with database.transaction() as tx:
        tx.execute("indexer/writes_lock")
        columns = {name: names for name, names, _ in tx.rows(COLUMNS)}
        unknown = file.unknown(columns)
        if unknown and not leaves_out_unknown:
            raise OwnersFileError(
                f"{file.path} was written by Scan {file.header.scan} and has what this version does"
                f" not know: {', '.join(unknown)}. Nothing was restored; use that version, or"
                " --without-unknown to leave these out"
            )
        indexed = _require_chain(tx, file)
        inserted = dict.fromkeys(file.rows.keys() - {*unknown}, 0)
        newest_block = -1 if file.header.newest_block is None else file.header.newest_block
        if indexed is not None and indexed.genesis_hash != file.header.genesis_hash:
            inserted.pop("deliveries", None)  # they are of other blocks
            newest_block = indexed.newest_block
        for table, _, lines in file.batches():
            if table in inserted:
                named = file.columns[table] & {*columns[table]} - {*owned[table].left_out}
                inserted[table] += _restore_rows(tx, table, sorted(named), lines)
        of_file = {
            "newest_block": newest_block,
            "has_deliveries": "deliveries" in file.header.tables,
        }
        for table in [name for name in owned if inserted.get(name)]:
            if (after := owned[table].after) is not None:
                tx.execute(after, **{name: of_file[name] for name in read_statement(after).types})
        if then is not None:
            then(tx)
    return [RestoredTable(t, file.rows[t], inserted[t]) for t in owned if t in inserted]


def _require_chain(tx: Transaction, file: OwnersFile) -> _IndexedChain | None:
    """Return the chain of a database. Raises OwnersFileError where the file is of one with another
    id."""
    chain = _indexed_chain(tx)
    if chain is not None and file.header.chain_id not in (None, chain.chain_id):
        raise OwnersFileError(
            f"{file.path} is of the chain {file.header.chain_id}, and this database of the chain"
            f" {chain.chain_id}; nothing was restored"
        )
    return chain


def _restore_rows(tx: Transaction, table: str, columns: list[str], lines: str) -> int:
    try:
        if (statement := owned_tables()[table].restored) is not None:
            return int(tx.value(statement, lines=lines))
        statement = "database/owners_restore_rows"
        return int(tx.value(statement, restored=table, columns=columns, lines=lines))
    except (psycopg2.DataError, psycopg2.IntegrityError) as error:
        reason = error.diag.message_primary
        raise OwnersFileError(
            f"rows of {table} cannot be restored: {reason}; nothing was restored"
        ) from error
