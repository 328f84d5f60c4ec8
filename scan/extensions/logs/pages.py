"""/events, the tab of a contract with its events, and their feed, where all logs are stored."""

from dataclasses import replace

import orjson
from flask import Blueprint, Response

from scan.contracts.abi_decoding import Argument, Decoded
from scan.errors import NotFound
from scan.extensions.logs import queries
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.addresses_and_tokens import address_head, is_of_contract
from scan.pages.filtered_lists import entity_list
from scan.pages.hooks import CONTRACT, AddressTab, Pages, Section
from scan.pages.records import Record, addresses_in, names_of
from scan.queries.pages import Window
from scan.queries.reader import Reader

MAX_SUGGESTED = 200  # events of a contract's ABI
NOT_STORED = "Feeds of events are made of stored logs alone (SCAN_LOGS=all)."


blueprint = Blueprint("pages_events", __name__)


@blueprint.get("/events")
def list_events() -> Response:
    shown = entity_list("logs", "/events", "/logs")
    values = _decode(shown.records)
    names = names_of(shown.records, *values)
    return shown.response("event_list.html", shown=shown, names=names)


def events_page(key: bytes) -> Response:
    """Return the tab, whose total is not known where logs are not stored."""
    address = to_hex(key)
    shown = entity_list(
        "logs",
        f"/address/{address}",
        f"/logs?address={address}",
        tab="events",
        fixed={"address": address},
    )
    values = _decode(shown.records)
    known = {signature: signature for signature in queries.events_at(reader(), key).values()}
    known |= {e.signature: e.signature for log in shown.records if (e := log["event"])}
    known = {text: text for text in sorted(known)[:MAX_SUGGESTED] if text.isascii()}
    fields = [
        f._replace(choices=known, only_choices=False) if f.key == "topic0" else f
        for f in shown.fields
    ]
    shown = replace(shown, fields=fields)
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


def _decode(logs: list[Record]) -> list[str]:
    """Decode the events of logs in place, and return the addresses in them."""
    for log in logs:
        log["event"] = log["event"] and _decoded(log["event"])
    return [address for log in logs for address in addresses_in(log["event"])]


def _decoded(record: Record) -> Decoded:
    lists = [record["arguments"], *record.get("alternatives", ())]
    arguments, *alternatives = ([Argument(**argument) for argument in each] for each in lists)
    return Decoded(**{**record, "arguments": arguments, "alternatives": alternatives})


HOOKS = Pages(
    blueprints=(blueprint,),
    menu=(("Contracts", "/events", "Events"),),
    sections=(Section({"block_facts": "block_events.html"}),),
    tabs=(
        AddressTab(
            "events",
            "Events",
            120,
            is_of_contract,
            respond=events_page,
            group=CONTRACT,
            feed=newest_logs,
        ),
    ),
)
