"""Which transfers tell the holders of a token after a block, and why none do."""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from scan.database.transaction import Row
from scan.errors import HistoryUnavailable, NotFound
from scan.queries import tokens

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
