"""A whole list as one file, from one snapshot of the database, with bounded memory and size.

Where a bound is reached, the file ends after a whole page, and the rest begins there.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple, cast

import orjson

from scan.errors import Unavailable
from scan.extensions.exports import csv_format
from scan.extensions.exports.csv_columns import columns, day_of
from scan.extensions.exports.hooks import Context, Record
from scan.http.list_format import MAX_FILE_ROWS, Format
from scan.queries import tokens
from scan.queries.pages import Page, Window
from scan.queries.prices import day_prices
from scan.queries.reader import Reader

MAX_BYTES = 64 * 1024 * 1024
# 100,000 rows take 2 to 4 s of processor time, and many times that on busy processors. Less than
# proxy_read_timeout of @scan_file in deploy/nginx.conf.
MAX_WRITING_S = 30.0
BYTES_IN_MEMORY = 1024 * 1024
PAGE_ROWS = 1000
# A page of logs may have 16 MiB of data.
PAGE_ROWS_OF = {"logs": 100}


class ListSource(NamedTuple):
    """A list to write: `kind` is its key in [csv], `own` the address in its path, `coin` the
    coin's symbol."""

    kind: str
    read: Callable[[Window], Page]
    own: str | None = None
    coin: str = ""
    chain_id: str | None = None


class ListFile(NamedTuple):
    """A list's file, open at its beginning; clients save it as `name`, and `last` is its last page,
    without the records."""

    file: IO[bytes]
    name: str
    last: Page


def write_list(
    reader: Reader, source: ListSource, file_format: Format, window: Window, folder: Path
) -> ListFile:
    """Write the list into a file; raises the errors of `source.read`, and Unavailable where the
    file cannot be written.

    The file has no name on disk, so that none is left when the process ends, however it ends.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = cast(IO[bytes], SpooledTemporaryFile(BYTES_IN_MEMORY, dir=str(folder)))  # noqa: SIM115
        try:
            with reader.sources.database.transaction(snapshot=True):
                last = _write(reader, source, file_format, window, file)
            file.seek(0)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise Unavailable(f"Files cannot be written here: {error.strerror}.") from error
    return ListFile(file, _name(source, file_format, is_complete=last.next is None), last)


def _name(source: ListSource, file_format: Format, *, is_complete: bool) -> str:
    of = "" if source.own is None else f"-{source.own}"
    end = "" if is_complete else "-incomplete"  # people do not see the headers that say so
    return f"{source.kind}{of}{end}.{file_format.value}"


def _write(
    reader: Reader, source: ListSource, file_format: Format, window: Window, file: IO[bytes]
) -> Page:
    """Write all pages, and return the last one without its records."""
    until = time.monotonic() + MAX_WRITING_S
    window = window._replace(limit=PAGE_ROWS_OF.get(source.kind, PAGE_ROWS))
    csv = _CsvRows(reader, source) if file_format is Format.CSV else None
    if csv is not None:
        file.write(csv.header())
    rows = 0
    while True:
        page = source.read(window)
        records = orjson.loads(page.data)
        if csv is not None:
            file.write(csv.lines(records))
        else:
            file.writelines(orjson.dumps(r, option=orjson.OPT_APPEND_NEWLINE) for r in records)
        rows += len(records)
        is_full = rows >= MAX_FILE_ROWS or file.tell() >= MAX_BYTES or time.monotonic() > until
        if page.next is None or is_full:
            return replace(page, data="")
        window = window._replace(cursor=page.next)


class _CsvRows:
    def __init__(self, reader: Reader, source: ListSource) -> None:
        own, kind = source.own, source.kind
        is_priced = any(column.is_priced for column in columns(kind, own, has_prices=True))
        self._prices = day_prices(reader) if is_priced else None
        self._columns = columns(kind, own, has_prices=self._prices is not None)
        token = {}
        if source.kind == "holders" and source.own is not None:
            token = orjson.loads(tokens.get(reader, bytes.fromhex(source.own[2:])))
        currency = self._prices.currency if self._prices is not None else ""
        self._context = Context(source.own, source.coin, token, source.chain_id, currency=currency)

    def header(self) -> bytes:
        names = [column.name for column in self._columns]
        return csv_format.BYTE_ORDER_MARK + csv_format.lines([names])

    def lines(self, records: Sequence[Record]) -> bytes:
        cells, context = [column.cell for column in self._columns], self._context
        if self._prices is not None:
            assets = [column.asset for column in self._columns if column.asset is not None]
            of_cells = {(asset(r), day_of(r)) for asset in assets for r in records}
            asset_days = {(asset, day) for asset, day in of_cells if asset is not None}
            context = context._replace(prices=self._prices.read(asset_days))
        return csv_format.lines([cell(record, context) for cell in cells] for record in records)
