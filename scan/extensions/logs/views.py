"""Logs: GET /api/v1/logs. Where all are stored, also /events, the tab of a contract with its
events, and their feed."""

from dataclasses import replace
from functools import partial

import flask
import orjson
from flask import Blueprint

from scan import registry
from scan.api.hooks import Api
from scan.contracts.abi_decoding import Argument, Decoded
from scan.errors import NotFound
from scan.extensions.logs import queries as logs
from scan.extensions.logs import upgrades
from scan.extensions.logs.hooks import EventTab
from scan.hex import to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response
from scan.http.list_responses import ORDERED, list_response
from scan.pages import addresses_and_tokens, filtered_lists, hooks
from scan.pages.records import Record, addresses_in, names_of
from scan.queries.filter_values import FILTER_KEYS
from scan.queries.hooks import Entities
from scan.queries.list_pages import Window
from scan.queries.reader import Reader

api_views = Blueprint("logs", __name__)


@api_views.get("/logs")
def list_logs() -> Response:
    arguments = query_arguments(*FILTER_KEYS["logs"], *ORDERED)
    log_filter = logs.read_filter(reader(), arguments)
    read = partial(logs.page, reader(), log_filter=log_filter, has_total=True)
    read_for_file = partial(logs.stored_page, reader(), log_filter=log_filter)
    return list_response("logs", arguments, read, read_for_file=read_for_file)


MAX_SUGGESTED = 200  # events of a contract's ABI
NOT_STORED = "Feeds of events are made of stored logs alone (SCAN_LOGS=all)."


page_views = Blueprint("pages_logs", __name__)


@page_views.get("/events")
def list_events() -> Response:
    log_list = filtered_lists.entity_list("logs", "/events", "/logs")
    values = _decode(log_list.records)
    names = names_of(log_list.records, *values)
    log_filter = logs.read_filter(reader(), log_list.api_arguments) if log_list.records else None
    has_file = log_filter is not None and logs.are_stored(reader(), log_filter)
    return log_list.response("event_list.html", shown=log_list, names=names, has_file=has_file)


def events_page(key: bytes) -> flask.Response:
    """Return the tab, whose total is not known where logs are not stored."""
    address = to_hex(key)
    tabs = registry.parts(EventTab)
    single = flask.request.args.get("event")
    if single and tabs:
        return tabs[0].respond(key, single)
    log_list = filtered_lists.entity_list(
        "logs",
        f"/address/{address}",
        f"/logs?address={address}",
        tab="events",
        fixed={"address": address},
    )
    values = _decode(log_list.records)
    suggested = {e.signature: e.signature for e in logs.events_at(reader(), key)[0]}
    suggested |= {e.signature: e.signature for log in log_list.records if (e := log["event"])}
    suggested = {text: text for text in sorted(suggested)[:MAX_SUGGESTED] if text.isascii()}
    fields = [
        f._replace(choices=suggested, only_choices=False) if f.key == "topic0" else f
        for f in log_list.fields
    ]
    log_list = replace(log_list, fields=fields)
    return log_list.response(
        "events.html",
        **addresses_and_tokens.address_head(key, "events", more=values),
        shown=log_list,
        are_all_stored=logs.stored_selection(reader()) == "all",
        single_events=[event for tab in tabs for event in tab.names(reader(), key)],
    )


def newest_logs(reader: Reader, address: bytes, window: Window) -> list[Record]:
    """Return a contract's newest logs with their events; raises NotFound."""
    if logs.stored_selection(reader) != "all":
        raise NotFound(NOT_STORED)
    page = logs.page_by_filters(reader, window, address=address)
    records: list[Record] = orjson.loads(page.data)
    return records


def _decode(logs: list[Record]) -> list[str]:
    """Decode the events of logs in place, and return the addresses in them."""
    for log in logs:
        log["event"] = log["event"] and _decoded(log["event"])
    return [address for log in logs for address in addresses_in(log["event"])]


def _decoded(record: Record) -> Decoded:
    record = {name: value for name, value in record.items() if name != "place"}
    lists = [record["arguments"], *record.get("alternatives", ())]
    arguments, *alternatives = ([*map(_argument, list_)] for list_ in lists)
    return Decoded(**{**record, "arguments": arguments, "alternatives": alternatives})


def _argument(record: Record) -> Argument:
    errors = [(error["place"], _decoded(error)) for error in record.get("errors", ())]
    return Argument(**{**record, "errors": errors})


HOOKS = (
    Api(blueprints=(api_views,)),
    Entities(pages={"logs": logs.page_by_filters}),
    hooks.Pages(
        blueprints=(page_views,),
        menu=(("Contracts", "/events", "Events"),),
        sections=(
            hooks.Section({"block_facts": "block_events.html"}),
            hooks.AddressSection({"address": "address_upgrades.html"}, upgrades.upgrades_head),
        ),
        tabs=(
            hooks.AddressTab(
                "events",
                "Events",
                120,
                addresses_and_tokens.is_of_contract,
                respond=events_page,
                group=hooks.CONTRACT,
                feed=newest_logs,
            ),
        ),
    ),
)
