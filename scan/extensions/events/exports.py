"""Rows of events as files: `scan export events.vault_deposit`, with the columns of the view."""

from collections.abc import Iterator
from typing import Any

import orjson

from scan.database.connection import Database
from scan.errors import Unavailable
from scan.extensions.events import event_filters, event_lists
from scan.extensions.events.event_lists import FollowedEvent
from scan.extensions.events.event_tables import columns_of, read_table
from scan.extensions.exports.hooks import AddedTable, Exports, Values, typed_value

PREFIX = "events."
ROWS_AT_ONCE = 1000


def tables(database: Database, names: set[str]) -> dict[str, AddedTable]:
    """Return the tables of events that names mean, such as events.vault_deposit."""
    wanted = {name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)}
    if not wanted:
        return {}
    added = {}
    for address, contract, number, view, event, columns, forms in database.rows(
        "events/views_list", address=None
    ):
        if view in wanted:
            view_forms = orjson.loads(forms)
            table = read_table(
                bytes(address), contract, view, event, orjson.loads(columns), view_forms
            )
            rows = _Rows(FollowedEvent(number, table, 0, view_forms))
            added[f"{PREFIX}{view}"] = AddedTable(columns_of(table), rows)
    return added


class _Rows:
    """Reads the rows of an event, a range of blocks at a time. Raises Unavailable where the range
    is to have more of them, as older logs are filled."""

    def __init__(self, event: FollowedEvent) -> None:
        self._columns = columns_of(event.table)
        self._event = event
        self._filters = event_filters.read(event.table, {}, {})

    def __call__(self, database: Database, block_from: int, block_to: int) -> Iterator[Values]:
        table, bounds = self._event.table, {"block_from": block_from, "block_to": block_to}
        complete_from = database.value("events/complete_from_get", address=table.address, **bounds)
        if complete_from is None or complete_from > block_from:
            raise Unavailable(
                f"{PREFIX}{table.view} is complete from block {complete_from} on, not from"
                f" {block_from}: export it later, or --from there"
            )
        after, limit = None, ROWS_AT_ONCE
        while True:
            [row] = database.rows(
                "queries/decoded_events_list",
                **event_lists.statement_forms(self._event, self._filters),
                direction="asc",
                limit=limit,
                offset=0,
                after=after,
                **bounds,
                seen_block=None,
                max_entries=None,
                max_total=None,
                max_bytes=event_lists.MAX_PAGE_BYTES,
                max_compared_bytes=event_lists.MAX_COMPARED_BYTES,
            )
            _, data, count, _, after_page, *_ = row
            if data is None:
                limit = max(1, limit // 10)
                continue
            if count:
                yield self._values(orjson.loads(data))
            if after_page is None:
                return
            after = after_page

    def _values(self, logs: list[dict[str, Any]]) -> Values:
        rows = [event_lists.row_of_view(self._event, log["form"], log) for log in logs]
        return {
            name: [typed_value(row[name], type_) for row in rows]
            for name, type_ in self._columns.items()
        }


HOOKS = Exports(cells={}, tables=tables)
