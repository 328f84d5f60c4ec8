"""Internal transfers: coin that contracts moved, as traces show it."""

from typing import Any

from scan.database.lists import all_entities
from scan.errors import NotFound
from scan.queries.pages import Form, Page, Value, Window, filtered_page
from scan.queries.reader import Reader


def page(reader: Reader, window: Window, *, form: Form = "api", **filters: Value | None) -> Page:
    """Return a page; raises NotFound where internal transfers are not indexed at all."""
    page = filtered_page(reader, "internal_transfers", filters, window, form=form)
    if page.untraced_blocks is None:
        raise NotFound(without_traces(reader))
    return page


def transaction_page(
    reader: Reader, transaction_hash: bytes, window: Window, form: Form = "api"
) -> tuple[Page, bool | None]:
    """Return a page, and whether the block's traces were read: None if it is not indexed.

    The ascending order is that of the calls; a range of blocks does not apply.
    """
    traversal = window.traversal("transaction's internal transfers", {"hash": transaction_hash})
    forms: dict[str, Any] = {"form": form} if all_entities()["internal_transfers"].forms else {}
    data, count, total, is_traced, *edges = reader.row(
        "queries/internal_transfers_list_by_transaction",
        hash=transaction_hash,
        **forms,
        direction=window.direction,
        limit=window.limit,
        offset=window.offset,
        after=traversal.after,
        seen_block=traversal.seen_block,
    )
    return Page.of_row(
        reader, "internal_transfers", traversal, (data, count, total, *edges)
    ), is_traced


def without_traces(reader: Reader) -> str:
    """Return why internal transfers are not indexed, as far as this process knows."""
    if reader.sources.traces == "off":
        return "Internal transfers are not indexed, since SCAN_TRACES is off."
    return (
        "Internal transfers are not indexed, since the node gave no traces: they need"
        " SCAN_TRACES=auto and a node that offers debug_traceBlockByHash with callTracer,"
        " trace_block, or the steps of debug_traceTransaction. Contracts created by contracts may"
        " be missing, too."
    )
