"""Files of holders after older blocks: made by one statement, kept while there is room for them,
and read by pages.

A file is made in the request, or where more than AT_ONCE rows are read, beside serving, one at a
time. It has no name on disk, so that none is left when the process ends. The name of the database's
session says how far its statement is, to other processes, too.

How many are made for a client, and which, is said by locks of a session each: they hold for all
processes of the service, and end with the process, however it ends.
"""

import hashlib
import logging
import os
import threading
import time
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

import orjson

from scan.concurrency.concurrency_limit import PLACE_WAIT_S
from scan.database.connection import Database
from scan.database.errors import QueryTooSlow
from scan.database.held_session import HeldSession
from scan.errors import HistoryUnavailable, Preparing, RateLimited, ScanError, Unavailable
from scan.ethereum.served_chain import BlockId
from scan.extensions.past_holders import ways
from scan.queries.reader import Reader
from scan.rate_limits.client_address import network_around

AT_ONCE = 1_000_000  # rows that a request sums; PostgreSQL takes about two microseconds each
MAKING_S = 600.0
CHUNK_ROWS = 1000
MAX_FILE_BYTES = 1024**3
MAX_KEPT_BYTES = 2 * 1024**3
MAX_KEPT = 64  # files, each an open one
MAX_UNFINISHED = 16
MAX_UNFINISHED_OF_CLIENT = 2
FORGOTTEN_S = 60.0  # after which one that waits, and that nobody has asked for, is not made
RETRY_AFTER_S = 2
PARTS = 100
SESSION = "scan past holders"
NEGATIVE = (
    "The holders then are not known: events up to this block take more of the token than was there."
)
TOO_LARGE = "The holders then are not listed: there are too many."

log = logging.getLogger(__name__)


class HolderFileBounds:
    """The bounds of this process."""

    at_once, chunk_rows, kept_bytes, forgotten_s = AT_ONCE, CHUNK_ROWS, MAX_KEPT_BYTES, FORGOTTEN_S


class RequestedHolders(NamedTuple):
    """The holders that are asked for. A file of the same token, block and `form` has the same rows;
    to make it, `rows` are read. `first_block` is that of the index."""

    token: bytes
    block: BlockId
    form: Hashable
    rows: int
    first_block: int

    @property
    def key(self) -> Hashable:
        return self.token, self.block.hash, self.form

    @property
    def name(self) -> str:
        """Return the name that the list has for all processes."""
        return hashlib.sha256(repr(self.key).encode()).hexdigest()[:24]

    @property
    def session(self) -> str:
        """Return how the name of the session begins that makes the list beside serving."""
        return f"{SESSION} {self.name} "


class HolderFile:
    """Rows of holders as JSON, in chunks. Of NFTs a holder has a row for each id."""

    def __init__(self, file: IO[bytes], chunk_rows: int) -> None:
        self._file, self._chunk_rows = file, chunk_rows
        self._ends = [0]  # of chunks, in bytes
        self._first_numbers: list[int] = []  # of the holder of each chunk's first row
        self.rows = self.holders = 0

    @property
    def size(self) -> int:
        return self._ends[-1]

    def add(self, rows: list[tuple[Any, ...]]) -> None:
        """Add a chunk of rows: record as JSON, and of NFTs the holder's number."""
        self._first_numbers.append(rows[0][-1] if len(rows[0]) > 1 else self.rows)
        self._ends.append(self.size + self._file.write(",".join([row[0] for row in rows]).encode()))
        self.rows += len(rows)
        self.holders = (rows[-1][-1] if len(rows[-1]) > 1 else self.rows - 1) + 1

    def end(self) -> None:
        self._file.flush()

    def read(self, first: int) -> Iterator[dict[str, Any]]:
        """Yield the rows from the row `first` on."""
        for chunk in range(first // self._chunk_rows, len(self._first_numbers)):
            start, end = self._ends[chunk], self._ends[chunk + 1]
            records = orjson.loads(b"[" + os.pread(self._file.fileno(), end - start, start) + b"]")
            yield from records[max(first - chunk * self._chunk_rows, 0) :]

    def first_row(self, number: int) -> int:
        """Return the first row of the holder of a number, from 0; the number of rows of none."""
        if number >= self.holders:
            return self.rows
        if self.rows == self.holders:
            return number
        chunk = max(bisect_left(self._first_numbers, number) - 1, 0)
        row, passed, address = chunk * self._chunk_rows, self._first_numbers[chunk] - 1, None
        for record in self.read(row):
            if record["address"] != address:
                address, passed = record["address"], passed + 1
            if passed == number:
                break
            row += 1
        return row


@dataclass(eq=False)
class _Making:
    """A file that is made beside serving, or waits for that, first for a client of `network`, in
    whose place it is once it `has_place`."""

    requested: RequestedHolders
    network: str
    place: HeldSession
    asked_at: float = 0.0
    has_place: bool = False
    is_running: bool = False
    error: ScanError | None = None


class HolderFiles:
    """The files of a process. `short` is a database with the time-out of statements of requests,
    `long` one with that of those beside serving, `writes` the primary of these."""

    def __init__(self, folder: Path, short: Database, long: Database, writes: Database) -> None:
        self._folder, self._short, self._long, self._writes = folder, short, long, writes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[HolderFile, str]] = OrderedDict()  # by network
        self._making: dict[Hashable, _Making] = {}

    def get(self, reader: Reader, requested: RequestedHolders) -> HolderFile:
        """Return the file of holders, which is made at once where few rows are read. Raises
        Preparing where it is made beside serving, HistoryUnavailable where a sum is below zero,
        RateLimited where the client has too many unfinished ones, Unavailable."""
        bounds, network = reader.sources.get(HolderFileBounds), network_around(str(reader.client))
        if (kept := self._find(requested.key)) is not None:
            return kept
        if requested.rows <= bounds.at_once and requested.key not in self._making:
            with reader.sources.unbounded_statements.place(reader.client, wait_s=PLACE_WAIT_S):
                if (
                    kept := self._find(requested.key)
                ) is not None:  # by the client's earlier request
                    return kept
                try:
                    return self._make(self._short, requested, network, SESSION, bounds)
                except QueryTooSlow:
                    log.info("holders of %d rows are summed beside serving", requested.rows)
        raise self._prepare(reader, requested, network, bounds)

    def _find(self, key: Hashable) -> HolderFile | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def _make(
        self,
        database: Database,
        requested: RequestedHolders,
        network: str,
        session: str,
        bounds: HolderFileBounds,
    ) -> HolderFile:
        """Make a file and keep it."""
        number = requested.block.number
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            made = HolderFile(TemporaryFile(dir=self._folder), bounds.chunk_rows)  # noqa: SIM115
            with closing(database), database.transaction(snapshot=True) as tx:
                [(_, *row)] = tx.rows(ways.STATEMENT, address=requested.token, block_number=number)
                way = ways.way_of(tuple(row), requested.first_block)
                if (bytes(way.block_hash or b""), way.form) != (
                    requested.block.hash,
                    requested.form,
                ):
                    raise Unavailable("The chain is being reorganised; try again shortly.")
                opened = {**way.params(number), "session": session, "parts": PARTS}
                tx.execute(way.statement, address=requested.token, **opened)
                until = time.monotonic() + MAKING_S
                while rows := tx.rows("queries/past_holders_fetch", limit=bounds.chunk_rows):
                    if any(row[0] is None for row in rows):
                        raise HistoryUnavailable(NEGATIVE)
                    made.add(rows)
                    if made.size > MAX_FILE_BYTES or time.monotonic() > until:
                        raise HistoryUnavailable(TOO_LARGE)
            made.end()
        except OSError as error:
            raise Unavailable(f"Files cannot be written here: {error.strerror}.") from error
        self._keep(requested.key, made, network, bounds)
        return made

    def _keep(
        self, key: Hashable, made: HolderFile, network: str, bounds: HolderFileBounds
    ) -> None:
        """Keep a file, and while there is no room drop the oldest of the network that has most."""
        with self._lock:
            self._kept[key] = made, network
            while len(self._kept) > 1:
                sizes: Counter[str] = Counter()
                for kept, of in self._kept.values():
                    sizes[of] += kept.size
                if len(self._kept) <= MAX_KEPT and sizes.total() <= bounds.kept_bytes:
                    break
                [(most, _)] = sizes.most_common(1)
                del self._kept[next(k for k, (_, of) in self._kept.items() if of == most)]

    def _prepare(
        self, reader: Reader, requested: RequestedHolders, network: str, bounds: HolderFileBounds
    ) -> ScanError:
        """Have a file made beside serving, and return how far it is, or why it was not made."""
        key = requested.key
        with self._lock:
            making = self._making.get(key)
            if making is None:
                unfinished = [m.network for m in self._making.values() if m.error is None]
                if unfinished.count(network) >= MAX_UNFINISHED_OF_CLIENT:
                    return _two_are_made()
                if len(unfinished) >= MAX_UNFINISHED:
                    return Unavailable(
                        "Too many lists of holders are being made; try again shortly."
                    )
                making = _Making(requested, network, HeldSession(self._writes), time.monotonic())
                self._making[key] = making
                is_new = True
            elif making.error is not None:
                return self._making.pop(key).error or ScanError("")
            else:
                is_new = False
        if is_new and (refusal := self._take_place(making)) is not None:
            return refusal
        with self._lock:
            making.asked_at = time.monotonic()
            self._start_next(bounds)
        name = reader.sources.database.value(
            "queries/past_holders_get_progress", session=requested.session
        )
        part = name.removeprefix(requested.session) if name else ""
        return Preparing(int(part) / PARTS if part.isdecimal() else 0.0)

    def _take_place(self, making: _Making) -> ScanError | None:
        """Take a place for a list that is to be made here, unless another process makes it, or
        return why there is none."""
        refusal: ScanError | None = None
        try:
            is_elsewhere, making.has_place = making.place.take(
                "queries/past_holders_take_place",
                list=making.requested.name,
                network=making.network,
                most=MAX_UNFINISHED_OF_CLIENT,
            )
            if not (is_elsewhere or making.has_place):
                refusal = _two_are_made()
        except Unavailable as error:
            refusal = error
        finally:
            if not making.has_place:
                with self._lock:
                    del self._making[making.requested.key]
                making.place.close()
        return refusal

    def _start_next(self, bounds: HolderFileBounds) -> None:
        """Start the next file where none is being made."""
        if any(making.is_running for making in self._making.values()):
            return
        forgotten = time.monotonic() - bounds.forgotten_s
        for key in [k for k, m in self._making.items() if m.asked_at < forgotten]:
            self._making.pop(key).place.close()
        making = next((m for m in self._making.values() if m.has_place and m.error is None), None)
        if making is not None:
            threading.Thread(
                target=self._run, args=(making, bounds), name="past-holders", daemon=True
            ).start()
            making.is_running = True

    def _run(self, making: _Making, bounds: HolderFileBounds) -> None:
        try:
            requested = making.requested
            self._make(self._long, requested, making.network, requested.session, bounds)
        except QueryTooSlow:
            making.error = HistoryUnavailable(TOO_LARGE)
        except ScanError as error:
            making.error = error
        except Exception:
            log.exception("holders are not summed")
            making.error = Unavailable("The holders could not be summed.")
        making.place.close()
        with self._lock:
            making.is_running = False
            making.asked_at = time.monotonic()
            if making.error is None:
                del self._making[making.requested.key]
            self._start_next(bounds)


def _two_are_made() -> RateLimited:
    return RateLimited(
        f"{MAX_UNFINISHED_OF_CLIENT} lists of holders are being made for you;"
        " wait for one of them.",
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )
