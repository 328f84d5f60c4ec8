"""A whole list as one file in a response, from one snapshot of the database, with bounds on memory,
size, the files of one client and of all at once. Where a bound of the file is reached, it ends
after a whole page, and the rest begins there."""

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple, cast

import flask
import orjson
from flask import request

from scan import parameters
from scan.concurrency.concurrency_limit import PLACE_WAIT_S, ConcurrencyLimit
from scan.errors import InvalidParameter, Unavailable, install_extra
from scan.ethereum.column_types import ColumnType
from scan.extensions.exports import csv_columns
from scan.extensions.exports.csv_columns import columns, day_of
from scan.extensions.exports.hooks import Context, Record, typed_value
from scan.hex import to_hex
from scan.http import csv_text, hooks
from scan.http.credentials_and_limits import RAISE_FILES, advise, is_own_machine, over_limit
from scan.http.current_request import client_address, reader
from scan.http.list_formats import MAX_FILE_ROWS, PARAMETER, TYPES, Format
from scan.http.list_responses import next_link
from scan.http.services import services
from scan.queries import holdings, list_pages, network, tokens
from scan.queries.list_pages import Page
from scan.queries.reader import Reader
from scan.rate_limits.window_storage import Window
from scan.server.responses import FileBody, Kept

MAX_BYTES = 64 * 1024 * 1024
# 100,000 rows take 2 to 4 s of processor time, and many times that on busy processors. Less than
# proxy_read_timeout of @scan_file in deploy/nginx.conf.
MAX_WRITING_S = 30.0
BYTES_IN_MEMORY = 1024 * 1024
PAGE_ROWS = 1000
# A page of logs may have 16 MiB of data.
PAGE_ROWS_OF = {"logs": 100}


class FileBounds:
    """The bounds of one file."""

    page_rows, rows, bytes, writing_s = PAGE_ROWS, MAX_FILE_ROWS, MAX_BYTES, MAX_WRITING_S


class ListFile(NamedTuple):
    """A list's file, open at its beginning; clients save it as `name`, and `last` is its last page,
    without the records."""

    file: IO[bytes]
    name: str
    last: Page


def write_list(
    reader: Reader,
    kind: str,
    read: Callable[[list_pages.Window], Page],
    own: str | None,
    file_format: Format,
    window: list_pages.Window,
    folder: Path,
    csv: "_CsvRows | None" = None,
) -> ListFile:
    """Write the list into a file: `kind` is its key in [csv], `own` the address in its path; `csv`
    are its lines where it has no such key. Raises the errors of `read`, and Unavailable where the
    file cannot be written.

    The file has no name on disk, so that none is left when the process ends, however it ends.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = cast(IO[bytes], SpooledTemporaryFile(BYTES_IN_MEMORY, dir=str(folder)))  # noqa: SIM115
        try:
            with reader.sources.database.transaction(snapshot=True):
                if file_format is Format.PARQUET and csv is not None:
                    csv = _ParquetRows(cast(Mapping[str, ColumnType], csv.names), file)
                elif file_format is not Format.CSV:
                    csv = None
                elif csv is None:
                    csv = _CsvRecords(reader, kind, own)
                bounds = reader.sources.get(FileBounds)
                rows_at_once = PAGE_ROWS_OF.get(kind, bounds.page_rows)
                with ExitStack() as ends:
                    if csv is not None:
                        ends.callback(csv.end)
                    last = _write(read, csv, window._replace(limit=rows_at_once), file, bounds)
            file.seek(0)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise Unavailable(f"Files cannot be written here: {error.strerror}.") from error
    of = "" if own is None else f"-{own}"
    end = "-incomplete" if last.next else ""  # people do not see the headers that say so
    return ListFile(file, f"{kind}{of}{end}.{file_format.value}", last)


def _write(
    read: Callable[[list_pages.Window], Page],
    csv: "_CsvRows | None",
    window: list_pages.Window,
    file: IO[bytes],
    bounds: FileBounds,
) -> Page:
    """Write all pages, and return the last one without its records."""
    until = time.monotonic() + bounds.writing_s
    if csv is not None:
        file.write(csv.header())
    rows = 0
    while True:
        page = read(window)
        records = orjson.loads(page.data)
        if csv is not None:
            file.write(csv.lines(records))
        else:
            file.writelines(orjson.dumps(r, option=orjson.OPT_APPEND_NEWLINE) for r in records)
        rows += len(records)
        is_full = rows >= bounds.rows or file.tell() >= bounds.bytes or time.monotonic() > until
        if page.next is None or is_full:
            return replace(page, data="")
        window = window._replace(cursor=page.next)


class _CsvRows:
    """Lines of records that are rows of columns."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names

    def header(self) -> bytes:
        return csv_text.BYTE_ORDER_MARK + csv_text.lines([[*self.names]])

    def lines(self, records: Sequence[Record]) -> bytes:
        return csv_text.lines([csv_columns.plain(r[name]) for name in self.names] for r in records)

    def end(self) -> None:
        """Write what follows the last line."""


class _ParquetRows(_CsvRows):
    """Row groups of records that are rows of columns with types."""

    def __init__(self, types: Mapping[str, ColumnType], file: IO[bytes]) -> None:
        super().__init__(types)
        from pyarrow.parquet import ParquetWriter

        from scan.extensions.exports import parquet

        self._types, self._formats = types, parquet.for_engines(parquet.of_types(types))
        schema, compression = parquet.schema(self._formats), parquet.COMPRESSION
        self._writer = ParquetWriter(file, schema, compression=compression)
        self._make_table = parquet.make_table

    def header(self) -> bytes:
        return b""

    def lines(self, records: Sequence[Record]) -> bytes:
        columns = {n: [typed_value(r[n], t) for r in records] for n, t in self._types.items()}
        self._writer.write_table(self._make_table(self._formats, columns))
        return b""

    def end(self) -> None:
        self._writer.close()


class _CsvRecords(_CsvRows):
    """Lines of records by the columns of their list in [csv]."""

    def __init__(self, reader: Reader, kind: str, own: str | None) -> None:
        is_priced = any(column.is_priced for column in columns(kind, own, has_prices=True))
        self._prices = holdings.day_prices(reader) if is_priced else None
        self._columns = columns(kind, own, has_prices=self._prices is not None)
        token = {}
        if kind == "holders" and own is not None:
            token = orjson.loads(tokens.get(reader, bytes.fromhex(own[2:])))
        currency = self._prices.currency if self._prices is not None else ""
        coin, chain_id = network.coin_symbol(reader), reader.sources.chain_id.read()
        self._context = Context(own, coin, token, chain_id, currency=currency)
        super().__init__([column.name for column in self._columns])

    def lines(self, records: Sequence[Record]) -> bytes:
        cells, context = [column.cell for column in self._columns], self._context
        if self._prices is not None:
            assets = [column.asset for column in self._columns if column.asset is not None]
            of_cells = {(asset(r), day_of(r)) for asset in assets for r in records}
            asset_days = {(asset, day) for asset, day in of_cells if asset is not None}
            context = context._replace(prices=self._prices.read(asset_days))
        return csv_text.lines([cell(record, context) for cell in cells] for record in records)


MAX_WRITING, MAX_IN_LINE = 2, 2  # of the eight threads
MAX_OPEN = 16  # being written or sent: their bytes lie on disk
WRITING_WAIT_S = 5.0
BUSY = "Too many files are being written; try again shortly."
TIMES_KEPT = 8


class FilePlaces:
    """Limits of files: a client has one at a time; one that reads slowly occupies no thread."""

    def __init__(
        self, writing_wait_s: float = WRITING_WAIT_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._writing_wait_s, self._clock = writing_wait_s, clock
        self.open = ConcurrencyLimit(
            MAX_OPEN,
            places_per_client=1,
            clients_wait=True,  # for the end of a file whose last bytes it has just received
            places_in_line=MAX_IN_LINE,
            busy="Too many files are being sent; try again shortly.",
            retry_after_s=5,
        )
        self._writing = ConcurrencyLimit(
            MAX_WRITING, places_per_client=1, places_in_line=MAX_IN_LINE, busy=BUSY
        )
        self._began_at: list[float] = []  # of the files that are being written, the oldest first
        self._seconds: deque[float] = deque([WRITING_WAIT_S], TIMES_KEPT)

    @contextmanager
    def writing(self, client: Hashable) -> Iterator[None]:
        """Hold a place for writing a file, after a short wait in line. Raises Unavailable with the
        time that the oldest one takes, if as long as the longest of the last ones."""
        if not self._writing.take(client, wait_s=self._writing_wait_s):
            raise Unavailable(BUSY, retry_after_s=self._left_s())
        began_at = self._clock()
        self._began_at.append(began_at)
        try:
            yield
        finally:
            self._began_at.remove(began_at)
            self._seconds.append(self._clock() - began_at)
            self._writing.give_back(client)

    def _left_s(self) -> int:
        oldest = min(self._began_at, default=0.0)
        return max(1, math.ceil(oldest + max(self._seconds) - self._clock()))


FOLDER = "files"  # in SCAN_DATA_DIR


def send(
    kind: str,
    read: Callable[[list_pages.Window], Page],
    chosen: Format,
    window: list_pages.Window,
    arguments: Mapping[str, str],
    own: bytes | None,
    column_names: Collection[str] | None = None,
) -> flask.Response:
    """Return a list as a file: `kind` is its key in [csv], `own` the address in its path. Where
    `column_names` are given, its records are rows of these columns; with their types by name it may
    be a Parquet file."""
    if chosen is Format.PARQUET:
        reason = "format may be parquet for lists of events alone."
        parameters.require(isinstance(column_names, Mapping), PARAMETER, reason)
        if find_spec("pyarrow") is None:
            raise InvalidParameter(f"Without pyarrow: {install_extra('parquet')}", field=PARAMETER)
    own_address = None if own is None else to_hex(own)
    reader().do_not_cache()
    places, client = reader().sources.get(FilePlaces), client_address()
    folder = services().settings.data_dir / FOLDER
    with ExitStack() as until_sent:
        until_sent.enter_context(places.open.place(client, wait_s=PLACE_WAIT_S))
        with places.writing(client):
            limiter = services().limiter
            charged = limiter.store.charge(Window(limiter.file_rate, client))
            if not charged.allowed:
                refusal = over_limit(charged, "files")
                if is_own_machine():
                    advise(refusal, RAISE_FILES)
                raise refusal
            rows = None if column_names is None else _CsvRows(column_names)
            written = write_list(reader(), kind, read, own_address, chosen, window, folder, rows)
        body = FileBody(written.file, until_sent.pop_all().close)
    return _response(chosen, written, body, arguments)


def _response(
    chosen: Format, written: ListFile, body: FileBody, arguments: Mapping[str, str]
) -> flask.Response:
    last = written.last
    headers = {
        "Content-Length": str(body.size),
        "Content-Disposition": f'attachment; filename="{written.name}"',
        "Cache-Control": Kept.NEVER,
        "Vary": "Accept",
        "X-Scan-Complete": "true" if last.next is None else "false",
    }
    if last.next is not None:
        headers["Link"] = next_link(last.next, arguments)
    what_is_there = {
        "X-Scan-Untraced-Blocks": last.untraced_blocks,
        "X-Scan-Kept-From": last.kept_from and last.kept_from.number,
        "X-Scan-Complete-From": last.complete_from,
    }
    headers |= {name: str(value) for name, value in what_is_there.items() if value is not None}
    if reported := sorted(reader().reported):
        headers["X-Scan-Unproven"] = ", ".join(reported)
    headers |= last.file_headers
    content_type = TYPES[chosen]
    if chosen is Format.CSV:
        content_type = f"{content_type}; charset=utf-8; header=present"
    if request.method == "HEAD":
        body.close()
        return flask.Response(headers=headers, content_type=content_type)
    return flask.Response(body, headers=headers, content_type=content_type, direct_passthrough=True)


HOOKS = hooks.ListFiles(send=send, short_list=csv_columns.short_list)
