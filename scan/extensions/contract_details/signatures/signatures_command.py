"""`scan signatures`: signatures that decode calls and logs of unverified contracts."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

import msgspec
from tqdm import tqdm

from scan.cached_values import json_decoder
from scan.commands import EXIT_FAILED, arguments, startup
from scan.contracts.abi import AbiError, canonical
from scan.database import transaction
from scan.database.connection import Database
from scan.errors import InvalidParameter, ScanError, install_extra
from scan.ethereum.rlp_and_tries import keccak256
from scan.files import file_errors
from scan.hex import to_hex
from scan.observability.logs import print_lines
from scan.settings import Settings

if TYPE_CHECKING:  # it needs the extra `bulk`
    from scan.extensions.contract_details import parquet_export

NAME = "scan-signatures"
MAX_LINE = 10_000
MAX_JSON_CHARACTERS = 256 * 1024 * 1024
BATCH_ROWS = 10_000
MAX_REPORTED = 20
COLUMNS = ("selector", "signature")

_LINE = re.compile(r"(?:(0x[0-9a-fA-F]*)[\s,;:]+)?(?:function |event |error )?(.+)", re.DOTALL)

IMPORT = """\
Stores signatures of functions and events, which decode calls and events of unverified contracts.
A text file has one signature per line, optionally after its selector or topic:
    0xa9059cbb transfer(address,uint256)
    Transfer(address,address,uint256)
A JSON file maps selectors to signatures: {"0xa9059cbb": ["transfer(address,uint256)"]}. If a line
is invalid, nothing is stored and the invalid lines are reported. The next response uses the
signatures. --parquet reads a folder of the public export of Sourcify's repository, file by file;
one that was interrupted goes on. It needs the extra `bulk`."""


def add_arguments(group: argparse.ArgumentParser) -> None:
    actions = arguments.add_actions(group)
    text = "store signatures from a file"
    load = arguments.add_command(actions, "import", text, IMPORT, import_signatures)
    load.add_argument("file", type=Path, metavar="FILE|FOLDER")
    load.add_argument("--parquet", action="store_true", help="a folder of the public export")
    load.add_argument(
        "--skip-invalid", action="store_true", help="skip invalid lines, store the others"
    )
    text = "print every signature with its selector"
    arguments.add_list(actions, text, list_all, ("selector", "signature"))
    text = "remove signatures by selector"
    remove = arguments.add_command(actions, "remove delete", text, run=delete)
    remove.add_argument("selectors", nargs="+", metavar="SELECTOR", help="or a signature")


class Line(NamedTuple):
    """A signature in a file, with its place, and its selector or topic if it is given."""

    place: str
    hash: str | None
    text: str


class Faults:
    """The first invalid lines, and the number of all invalid lines."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.count = 0

    def add(self, reason: str) -> None:
        self.count += 1
        if len(self.first) < MAX_REPORTED:
            self.first.append(reason)

    def report(self) -> None:
        left = self.count - len(self.first)
        print_lines(*self.first, *([f"and {left} more"] if left else []), file=sys.stderr)


def import_signatures(settings: Settings, options: argparse.Namespace) -> int:
    faults = Faults()
    read = _import_export if options.parquet else _import_file
    count, added = read(settings, options, faults)
    if faults.count:
        faults.report()
    print_lines(f"{count} signatures read, {added} of them new, {faults.count} lines skipped")
    return 0


def _import_file(
    settings: Settings, options: argparse.Namespace, faults: Faults
) -> tuple[int, int]:
    """Store the signatures of a file. Return their number, and the number of new ones."""
    with (
        file_errors(options.file),
        startup.connected(settings, NAME) as database,
        options.file.open(encoding="utf-8-sig", errors="replace") as file,
        database.transaction() as tx,
    ):
        # From text with one signature a line, or from a JSON object {"0x…": ["…"]}.
        start = file.read(1)
        while start and start.isspace():
            start = file.read(1)
        file.seek(0)
        lines = _json_lines(file) if start == "{" else _text_lines(file)
        stored = _store(tx, _selectors(lines, faults))
        _check(faults, options)
        return stored


def _check(faults: Faults, options: argparse.Namespace) -> None:
    """Raise InvalidParameter where lines are invalid, unless these are to be skipped."""
    if faults.count and not options.skip_invalid:
        faults.report()
        raise InvalidParameter(
            f"{faults.count} lines are invalid, so nothing was stored;"
            " --skip-invalid stores the others"
        )


def _import_export(
    settings: Settings, options: argparse.Namespace, faults: Faults
) -> tuple[int, int]:
    """Do the same for an export, each file in a transaction of its own."""
    try:
        from scan.extensions.contract_details import parquet_export
    except ImportError as error:
        raise ScanError(f"{error.name} is not installed: {install_extra('bulk')}") from None
    count, added = 0, 0
    with (
        startup.connected(settings, NAME) as database,
        parquet_export.opened(options.file, ["signatures"]) as export,
    ):
        files = parquet_export.unread(database, export.files["signatures"], NAME)
        for path, state in files:
            with database.transaction() as tx:
                lines = _exported_lines(export, path)
                stored = _store(tx, _selectors(lines, faults))
                _check(faults, options)
                parquet_export.note_read(tx, path, state)
            count, added = count + stored[0], added + stored[1]
            print_lines(f"{path.name}: {stored[0]} signatures, {stored[1]} of them new")
    return count, added


def _exported_lines(export: "parquet_export.ParquetExport", path: Path) -> Iterator[Line]:
    statement = "parquet_export/signatures_select"
    rows = chain.from_iterable(export.rows(statement, BATCH_ROWS, file=str(path)))
    for number, (digest, signature) in enumerate(rows, 1):
        yield Line(f"{path.name}, row {number}", to_hex(bytes(digest or b"")), signature)


def list_all(settings: Settings, options: argparse.Namespace) -> int:
    with startup.connected(settings, NAME) as database:
        arguments.print_rows(options, _stored(database))
    return 0


def _stored(database: Database) -> Iterator[tuple[str, str]]:
    last: tuple[bytes, str] = (b"", "")
    while rows := database.rows(
        "commands/signatures_list", selector=last[0], signature=last[1], limit=BATCH_ROWS
    ):
        yield from ((to_hex(bytes(selector)), text) for selector, text in rows)
        last = bytes(rows[-1][0]), rows[-1][1]


def delete(settings: Settings, options: argparse.Namespace) -> int:
    """Delete signatures, each given by its selector or itself."""
    selectors = [_selector(text) for text in options.selectors]
    with startup.connected(settings, NAME) as database, database.transaction() as tx:
        removed = tx.execute("commands/signatures_delete", selectors=selectors)
    print_lines(f"{removed} signatures removed")
    return 0 if removed else EXIT_FAILED


def _selector(text: str) -> bytes:
    try:
        if re.fullmatch(r"0x(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{64})", text):
            return bytes.fromhex(text[2:10])  # only the first four bytes of a topic are stored
        return bytes(keccak256(canonical(text).encode())[:4])
    except AbiError:
        raise InvalidParameter(f"{text[:80]!r} is neither a selector nor a signature") from None


def _store(tx: transaction.Transaction, rows: Iterable[tuple[bytes, str]]) -> tuple[int, int]:
    """Store signatures. Return their number, and the number of new ones."""
    tx.execute("commands/signatures_begin_import")
    count = 0
    # With `disable=None` the count is shown only on a terminal.
    remaining = iter(tqdm(rows, unit=" signatures", disable=None, leave=False))
    while batch := [*islice(remaining, BATCH_ROWS)]:
        transaction.copy_lines(tx, "imported_signatures", COLUMNS, map(transaction.line, batch))
        count += len(batch)
    return count, tx.execute("commands/signatures_insert")


def _selectors(lines: Iterable[Line], faults: Faults) -> Iterator[tuple[bytes, str]]:
    """Yield the selector and canonical text of each valid line, and add the others to `faults`."""
    for line in lines:
        try:
            yield _checked(line)
        except AbiError as error:
            faults.add(f"{line.place}: {line.text[:60]!r} is not a valid signature: {error}")


def _checked(line: Line) -> tuple[bytes, str]:
    if len(line.text) > MAX_LINE:
        raise AbiError("it is too long")
    text = canonical(line.text)
    digest = keccak256(text.encode())
    if line.hash is not None and line.hash.lower() not in (to_hex(digest[:4]), to_hex(digest)):
        raise AbiError(f"its selector is {to_hex(digest[:4])}, not {line.hash[:66]}")
    return bytes(digest[:4]), text


def _text_lines(file: TextIO) -> Iterator[Line]:
    for number, text in enumerate(iter(partial(file.readline, MAX_LINE + 1), ""), 1):
        while not text.endswith("\n") and (rest := file.readline(MAX_LINE + 1)):
            text = text[: MAX_LINE + 1] + rest[-1]  # still long enough to be rejected
        content = text.strip()
        if content and not content.startswith("#"):
            match = _LINE.fullmatch(content)
            yield Line(f"line {number}", *(match.groups() if match else (None, content)))


def _json_lines(file: TextIO) -> Iterator[Line]:
    """Yield the signatures of a JSON object, by their numbers. Raises InvalidParameter if the file
    is too large, or has another form."""
    text = file.read(MAX_JSON_CHARACTERS + 1)
    if len(text) > MAX_JSON_CHARACTERS:
        reason = f"JSON may have {MAX_JSON_CHARACTERS:,} characters; a file of lines may have more"
        raise InvalidParameter(reason)
    try:
        by_selector = json_decoder(dict[str, str | list[str]]).decode(text)
    except msgspec.MsgspecError as error:
        form = '{"0xa9059cbb": ["transfer(address,uint256)"]}'
        raise InvalidParameter(f"expected JSON such as {form}: {error}") from None
    listed = (
        (selector, signature)
        for selector, texts in by_selector.items()
        for signature in ([texts] if isinstance(texts, str) else texts)
    )
    for number, pair in enumerate(listed, 1):
        yield Line(f"signature {number}", *pair)
