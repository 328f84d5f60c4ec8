"""Counters and lines over time, as Blockscout's service of statistics has them."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from scan import VERSION, parameters
from scan.api.renamed_fields import renamed_field
from scan.errors import NotFound
from scan.ethereum.units import GWEI_DECIMALS, in_units
from scan.extensions.blockscout import paths
from scan.extensions.chain_statistics import statistics
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.queries import network

SPANS = {"DAY": "day", "WEEK": "week", "MONTH": "month", "YEAR": "year"}
FORMATS: Mapping[str, Callable[[Any], str]] = {
    "coins": lambda wei: in_units(int(wei)),
    "gwei": lambda wei: in_units(int(wei), GWEI_DECIMALS),
    "seconds": lambda milliseconds: in_units(int(milliseconds), 3),
    "text": lambda number: str(number or 0),
}

blueprint = paths.Routes("stats_service", paths.STATS_PREFIX)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _charts() -> Mapping[str, Mapping[str, str]]:
    sections = _table()["sections"].values()
    return {id_: chart for section in sections for id_, chart in section["charts"].items()}


@blueprint.path("/counters")
def list_counters() -> Response:
    return json_value({"counters": [*_counters().values()]})


@blueprint.path("/lines")
def list_lines() -> Response:
    sections = [
        {"id": id_, "title": section["title"], "charts": [*map(_info, section["charts"])]}
        for id_, section in _table()["sections"].items()
    ]
    return json_value({"sections": sections})


@blueprint.path("/lines/<name>")
def get_line(name: str) -> Response:
    """Return a line's points, of which the newest one is of a span of time that has not ended."""
    if name not in _charts():
        raise NotFound("There is no such line.")
    span = paths.one_of("resolution", (*SPANS, "RESOLUTION_UNSPECIFIED"))
    first, last = (_date(key) for key in ("from", "to"))
    records = statistics.activity_over_time(reader(), SPANS.get(span or "DAY", "day"), first, last)
    return json_value(_line(name, records))


def _date(name: str) -> date | None:
    text = paths.text(name)
    return parameters.optional_date({} if text is None else {name: text}, name)


@blueprint.path("/pages/main")
def get_main_page() -> Response:
    """Return the counters of a main page, and transactions of the chain's newest days."""
    records = statistics.activity_over_time(reader(), "day", most=statistics.DEFAULT_DAYS)
    line = {"daily_new_transactions": _line("newTxns", records)}
    return json_value(_counters_of("main") | line)


@blueprint.path("/pages/contracts")
def get_contracts_page() -> Response:
    return json_value(_counters_of("contracts"))


@blueprint.path("/pages/transactions")
def get_transactions_page() -> Response:
    return json_value(_counters_of("transactions"))


@blueprint.path("/docs/swagger.yaml")
def get_document() -> Response:
    """Return the OpenAPI document of this service's paths, as JSON, which YAML includes."""
    documented = {}
    for path, summary in _table()["summaries"].items():
        in_path = re.findall("<([a-z]+)>", path)
        takes = sorted(paths.answered_paths()[f"{paths.STATS_PREFIX}{path}"].takes)
        operation = {
            "summary": summary,
            "parameters": [
                {
                    "name": name,
                    "in": where,
                    "required": where == "path",
                    "schema": {"type": "string"},
                }
                for where, names in (("path", in_path), ("query", takes))
                for name in names
            ],
            "responses": {"200": {"description": "As the summary says."}},
        }
        template = path.replace("<", "{").replace(">", "}")
        documented[f"/api/v1{template}"] = {"get": operation}
    info = {"title": "Statistics", "version": VERSION}
    return json_value({"openapi": "3.0.3", "info": info, "paths": documented})


def _counters_of(page: str) -> paths.Object:
    counters, names = _counters(), _table()["pages"][page]
    return {name: counters[id_] for name, id_ in names.items() if id_ in counters}


def _counters() -> dict[str, paths.Object]:
    """Return the counters by id; that of the day before is left out on a chain's first day."""
    totals = network.totals(reader())
    values = totals | orjson.loads(network.stats(reader()))
    values |= {f"{name}OfDay": value for name, value in (totals["today"] or {}).items()}
    days = orjson.loads(statistics.days(reader(), length=2).data)
    if len(days) == 2:
        values["transactionsOfDayBefore"] = days[0]["transactions"]
    return {
        id_: {**_described(id_, counter), "value": _value(counter, values)}
        for id_, counter in _table()["counters"].items()
        if renamed_field(counter["value"]).source in values
    }


def _line(id_: str, records: Sequence[paths.Record]) -> paths.Object:
    points = [
        {
            "date": record["date"],
            "date_to": record["dateTo"],
            "value": _value(_charts()[id_], record),
            "is_approximate": not record["isComplete"],
        }
        for record in records
    ]
    return {"chart": points, "info": _info(id_)}


def _info(id_: str) -> paths.Object:
    return {**_described(id_, _charts()[id_]), "resolutions": [*SPANS]}


def _described(id_: str, entry: Mapping[str, str]) -> paths.Object:
    units = entry.get("units")
    if units == "coin":
        units = network.coin_symbol(reader())
    described = {"id": id_, "title": entry["title"], "description": entry["description"]}
    return described if units is None else {**described, "units": units}


def _value(entry: Mapping[str, str], values: Mapping[str, Any]) -> str:
    field = renamed_field(entry["value"])
    return FORMATS[field.format or "text"](values[field.source])
