"""Lists of a followed contract's events, and of the logs of one of them with their arguments: as
records of the API, and as rows with the columns of its view."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.contracts.abi import AbiError, canonical
from scan.errors import InvalidParameter, NotFound, Unavailable
from scan.ethereum.rlp_and_tries import keccak256
from scan.extensions.events import event_filters
from scan.extensions.events.event_decoding import KEYS
from scan.extensions.events.event_filters import EQUAL, FormFilter, Parameter
from scan.extensions.events.event_tables import (
    EMITTER,
    MALFORMED,
    OF_LOG,
    EventTable,
    are_of_children,
    identifier,
    read_table,
)
from scan.hex import to_hex
from scan.http.list_responses import ORDERED
from scan.queries.list_pages import Page, Window, in_kept_blocks
from scan.queries.reader import Reader

# Parameters of a list of an event's logs besides those of its arguments, and those of its page.
CHILDREN = "children"
STANDARD = (*ORDERED, event_filters.ARGUMENTS, CHILDREN)
RESERVED = (*STANDARD, "tab", "row", "event", "topic0", "a", "p", "ps")
MAX_TOTAL = 100_000  # logs that are counted: 0.1 s in memory
MOST_CHILDREN = 10_000  # that are counted: 1 ms in memory
# Logs of a form that a page compares with conditions.
MAX_COMPARED = 10_000
MAX_COMPARED_BYTES = 4 * 1024 * 1024  # of their data
# Of the logs' data of a page: its decoded values may take eight times as many.
MAX_PAGE_BYTES = 4 * 1024 * 1024
FEW_BYTES = 100_000  # of forms of events; 1 MB takes the interpreter about 100 ms
TOO_MANY = "Before this page are more logs than a page compares: follow `next` of the first page."
TOO_LARGE = "The data of these logs exceed 4 MiB; ask for fewer with limit, or by a cursor."

Record = dict[str, Any]


class ListedEvents(NamedTuple):
    """The events of a followed contract; `counts` are their logs by first topic."""

    name: str
    complete_from: int
    problem: str | None  # why views cannot be made
    left_out: int  # events of the ABI that are no tables
    tables: Sequence[Record]
    counts: Mapping[str, int]
    factory: str | None  # of which it is a child
    children: Sequence[Record]  # that it names: name, event, argument and how many


class FollowedEvent(NamedTuple):
    """An event of a followed contract, which has all its logs from a block on; `id` is that of its
    view."""

    id: int
    table: EventTable
    complete_from: int
    view_forms: Sequence[Record]  # by which the view decodes logs, in the order of table.forms
    child: bytes | None = None  # of a factory, to whose logs alone lists are limited

    @property
    def spellings(self) -> Mapping[str, Parameter]:
        return event_filters.spellings(self.table, RESERVED)


def not_followed(address: bytes) -> NotFound:
    text = to_hex(address)
    return NotFound(
        f"The events of this contract are not kept as tables here. Its logs are at"
        f" /api/v1/logs?address={text}; an operator can follow it: scan events add {text}"
    )


def listed(reader: Reader, address: bytes) -> ListedEvents:
    """Return a contract's events; raises NotFound for a contract that is not followed."""

    name, complete_from, problem, left_out, views, counts, *of_factories = reader.row(
        "queries/event_views_list", address=address, most=MOST_CHILDREN
    )
    if name is None:
        raise not_followed(address)
    if len(views) > FEW_BYTES:
        reader.hold_processor()
    missing_until = _incomplete_until(reader, complete_from, address)
    if views == "[]" or problem is not None or missing_until is not None:
        reader.do_not_cache()  # no new version of the index says that views or logs were added
    tables, of_topics = orjson.loads(views), orjson.loads(counts)
    factory, children = of_factories[0], orjson.loads(of_factories[1])
    return ListedEvents(
        name, complete_from, problem, left_out, tables, of_topics, factory, children
    )


def children_of(reader: Reader, factory: bytes, name: str) -> bytes:
    """Return what stands as an address for the children of a factory that are followed by a name.
    Raises NotFound."""
    [address] = reader.row("queries/children_find", factory=factory, name=name)
    if address is None:
        raise NotFound("No children of this contract are followed by that name.")
    return bytes(address)


def event_record(
    address: bytes, contract: str, event: Mapping[str, Any], counts: Mapping[str, int]
) -> Record:
    """Return the record of an event of listed(), by its newest form."""
    *earlier, newest = event["forms"]
    signatures = dict.fromkeys(form["signature"] for form in earlier)
    signatures.pop(newest["signature"], None)
    topics = {form["topic0"] for form in event["forms"]}
    count = None
    if None not in topics and not are_of_children(address):
        count = sum(counts.get(topic, 0) for topic in topics)
    table = read_table(
        address, contract, event["view"], event["event"], event["columns"], event["forms"]
    )
    spelled = event_filters.shortest(event_filters.spellings(table, RESERVED))
    return {
        "name": event["event"],
        "signature": newest["signature"],
        "topic0": newest["topic0"] and f"0x{newest['topic0']}",
        "anonymous": newest["topic0"] is None,
        "view": f"events.{event['view']}",
        "count": count,
        "earlierSignatures": [*signatures],
        "arguments": [
            {**argument, "parameter": spelled.get(Parameter(argument["column"], EQUAL))}
            for argument in newest["arguments"]
        ],
    }


def find(reader: Reader, address: bytes, event: str, *, is_view: bool = False) -> FollowedEvent:
    """Return a contract's event by its name, its signature or its first topic, or by the name of
    its view without the contract's: first where it `is_view`, else where that is not the event's
    name in other letters. Raises NotFound, and InvalidParameter for the name of several."""
    name, topic, signature = _meant(event)
    owner, contract, complete_from, views = reader.row(
        "queries/event_views_find", address=address, name=name, topic=topic, signature=signature
    )
    if contract is None:
        raise not_followed(address)
    rows = orjson.loads(views)
    by_name = [row for row in rows if row["event"] == name]
    by_view = [row for row in rows if row["view"] == f"{contract}_{name}"]
    others = [row for row in rows if identifier(row["event"], "event") != name]
    rows = by_view or by_name or rows if is_view else by_name or others
    if topic is not None:
        rows = [_of_signature(row, topic, signature) for row in rows]
        rows = [row for row in rows if row["forms"]]
    if not rows:
        raise NotFound("The contract has no such event; the same path without one lists them.")
    if len(rows) > 1 and topic is None:
        known = ", ".join(row["forms"][-1]["signature"] for row in rows[:20])
        reason = f"event is the name of several events; give a signature: {known}."
        raise InvalidParameter(reason, field="event")
    row = rows[0]
    names = contract, row["view"], row["event"]
    table = read_table(bytes(owner), *names, row["columns"], row["forms"])
    child = None if table.address == address else address
    return FollowedEvent(row["id"], table, complete_from, row["forms"], child)


def _meant(event: str) -> tuple[str | None, str | None, str | None]:
    """Return the name, or the first topic in hex with the signature, that a text means."""
    if event[:2] in ("0x", "0X"):
        return None, parameters.hash32(event, "event").hex(), None
    if "(" not in event:
        return event.replace("\0", "\ufffd"), None, None
    try:
        signature = canonical(event)
    except AbiError as error:
        reason = f"event is not a signature: {error}."
        raise InvalidParameter(reason, field="event") from None
    return None, keccak256(signature.encode()).hex(), signature


def _of_signature(row: Record, topic: str, signature: str | None) -> Record:
    """Return a view's row with the forms of a topic, or of an anonymous event's signature."""
    forms = [
        form
        for form in row["forms"]
        if form["topic0"] == topic or (form["topic0"] is None and form["signature"] == signature)
    ]
    return {**row, "forms": forms}


def page(
    reader: Reader, window: Window, event: FollowedEvent, filters: Sequence[FormFilter]
) -> Page:
    """Return a page of an event's logs as records of the API."""
    return _page(reader, window, event, filters, _record, max_total=MAX_TOTAL)


def rows_page(
    reader: Reader, window: Window, event: FollowedEvent, filters: Sequence[FormFilter]
) -> Page:
    """Return a page of an event's logs as rows of its view, by column; it is shorter where their
    data are large."""
    while True:
        try:
            return _page(reader, window, event, filters, row_of_view, max_total=None)
        except Unavailable as error:
            if error.message != TOO_LARGE or window.limit == 1:
                raise
            window = window._replace(limit=max(1, window.limit // 10))


def _page(
    reader: Reader,
    window: Window,
    event: FollowedEvent,
    filters: Sequence[FormFilter],
    shape: Any,
    *,
    max_total: int | None,
) -> Page:
    emitter = event.child or event.table.address
    signatures = [event.view_forms[of.place]["signature"] for of in filters]
    scope = {"address": emitter, "filters": [*zip(signatures, filters, strict=True)]}
    traversal = window.traversal("contract_events", scope)
    window = in_kept_blocks(reader, window, emitter)
    of_filters = statement_forms(event, filters)
    has_conditions = of_filters["has_conditions"]
    row = reader.row(
        "queries/decoded_events_list",
        is_unbounded=has_conditions or window.offset > 0,
        **of_filters,
        **window.params(traversal),
        max_entries=MAX_COMPARED if window.max_entries else None,
        max_total=max_total,
        max_bytes=MAX_PAGE_BYTES,
        max_compared_bytes=MAX_COMPARED_BYTES,
    )
    _, count, _, continued_after, *_ = row
    if window.offset and count < window.limit and continued_after is not None:
        raise Unavailable(TOO_MANY)
    if row[0] is None:
        raise Unavailable(TOO_LARGE)
    read = Page.from_row(reader, "contract_events", traversal, row, reader.kept_from_of(emitter))
    logs = orjson.loads(read.data)
    records = [shape(event, filters[log["form"]].place, log) for log in logs]
    complete_from = _incomplete_until(reader, event.complete_from, emitter)
    if complete_from is not None:
        reader.do_not_cache()  # older logs are being filled
    return replace(read, data=orjson.dumps(records).decode(), complete_from=complete_from)


def _incomplete_until(reader: Reader, complete_from: int, emitter: bytes) -> int | None:
    """Return the block from which on no log is missing; None where none is."""
    kept_from = reader.kept_from_of(emitter)
    oldest = max(reader.first_block, kept_from.number if kept_from else 0)
    return complete_from if complete_from > oldest else None


def statement_forms(event: FollowedEvent, filters: Sequence[FormFilter]) -> dict[str, Any]:
    """Return the parameters of the list's statement that say which logs of an event it has."""
    forms: list[Record] = [
        {"number": event.view_forms[of.place]["number"], "conditions": of.conditions}
        | {name: key and key.hex() for name, key in zip(KEYS, of.keys, strict=True)}
        for of in filters
    ]
    given = {name: {form[name] is not None for form in forms} for name in KEYS}
    is_mixed = any(len(of_forms) > 1 for of_forms in given.values()) or True in given["key4"]
    return {
        "event": event.id,
        "by_emitter": event.child is not None,
        "emitter": event.child,
        "forms": orjson.dumps(forms).decode(),
        **{f"by_{name}": given[name] == {True} for name in KEYS[:3]},
        "is_mixed": is_mixed,
        "has_conditions": any(of.conditions for of in filters),
    }


def _record(event: FollowedEvent, place: int, log: Record) -> Record:
    view_form = event.view_forms[place]
    members = ("values", "alternatives", "emitter", "form", "keys")
    values, alternatives, emitter, *_ = map(log.pop, members)
    names = [argument["name"] for argument in view_form["arguments"]]
    record = {
        **log,
        "address": emitter or to_hex(event.table.address),
        "name": event.table.event,
        "signature": view_form["signature"],
        "args": None if values is None else dict(zip(names, values, strict=True)),
    }
    if alternatives:
        record["alternatives"] = [dict(zip(names, of, strict=True)) for of in alternatives]
    return record


def row_of_view(event: FollowedEvent, place: int, log: Record) -> Record:
    """Return the row of the view of a log of a form, in the order of its columns; bytes as hex."""
    table, values = event.table, log["values"]
    of_log = (log["blockNumber"], log["timestamp"], log["transactionHash"], log["logIndex"])
    contract = log["emitter"] or to_hex(table.address)
    row: Record = dict(zip(OF_LOG, (*of_log, contract), strict=True))
    row |= dict.fromkeys(name for name, _ in table.view_columns)
    if EMITTER in row:
        row[EMITTER] = contract
    for position, column in enumerate(table.forms[place].columns):
        row[column.name] = None if values is None else values[position]
        if column.bytes_column is not None and column.key is not None:
            row[column.bytes_column] = log["keys"][column.key - 1]
    row[MALFORMED] = values is None
    return row
