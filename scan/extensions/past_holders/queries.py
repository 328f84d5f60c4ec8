"""The list of a token's holders after a block, or the newest one at a time: which block that is,
and its pages."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.concurrency.concurrency_limit import PLACE_WAIT_S
from scan.database.transaction import Row
from scan.errors import HistoryUnavailable, NotFound, Reorganised, Unavailable
from scan.ethereum.served_chain import BlockId
from scan.queries import blocks, cursors, tokens
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

MAX_ROWS = 10_000_000  # of a file; PostgreSQL takes about two microseconds each
MAX_LISTED_ROWS = 100_000  # of a page, for which they are summed anew
STATEMENT = "queries/past_holders_get_way"


class Way(NamedTuple):
    """The row of STATEMENT without the version of the index."""

    block_hash: memoryview | None
    token_type: str | None
    has_one_life: bool
    knows_ids: bool
    inconsistent_since: int | None
    kept_from: int
    since: int
    transfers_before: int
    transfers_after: int
    holders: int
    items: int
    first: int
    bound: int
    past: int

    @property
    def has_ids(self) -> bool:
        """Return whether holders are listed with the ids that they have."""
        return self.token_type != "BEP20" and self.knows_ids

    @property
    def form(self) -> Hashable:
        """Return what decides the list besides the token's transfers up to the block."""
        return self.token_type, self.has_ids, self.has_one_life

    def rows_from_end(self) -> int:
        """Return how many rows are read back from the present holders. A balance of an id is there
        for a transfer at most."""
        present = self.holders
        if self.has_ids:
            is_single = self.token_type == "BEP721"
            present = self.items if is_single else self.transfers_before + self.transfers_after
        return self.transfers_after + present

    def rows(self, number: int) -> tuple[int, bool]:
        """Return how many rows are read, and whether back from the present holders; raises
        HistoryUnavailable where these are not there, or too many."""
        is_kept = not self.kept_from or (self.has_one_life and self.since >= self.kept_from)
        ways = [(self.transfers_before, False)] if is_kept else []
        if self.has_one_life and number >= self.kept_from - 1:
            ways.append((self.rows_from_end(), True))
        if not ways:
            raise HistoryUnavailable(
                f"The holders then are not known: transfers before block {self.kept_from} are not"
                " kept."
            )
        rows, is_from_end = min(ways)
        if rows > MAX_ROWS:
            raise HistoryUnavailable(
                f"The holders then are not summed: {rows:,} transfers would be read, of at most"
                f" {MAX_ROWS:,}."
            )
        return rows, is_from_end

    def params(self, number: int) -> Mapping[str, Any]:
        """Return the parameters of queries/past_holders_open but the token and where the list
        begins; raises as rows() does."""
        _, is_from_end = self.rows(number)
        first, past = (self.bound, self.past) if is_from_end else (self.first, self.bound)
        return {
            "block_number": number,
            "first": first,
            "past": max(past, first),
            "sign": -1 if is_from_end else 1,
            "has_one_life": self.has_one_life,
            "counts_ids": self.token_type != "BEP20",
            "has_ids": self.has_ids,
        }


def way_of(row: Row, first_block: int) -> Way:
    """Return the way that a row of STATEMENT tells. Raises NotFound for an unknown token,
    HistoryUnavailable where its events are not its balances."""
    way = Way(*row)
    if way.token_type is None:
        raise NotFound(tokens.UNKNOWN)
    since = way.inconsistent_since
    if since is not None and since <= first_block:
        raise HistoryUnavailable(
            "The holders then are not known: this token may be older than the index, which begins"
            f" at block {first_block}."
        )
    if since is not None:
        raise HistoryUnavailable(
            "The holders then are not known: the events of this token are not its balances, as"
            f" block {since} has shown."
        )
    return way


MAX_IDS = 10_000  # on a page
FETCHED_ROWS = 1000
# Of a file's statement, which proxies wait for. It uses twice as much memory where it groups:
# 400,000 holders take 40 MB.
FILE_TIMEOUT_MS, WORK_MEM = 25_000, "32MB"
NEGATIVE = (
    "The holders then are not known: events up to this block take more of the token than was there."
)


class HolderLists(tokens.PastHolders):
    """The holders of tokens after older blocks."""

    is_there = True

    def open(
        self, reader: Reader, token: bytes, past: tokens.Past, cursor: str | None
    ) -> tokens.PastHolderList:
        scope = {"token": token, **past._asdict()}
        begun = Window(1, 0, cursor=cursor).traversal("past holders", scope).cursor
        if begun is not None:
            assert begun.newest is not None
            block = begun.newest
            if blocks.hash_at(reader, block.number) != block.hash:
                raise Reorganised(
                    "A fork took the block of this list: begin without the cursor.",
                    cursors.common_block(reader, block),
                    None,
                )
        elif isinstance(past.block, int) and past.block < reader.first_block:
            _way(reader, token, past.block)
            return HolderList(reader, token, BlockId(past.block, bytes(32)), scope, None)
        else:
            block = _block(reader, past)
        way = _way(reader, token, block.number)
        way.rows(block.number)
        return HolderList(reader, token, block, scope, way)


def _way(reader: Reader, token: bytes, number: int) -> Way:
    return way_of(reader.row(STATEMENT, address=token, block_number=number), reader.first_block)


def _block(reader: Reader, past: tokens.Past) -> BlockId:
    """Return the block; raises NotFound."""
    if past.block is not None:
        return blocks.find(reader, past.block)
    assert past.time_s is not None
    number = blocks.nearest(reader, past.time_s).before
    if number is None:
        raise NotFound("No block is indexed at or before this time.", field="timeTo")
    return blocks.find(reader, number)


class HolderList:
    """The list after a block; without a way it is empty."""

    def __init__(
        self,
        reader: Reader,
        token: bytes,
        block: BlockId,
        scope: Mapping[str, object],
        way: Way | None,
    ) -> None:
        self._reader, self._database = reader, reader.sources.database
        self._token, self._block, self._scope, self._way = token, block, scope, way
        self.has_ids = way is not None and way.has_ids
        self._row_count = self._holder_count = 0
        self._rows: list[Row] | None = None  # that are fetched, and on no page yet

    def page(self, window: Window) -> Page:
        """Return a page of holders, of NFTs with their `items`. One ends early at MAX_IDS of these,
        and the next begins with the others of the same holder. Raises HistoryUnavailable where only
        a file may take as long."""
        rows = 0 if self._way is None else self._way.rows(self._block.number)[0]
        if rows > MAX_LISTED_ROWS:
            raise HistoryUnavailable(
                f"The holders then are not listed in pages: {rows:,} transfers would be read for"
                f" each, of at most {MAX_LISTED_ROWS:,}. A file has all: format=csv or ndjson."
            )
        place = self._reader.sources.unbounded_statements.place
        with (
            place(self._reader.client, wait_s=PLACE_WAIT_S),
            self._database.transaction(snapshot=True),
        ):
            return self._page(window, is_by_holder=self.has_ids)

    def page_of_file(self, window: Window) -> Page:
        """Return a page as page() does, in the transaction of a file, whose next pages go on."""
        return self._page_of_file(window, is_by_holder=self.has_ids)

    def page_of_rows(self, window: Window) -> Page:
        """Return a page of a file, with a record for each holder, or of NFTs for each id of a
        holder."""
        return self._page_of_file(window, is_by_holder=False)

    def _page_of_file(self, window: Window, *, is_by_holder: bool) -> Page:
        if self._rows is None:
            bounds = {"timeout_ms": FILE_TIMEOUT_MS, "work_mem": WORK_MEM}
            self._database.rows("queries/past_holders_allow", **bounds)
        return self._page(window, is_by_holder=is_by_holder)

    def _page(self, window: Window, *, is_by_holder: bool) -> Page:
        traversal = window._replace(time_to=None).traversal("past holders", self._scope)
        if self._way is None:
            return Page("[]", 0, 0)
        [after] = traversal.position(1)
        if self._rows is None:
            self._rows = self._opened(after or 0, window.offset if after is None else 0)
        most = MAX_IDS if is_by_holder else window.limit
        while self._rows and len(self._rows) < most and (fetched := self._fetched()):
            self._rows += fetched
        records, rows = _records(self._rows[:most], window.limit, is_by_holder=is_by_holder)
        end = self._rows[rows - 1][0] if rows else 0
        self._rows = self._rows[rows:]
        cursor = traversal.next((end,), self._block) if 0 < end < self._row_count else None
        return Page(orjson.dumps(records).decode(), len(records), self._holder_count, cursor)

    def _opened(self, after: object, skipped: int) -> list[Row]:
        """Open the cursor, and return the first rows."""
        number = self._block.number
        way = _way(self._reader, self._token, number)
        assert self._way is not None
        if (bytes(way.block_hash or b""), way.form) != (self._block.hash, self._way.form):
            raise Unavailable("The chain is being reorganised; try again shortly.")
        position = {"address": self._token, "after": after, "skipped": skipped}
        self._database.rows("queries/past_holders_open", **way.params(number), **position)
        first = self._database.rows("queries/past_holders_fetch", limit=FETCHED_ROWS)
        self._row_count, self._holder_count, is_known = first[0][:3]
        if not is_known:
            raise HistoryUnavailable(NEGATIVE)
        return [row[3:] for row in first if row[3] is not None]

    def _fetched(self) -> list[Row]:
        rows = self._database.rows("queries/past_holders_fetch", limit=FETCHED_ROWS)
        return [row[3:] for row in rows]


def _records(
    rows: Sequence[Row], limit: int, *, is_by_holder: bool
) -> tuple[list[dict[str, Any]], int]:
    """Return the records of rows, at most `limit`, and the number of rows that they are made of."""
    records: list[dict[str, Any]] = []
    count = 0
    for _, holder, balance, token_id, amount in rows:
        is_new = not (is_by_holder and records and records[-1]["address"] == holder)
        if is_new and len(records) == limit:
            break
        if is_new:
            records.append({"address": holder, "balance": balance})
        if is_by_holder:
            item = {"tokenId": token_id, "balance": amount}
            records[-1].setdefault("items", []).append(item)
        elif token_id is not None:
            records[-1] |= {"tokenId": token_id, "amount": amount}
        count += 1
    return records, count
