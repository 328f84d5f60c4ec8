"""The list of one event in a followed contract's tab of events, with a field for each argument."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from flask import Response

from scan.extensions.events import event_filters, event_lists
from scan.extensions.events.event_filters import EQUAL, LEAST, MOST, Parameter
from scan.extensions.events.event_lists import FollowedEvent
from scan.extensions.logs.hooks import EventTab
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.pages import addresses_and_tokens, filtered_lists
from scan.pages.filtered_lists import Field
from scan.pages.records import Record
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

MAX_EVENTS = 200  # that are linked
MAX_FIELDS = 30
_LABELS = {EQUAL: "", LEAST: ", at least", MOST: ", at most"}
_KINDS = {"address": "address", "uint": "number", "int": "number"}


def names(of_request: Reader, address: bytes) -> Sequence[tuple[str, str]]:
    """Return the names of the views of a contract's events, without the contract's, and those of
    the events; none of a contract that is not followed."""
    [rows] = of_request.row("queries/event_views_list_names", address=address, limit=MAX_EVENTS)
    return [(view, event) for view, event in rows]


def respond(address: bytes, event: str) -> Response:
    text = to_hex(address)
    followed = event_lists.find(reader(), address, event, is_view=True)
    spellings = followed.spellings

    def read(window: Window, filters: Mapping[str, str]) -> Page:
        read_filters = event_filters.read(followed.table, spellings, filters)
        return event_lists.page(reader(), window, followed, read_filters)

    shown = filtered_lists.filtered_list(
        f"/address/{text}",
        f"/contracts/{text}/events/{quote(followed.table.signature, safe='')}",
        [*_fields(followed, spellings), *filtered_lists.RANGES],
        read,
        tab="events",
        more=("event",),
    )
    arguments = followed.view_forms[-1]["arguments"]
    return shown.response(
        "event_rows.html",
        **addresses_and_tokens.address_head(address, "events", more=_addresses(shown.records)),
        shown=shown,
        event=followed.table.event,
        columns=[argument["name"] for argument in arguments],
    )


def _fields(event: FollowedEvent, spellings: Mapping[str, Parameter]) -> Sequence[Field]:
    columns = {column.name: column for column in event.table.columns}
    return [
        Field(
            spelling,
            f"{columns[column].argument or column}{_LABELS[comparison]}",
            _KINDS.get(columns[column].kind, "text"),
        )
        for (column, comparison), spelling in event_filters.shortest(
            spellings, is_page=True
        ).items()
    ][:MAX_FIELDS]


def _addresses(records: Sequence[Record]) -> list[str]:
    return [
        value
        for record in records
        for value in (record["args"] or {}).values()
        if isinstance(value, str) and len(value) == 42 and value.startswith("0x")
    ]


HOOKS = EventTab(names=names, respond=respond)
