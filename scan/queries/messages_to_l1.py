"""Messages that a rollup passes on to L1; L2 alone tells only that they were initiated."""

from scan.queries.filters import Value
from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader


def page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    return filtered_page(reader, "messages_to_l1", filters, window)
