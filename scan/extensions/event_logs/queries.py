"""Logs of an event's signature, decoded by it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.contracts.abi import MAX_LENGTH, AbiError, AbiType, canonical, parse_signature
from scan.contracts.abi_decoding import MAX_ARGUMENTS, WORK, DecodingBudget
from scan.errors import InvalidParameter, Unavailable
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.column_types import TEXT, ColumnType
from scan.extensions.decoding.decoding import named_event
from scan.extensions.events import event_filters, event_tables
from scan.extensions.events.event_filters import ARGUMENTS, EQUAL
from scan.extensions.events.event_tables import OF_LOG, EventForm, EventTable, Version
from scan.extensions.logs import queries as logs
from scan.extensions.logs.log_filter import LogFilter, having_all
from scan.extensions.logs.unstored_logs import TOO_LARGE, TooManyLogs
from scan.hex import data
from scan.http.list_responses import ORDERED
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

SIGNATURE, ADDRESS = "signature", "address"
KEYS = (SIGNATURE, ADDRESS, ARGUMENTS)
STANDARD = (*ORDERED, *KEYS)
MOST_ADDRESSES = 20
TOO_LONG = "Decoding it takes longer than one request may."
NOT_OF_TYPES = "The log's data or topics are no values of the signature's types."
CHANGED = "The chain is being reorganised."
VIEW = "events"
PROBLEM = "problem"

Record = dict[str, Any]


class PageBounds:
    """The work of decoding a page."""

    work = WORK


@dataclass
class EventPage(Page):
    """A page of events; `source` is as of a LogPage, of all pages that the request has read."""

    source: str = logs.INDEX

    @property
    def more(self) -> Mapping[str, object]:
        return {"source": self.source}

    @property
    def file_headers(self) -> Mapping[str, str]:
        return {"X-Scan-Source": self.source}


class EventQuery(NamedTuple):
    """An event as a table of one form, the names of its arguments, and which of its logs are asked
    for."""

    table: EventTable
    names: Sequence[str]
    log_filter: LogFilter

    @property
    def form(self) -> EventForm:
        return self.table.forms[0]

    @property
    def columns(self) -> Mapping[str, ColumnType]:
        """The columns of a file with their types: of logs, of arguments, and why these are null."""
        types = event_tables.columns_of(self.table)
        names = [*OF_LOG, *(column.name for column in self.form.columns)]
        return {name: types[name] for name in names} | {event_tables.free(PROBLEM, names): TEXT}


def read(arguments: Mapping[str, Any]) -> EventQuery:
    """Return what the parameters of a request ask for, of a query string or of JSON. Raises
    InvalidParameter."""
    text = parameters.required(arguments, SIGNATURE)
    table = _table(parameters.text(text, SIGNATURE, most=MAX_LENGTH))
    [form] = table.forms
    indexed = {column.name for column in form.columns if column.indexed}
    every = event_filters.spellings(table, STANDARD)
    spellings = {
        spelling: of
        for spelling, of in every.items()
        if of.comparison == EQUAL and of.column in indexed
    }
    given = event_filters.given(spellings, STANDARD, arguments, every.keys() - spellings)
    [filter_] = event_filters.read(table, spellings, given)
    # A key is a topic, or of an address its 20 bytes.
    keys = [key and key.rjust(32, b"\0") for key in filter_.keys[: MAX_TOPICS - 1]]
    log_filter = having_all(None, [form.topic0, *keys])
    [of_view] = orjson.loads(event_tables.view_forms(table))
    return EventQuery(
        table,
        [argument["name"] for argument in of_view["arguments"]],
        log_filter._replace(addresses=_addresses(arguments)),
    )


def _table(text: str) -> EventTable:
    try:
        canonical(text)
        definition = {"type": "event", **parse_signature(text)}
    except AbiError as error:
        reason = f"{SIGNATURE} is not that of an event: {error}."
        raise InvalidParameter(reason, field=SIGNATURE) from None
    tables = event_tables.merged(b"", VIEW, (), [Version(0, [definition])], ())
    reason = f"{SIGNATURE} has more than 3 indexed arguments or {MAX_ARGUMENTS} arguments."
    parameters.require(tables, SIGNATURE, reason)
    for abi_type in tables[0].forms[0].entry.types:
        reason = f"{SIGNATURE} does not say what {abi_type.name[:60]} is: give its elementary type."
        parameters.require(_is_known(abi_type), SIGNATURE, reason)
    return tables[0]


def _is_known(abi_type: AbiType) -> bool:
    return abi_type.kind != "unknown" and all(map(_is_known, abi_type.items))


def _addresses(arguments: Mapping[str, Any]) -> tuple[bytes, ...]:
    if ADDRESS not in arguments:
        return ()
    given = arguments[ADDRESS]
    texts = given.split(",") if isinstance(given, str) else given
    reason = f"{ADDRESS} must be 1 to {MOST_ADDRESSES} addresses, separated by commas."
    is_right = isinstance(texts, list) and 0 < len(texts) <= MOST_ADDRESSES
    parameters.require(is_right, ADDRESS, reason)
    stripped = (text.strip() if isinstance(text, str) else text for text in texts)
    return tuple(sorted({parameters.address(text, ADDRESS) for text in stripped}))


def page(reader: Reader, window: Window, query: EventQuery) -> EventPage:
    """Return a page as records of the API; it is shorter where logs are large."""
    return _page(reader, window, query, _record)


def rows_page(reader: Reader, window: Window, query: EventQuery) -> EventPage:
    """Return a page as rows of the columns of a file."""
    return _page(reader, window, query, _row)


class Reading(NamedTuple):
    """The values of a log's arguments, or why it has none."""

    values: Sequence[Any] | None
    problem: str | None = None


def _reading(query: EventQuery, log: Record, budget: DecodingBudget) -> Reading:
    entry, topics = query.form.entry, [data(topic) for topic in log["topics"]]
    if len(topics) - 1 != sum(entry.indexed):
        counts = f"{len(topics) - 1} indexed arguments, the signature {sum(entry.indexed)}"
        return Reading(None, f"The log has {counts}.")
    event = named_event(topics, data(log["data"]), [entry], budget)
    if event is not None:
        return Reading([argument.value for argument in event.arguments])
    return Reading(None, TOO_LONG if budget.is_exceeded else NOT_OF_TYPES)


def _record(query: EventQuery, log: Record, reading: Reading) -> Record:
    of_log = {name: value for name, value in log.items() if name not in ("topics", "data")}
    event: Record = {"name": query.table.event, "signature": query.table.signature, "args": None}
    if reading.values is None:
        return {**of_log, **event, PROBLEM: reading.problem}
    return {**of_log, **event, "args": dict(zip(query.names, reading.values, strict=True))}


def _row(query: EventQuery, log: Record, reading: Reading) -> Record:
    names = ("blockNumber", "timestamp", "transactionHash", "logIndex", "address")
    values = reading.values or [None] * len(query.names)
    cells = (*(log[name] for name in names), *values, reading.problem)
    return dict(zip(query.columns, cells, strict=True))


Shape = Callable[[EventQuery, Record, Reading], Record]


def _page(reader: Reader, window: Window, query: EventQuery, shape: Shape) -> EventPage:
    try:
        read = logs.records(reader, window, query.log_filter)
    except TooManyLogs as error:
        if error.message != TOO_LARGE or window.offset or window.limit == 1:
            raise
        return _page(reader, window._replace(limit=max(1, window.limit // 10)), query, shape)
    decoded: list[Reading] = []
    budget = DecodingBudget(reader.sources.get(PageBounds).work)
    for log in read.records:
        reading = _reading(query, log, budget)
        if reading.problem is TOO_LONG and decoded:
            break
        decoded.append(reading)
    if budget.is_exceeded:
        reader.do_not_cache()
    if len(decoded) < len(read.records):
        if window.offset:
            raise Unavailable(TOO_LARGE)
        whole = read.records
        read = logs.records(reader, window._replace(limit=len(decoded)), query.log_filter)
        if read.records != whole[: len(decoded)]:
            raise Unavailable(CHANGED, retry_after_s=1)
    if "logs" in reader.reported:
        reader.reported.remove("logs")
        reader.reported.add("events")
    shaped = [shape(query, *of) for of in zip(read.records, decoded, strict=True)]
    source = logs.NODE if "events" in reader.reported else read.source
    return EventPage(
        orjson.dumps(shaped).decode(),
        len(shaped),
        read.total,
        read.next,
        kept_from=read.kept_from,
        source=source,
    )
