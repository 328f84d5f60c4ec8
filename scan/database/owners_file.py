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

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson
import psycopg2

from scan.database.connection import Database
from scan.database.lists import all_entities, read_table
from scan.database.migrations import own_version
from scan.database.statements import read_statement
from scan.database.transaction import JSON_LINES, Transaction
from scan.errors import ScanError
from scan.files import PRIVATE, whole_file

FORMAT = 1
COLUMNS, LINES = "database/owners_list_columns", "database/owners_list_lines"


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


class RestoredTable(NamedTuple):
    """How many rows a file has of a table, and how many of them were not in the database; None: it
    is left out."""

    name: str
    rows: int
    inserted: int | None


def owned_tables() -> Mapping[str, OwnedTable]:
    """Return the tables that a file has, by name, in its order."""
    return {name: OwnedTable(**values) for name, values in read_table()["owners"].items()}


def derived_tables() -> set[str]:
    """Return the tables that a file never has, with those of older versions."""
    table = read_table()
    return {*table["derived"], *table["former"], *all_entities()}


class _HashedFile(NamedTuple):
    file: BinaryIO
    hash: Any

    def write(self, data: bytes) -> None:
        self.hash.update(data)
        self.file.write(data)


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
            hashed = _HashedFile(file, sha256())
            tables = {name: table for name, table in owned_tables().items() if name in filled}
            header = {"format": FORMAT, "scan": own_version(), **_chain(tx), "tables": [*tables]}
            hashed.write(orjson.dumps(header) + b"\n")
            rows = sum(tx.copy_out(name, hashed, table.written) for name, table in tables.items())
            file.write(_last_line(rows, hashed.hash.hexdigest()))
            known = owned_tables().keys() | derived_tables()
            return rows, sorted(n for n in filled if filled[n] and n not in known)
    except OSError as error:
        raise OwnersFileError(f"cannot write {path}: {error.strerror}") from None


def _chain(tx: Transaction) -> Mapping[str, Any]:
    """Return what a file's header says of a database."""
    chain: Mapping[str, Any] = orjson.loads(tx.value("database/owners_get_chain"))
    return chain


class OwnersFile(NamedTuple):
    path: Path
    header: Mapping[str, Any]


def read(path: Path) -> OwnersFile:
    """Return a whole file, of which all bytes are what was written. Raises OwnersFileError for
    another one, or one of a later format."""
    try:
        with path.open("rb") as file:
            first = last = file.readline()
            hashed, rows = sha256(), -1
            for line in file:
                hashed.update(last)
                last, rows = line, rows + 1
        header = orjson.loads(first)
    except OSError as error:
        raise OwnersFileError(f"cannot read {path}: {error.strerror}") from None
    except orjson.JSONDecodeError:
        header = None
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise OwnersFileError(f"{path} was not written by `scan backup --owners`")
    if header["format"] != FORMAT:
        raise OwnersFileError(
            f"{path} has the format {header['format']}, written by Scan {header.get('scan')}: this"
            f" version reads format {FORMAT}; restore it by that one"
        )
    if last != _last_line(rows, hashed.hexdigest()):
        raise OwnersFileError(
            f"{path} is not whole: it was cut or changed since `scan backup --owners` wrote it;"
            " nothing was restored"
        )
    return OwnersFile(path, header)


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
    owned, header = owned_tables(), file.header
    with database.transaction() as tx:
        tx.execute("indexer/writes_lock")
        tx.execute("database/owners_lines_create")
        with file.path.open("rb") as lines:
            tx.copy("owners_lines", ["line"], lines, JSON_LINES)
        columns = {name: {*names} for name, names, _ in tx.rows(COLUMNS)}
        given = {name: ({*names}, rows) for name, names, rows in tx.rows(LINES)}
        unknown = {name for name in given if name not in owned or name not in columns}
        for name in given.keys() - unknown:
            table = owned[name]
            known = {*columns[name], *table.left_out, *table.former, *table.added}
            unknown |= {f"{name}.{column}" for column in given[name][0] - known}
        if unknown and not leaves_out_unknown:
            raise OwnersFileError(
                f"{file.path} was written by Scan {header.get('scan')} and has what this version"
                f" does not know: {', '.join(sorted(unknown))}. Nothing was restored; use that"
                " version, or --without-unknown to leave these out"
            )
        chain, newest_block = _chain(tx), header.get("newestBlock")
        chain_ids = {chain["chainId"], header.get("chainId")} - {None}
        if len(chain_ids) > 1:
            raise OwnersFileError(
                f"{file.path} is of the chain {header['chainId']}, and this database of the chain"
                f" {chain['chainId']}; nothing was restored"
            )
        if chain["genesisHash"] not in (None, header.get("genesisHash")):
            unknown.add("deliveries")  # they are of other blocks
            newest_block = chain["newestBlock"]
        inserted = dict[str, int]()
        for name in [name for name in owned if name in given.keys() - unknown]:
            named = sorted(given[name][0] & columns[name] - {*owned[name].left_out})
            try:
                if (statement := owned[name].restored) is not None:
                    inserted[name] = int(tx.value(statement))
                    continue
                of_table = {"restored": name, "columns": named}
                inserted[name] = int(tx.value("database/owners_restore_rows", **of_table))
            except (psycopg2.DataError, psycopg2.IntegrityError) as error:
                reason = f"rows of {name} cannot be restored: {error.diag.message_primary}"
                raise OwnersFileError(f"{reason}; nothing was restored") from error
        of_file = {
            "newest_block": -1 if newest_block is None else newest_block,
            "has_deliveries": "deliveries" in header.get("tables", ()),
        }
        for name in [name for name in owned if inserted.get(name)]:
            if (after := owned[name].after) is not None:
                tx.execute(after, **{name: of_file[name] for name in read_statement(after).types})
        if then is not None:
            then(tx)
    return [RestoredTable(name, rows, inserted.get(name)) for name, (_, rows) in given.items()]
