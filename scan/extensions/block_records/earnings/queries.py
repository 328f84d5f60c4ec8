"""What producers of blocks earned, by day and producer."""

from datetime import date

from scan.queries.cursors import ADDRESS, ORDINAL
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

MOST_DAYS = 31  # whose blocks one page reads; of one producer, an index has them apart
MOST_DAYS_OF_MINER = 366


def page(
    reader: Reader,
    window: Window,
    miner: bytes | None,
    first: date | None = None,
    last: date | None = None,
) -> Page:
    """Return a page of days between two dates (UTC), both included, the newest first. It may end
    before it is full; its cursor goes on."""
    filters = {"miner": miner, "first": first, "last": last}
    kinds = (ORDINAL, ORDINAL, ADDRESS)
    traversal = window.traversal("earnings", filters, kinds, has_blocks=False)
    after_day, after_blocks, after_miner = traversal.position(3)
    data, count, *following = reader.row(
        "queries/earnings_list",
        is_unbounded=True,
        miner=miner,
        has_miner=miner is not None,
        date_from=first,
        date_to=last,
        after_day=after_day,
        after_blocks=after_blocks,
        after_miner=after_miner,
        limit=window.limit,
        most_days=MOST_DAYS if miner is None else MOST_DAYS_OF_MINER,
    )
    day, blocks, address = following
    return Page(data, count, None, traversal.next(day and (day, int(blocks), bytes(address))))
