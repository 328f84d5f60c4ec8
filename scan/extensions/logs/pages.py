"""The tab of a contract with its events, and their feed, where all logs are stored."""

import orjson
from flask import Response

from scan import hooks
from scan.contracts.abi_decoding import Argument, Decoded
from scan.errors import NotFound
from scan.extensions.logs import queries
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.address_head import address_head, of_contract
from scan.pages.argument_values import addresses_in
from scan.pages.filtered_lists import entity_list
from scan.pages.records import Record, names_of
from scan.pages.tabs import CONTRACT, AddressTab
from scan.queries.pages import Window
from scan.queries.reader import Reader

NOT_STORED = "Feeds of events are made of stored logs alone (SCAN_LOGS=all)."


def events_page(key: bytes) -> Response:
    """Return the tab, whose total is not known where logs are not stored."""
    own = to_hex(key)
    shown = entity_list(
        "logs", f"/address/{own}", f"/logs?address={own}", tab="events", fixed={"address": own}
    )
    for log in shown.records:
        log["event"] = log["event"] and _decoded(log["event"])
    values = [address for log in shown.records for address in addresses_in(log["event"])]
    return shown.response(
        "events.html",
        **address_head(key, "events"),
        names=names_of([], to_hex(key), *values),
        shown=shown,
        are_all_stored=queries.stored_selection(reader()) == "all",
    )


def newest_logs(reader: Reader, address: bytes, window: Window) -> list[Record]:
    """Return a contract's newest logs with their events; raises NotFound."""
    if queries.stored_selection(reader) != "all":
        raise NotFound(NOT_STORED)
    records: list[Record] = orjson.loads(
        queries.page_by_filters(reader, window, address=address).data
    )
    return records


def _decoded(record: Record) -> Decoded:
    arguments = [Argument(**argument) for argument in record["arguments"]]
    return Decoded(**{**record, "arguments": arguments})


HOOKS = hooks.Pages(
    tabs=(
        AddressTab(
            "events",
            "Events",
            120,
            of_contract,
            respond=events_page,
            group=CONTRACT,
            feed=newest_logs,
        ),
    )
)
