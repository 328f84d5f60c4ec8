"""Lists on pages that a form filters; links remove the filters one by one.

The filters of an entity are those of the table of lists (sql/lists.toml): one that is declared
there is in the form of every page with such a list.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson
from flask import Response, request

from scan import errors, parameters
from scan.http import current_request, request_state
from scan.http.list_responses import window_of
from scan.pages import formatting, records
from scan.pages.records import Record
from scan.pages.site import page, site
from scan.queries import entities, filter_values, reader, tokens
from scan.queries.list_pages import Page, Window

SIZES = ("25", "50", "100")
PAGING = ("page", "limit", "cursor", "orderBy")
UNORDERED = ("page", "limit", "cursor")  # of a list that has one order
# Parameters in URLs of Etherscan's pages.
SYNONYMS = {"a": "address", "p": "page", "ps": "limit"}
DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
# The API's parameter for the list's own address, by direction.
DIRECTIONS = {"out": "from", "in": "to"}
TRANSACTION_TYPES = {"0": "legacy", "1": "access list", "2": "EIP-1559", "3": "blobs"}
TRANSACTION_TYPES |= {"4": "EIP-7702 authorization"}
LABELS = {"row": "The row", "page": "The page", "limit": "Rows on a page", "orderBy": "The order"}
# What a refused value must be, by the kind of its field, where the API has other words.
EXPECTED = {
    "address": "must be an address: 0x followed by 40 hex digits.",
    "hash": "must be a hash: 0x followed by 64 hex digits.",
    "day": "must be a date, such as 2026-01-31.",
}


class Field(NamedTuple):
    """A field of a form; `choices` has a text for each value that is suggested, and `only_choices`
    is whether there are no others."""

    key: str
    label: str
    kind: str
    choices: Mapping[str, str] = {}
    only_choices: bool = True
    value: str = ""

    @property
    def is_day(self) -> bool:
        """Return whether the value is a day or empty: a malformed one stays as it was typed."""
        return not self.value or bool(DAY.match(self.value))

    @property
    def text(self) -> str:
        return self.choices.get(self.value, self.value)


RANGES = (
    Field("timeFrom", "Since (UTC)", "day"),
    Field("timeTo", "Until (UTC)", "day"),
    Field("blockFrom", "First block", "number"),
    Field("blockTo", "Last block", "number"),
)
DIRECTION = Field("direction", "Direction", "direction", {"out": "out", "in": "in"})


@dataclass(eq=False)  # frozen, it would be made four times as slowly
class FilteredList:
    """A page of a list with its form. `arguments` are the query string's without the position in
    the list; `source` is the page of the API that it shows; `error` is why there are no records,
    and `missing` why there never are any."""

    records: list[Record] = field(default_factory=list)
    total: int = 0
    number: int = 1
    size: int = 25
    next: str | None = None  # the cursor of the next page
    untraced_blocks: int | None = None
    is_counted: bool = True  # else the list has at least `total`
    kept_from: reader.KeptFrom | None = None  # the oldest kept block; None: the list has all rows
    complete_from: int | None = None  # the block from which on no row is missing; None: none is
    path: str = ""
    api_path: str = ""
    fields: Sequence[Field] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    api_arguments: Mapping[str, str] = field(default_factory=dict)
    direction: str = "desc"
    cursor: str | None = None
    row: str | None = None  # the id of the row at which the page begins
    has_row_links: bool = False
    is_ordered: bool = True
    is_by_size: bool = False
    has_numbers: bool = True
    source: Page | None = None
    error: errors.ScanError | None = None
    missing: str = ""
    sizes: Sequence[str] = SIZES  # how many rows a page may have

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.size))

    @property
    def first(self) -> int:
        """Return the position of the first record in the whole list, from 1."""
        return (self.number - 1) * self.size + 1

    @property
    def is_numbered(self) -> bool:
        """Return whether the page has a number in the list."""
        return self.has_numbers and self.is_counted and self.cursor is None and self.row is None

    @property
    def chosen(self) -> Sequence[Field]:
        """Return the filters that are given."""
        return [field for field in self.fields if field.value]

    @property
    def message(self) -> str:
        """Return the error in words of the form."""
        if self.error is None:
            return ""
        if self.error.field == "cursor":
            return "This link is of another list. Begin at its first page."
        message = in_words(self.error, self.fields)
        for bound in RANGES:  # messages that give advice name the API's parameters
            message = message.replace(bound.key, f"“{bound.label}”")
        return message

    def filter(self, key: str) -> str:
        """Return the value of a filter that is given."""
        return "" if self.error else self.arguments.get(key, "")

    def link(self, **changes: object) -> str:
        """Return the path of the list's first page, with changed arguments; None leaves one out."""
        changed = {**self.arguments, **changes}
        return _url(self.path, {key: text for key, text in changed.items() if text is not None})

    @property
    def unfiltered(self) -> str:
        return self.link(**{field.key: None for field in self.fields})

    @property
    def whole(self) -> str:
        """Return the path of the list in the API."""
        return _url(self.api_path, self.api_arguments)

    @property
    def json_path(self) -> str:
        """Return the path of this page in the API."""
        paging: dict[str, object] = {"limit": self.size}
        cursor = self.cursor or (self.source.beginning if self.source else None)
        if cursor is not None and "direction" not in self.arguments:
            paging["cursor"] = cursor
        elif self.number > 1:
            paging["page"] = self.number
        return _url(self.whole, paging)

    def show(self, template: str, **values: Any) -> Response:
        """Return a page of the list, with the names of the addresses in it."""
        names = records.names_of(self.records)
        return self.response(template, shown=self, names=names, **values)

    def response(self, template: str, **values: Any) -> Response:
        """Return the page, with the error's status where there is one."""
        if self.error is None:
            return page(template, **values)
        current_request.reader().do_not_cache()
        request_state.current_request().refusal = self.error
        response = page(template, self.error.status, **values)
        response.headers.update(self.error.headers)
        return response


def _url(path: str, arguments: Mapping[str, object]) -> str:
    """Return a path, which may have a query, with further arguments in it."""
    if not arguments:
        return path
    return f"{path}{'&' if '?' in path else '?'}{urlencode(arguments)}"


def in_words(error: errors.ScanError, fields: Sequence[Field]) -> str:
    """Return an error's message in words of the form whose field it is about."""
    key = error.field or ""
    if not error.message.startswith(key):
        return error.message
    field = next((field for field in fields if field.key == key), None)
    if field is None:
        return f"{LABELS.get(key, key)}{error.message.removeprefix(key)}"
    reason = error.message.removeprefix(key)
    if reason.startswith(" must be"):
        if field.choices and field.only_choices:
            reason = f" must be one of: {', '.join(field.choices.values())}."
        elif field.kind in EXPECTED:
            reason = f" {EXPECTED[field.kind]}"
    return f"{field.label}{reason}"


def fields_of(entity: str, fixed: Collection[str] = ()) -> Sequence[Field]:
    """Return the fields of an entity's filters, without those that the path of a page fixes."""
    filters = {f.param: f for f in filter_values.FILTERS[entity]}  # without synonyms
    fields = []
    for filter_ in filters.values():
        if filter_.key in fixed:
            continue
        choices, are_all = filter_.words, True
        if filter_.kind == "transaction_type":  # a chain may have more of its own
            choices, are_all = TRANSACTION_TYPES, False
        elif filter_.kind == "token_type":
            choices = {name: site().chain().standard(name) for name in filter_values.TOKEN_TYPES}
        elif filter_.kind == "dex":
            names, are_all = tokens.exchanges(current_request.reader())
            choices = {name: formatting.exchange_name(name) for name in names}
        fields.append(Field(filter_.key, filter_.label, filter_.kind, choices, are_all))
    if "address" in fixed and {"from", "to"} <= filters.keys():
        fields = [DIRECTION, *(field for field in fields if field.key not in ("from", "to"))]
    return fields


def entity_list(
    entity: str,
    path: str,
    api_path: str,
    *,
    tab: str = "",
    block: int | None = None,
    left_out: Collection[str] = (),
    more: Collection[str] = (),
    fixed: Mapping[str, str] = MappingProxyType({}),
    paging: Collection[str] = PAGING,
    page_of: Callable[[reader.Reader, str, Window, Mapping[str, str]], Page] | None = None,
) -> FilteredList:
    """Return a list of an entity, of the rows that `fixed` filters match, or of one block;
    `page_of` reads another page than the entity's own."""
    address = fixed.get("address")
    has_ids = page_of is None and entity in records.ENTITIES.values()

    def read(window: Window, filters: Mapping[str, str]) -> Page:
        row = request.args["row"].strip() if has_ids and "row" in request.args else ""
        if row:
            position = records.position_of(row, entity, window.direction)
            window = window._replace(position=position)
        if block is not None:
            window = window._replace(block_from=block, block_to=block)
        arguments = {**fixed, **filters}
        if address in (arguments.get("from", ""), arguments.get("to", "")):
            del arguments["address"]  # `from` or `to` implies it, and their lists have counters
        return (page_of or entities.page)(current_request.reader(), entity, window, arguments)

    return filtered_list(
        path,
        api_path,
        [*fields_of(entity, {*fixed, *left_out}), *(RANGES if block is None else ())],
        read,
        tab=tab,
        address=address,
        more=more,
        paging=(*paging, "row") if has_ids else paging,
    )


def filtered_list(
    path: str,
    api_path: str,
    fields: Sequence[Field],
    read: Callable[[Window, Mapping[str, str]], Page],
    *,
    tab: str = "",
    address: str | None = None,
    more: Collection[str] = (),
    paging: Collection[str] = PAGING,
    is_by_size: bool = False,
) -> FilteredList:
    """Return the page that the query string asks for; `address` is that whose list it is, and
    `more` are parameters of the rest of the page, which links keep. `is_by_size`: the list begins
    with the largest, not with the newest.

    Raises InvalidParameter for parameters that the list does not have, and ScanError where no other
    filter would help.
    """
    keys = [field.key for field in fields]
    parameter_names = {"tab", *paging, *keys}
    synonyms = {name: key for name, key in SYNONYMS.items() if key in parameter_names}
    has_tab = tab or request.args.get("tab") in records.OTHER_TABS
    names = (*paging, *keys, *(("tab",) if has_tab else ()), *more)
    try:
        arguments = current_request.query_arguments(*names, *synonyms)
    except errors.InvalidParameter as error:
        if error.field is None or error.field in (*names, *synonyms):
            raise
        reason = f"This list has no filter “{error.field}”"
        if similar := parameters.nearest(error.field, names):
            reason += f". Did you mean “{similar}”?"
        else:
            filters_text = ", ".join(f"{field.key} ({field.label})" for field in fields)
            reason += f"; its filters are {filters_text}." if fields else "."
        raise errors.InvalidParameter(reason, field=error.field) from None
    arguments = {synonyms.get(k, k): text.strip() for k, text in arguments.items() if text.strip()}
    filters = {key: arguments[key] for key in keys if key in arguments}
    kept = {key: arguments[key] for key in (*more, "limit", "orderBy", *keys) if key in arguments}
    base = FilteredList(
        path=path,
        api_path=api_path,
        fields=[f._replace(value=arguments[f.key]) if f.key in arguments else f for f in fields],
        arguments={**({"tab": tab} if tab and "tab" in arguments else {}), **kept},
        direction=arguments.get("orderBy", "desc"),
        cursor=arguments.get("cursor"),
        row=arguments.get("row"),
        has_row_links="row" in paging,
        is_ordered="orderBy" in paging,
        is_by_size=is_by_size,
        has_numbers="page" in paging,
    )
    try:
        if address is not None and "direction" in filters:
            direction = parameters.one_of(filters.pop("direction"), "direction", DIRECTIONS)
            filters[DIRECTIONS[direction]] = address
        page_arguments = {k: arguments[k] for k in paging if k in arguments and k != "row"}
        is_one = "row" not in arguments or page_arguments.keys().isdisjoint({"page", "cursor"})
        parameters.require(is_one, "row", "row: leave out page and cursor.")
        if "limit" in page_arguments:
            parameters.one_of(page_arguments["limit"], "limit", SIZES)
        window = window_of(
            {**page_arguments, **{key: filters[key] for key in entities.RANGE if key in filters}}
        )
        last_s = parameters.BIGINT_MAX if window.time_to is None else window.time_to
        times = (window.time_from or 0, last_s)
        bounds = {"block": (window.block_from, window.block_to), "time": times}
        for kind, (first, last) in bounds.items():
            reason = f"{kind}To is before {kind}From: no row can match."
            parameters.require(first <= last, f"{kind}To", reason)
        chosen = {key: value for key, value in filters.items() if key not in entities.RANGE}
        source = read(window, chosen)
    except errors.NotFound as error:
        return replace(base, missing=error.message)
    except (
        errors.HistoryUnavailable,
        errors.InvalidParameter,
        errors.Reorganised,
        errors.Unavailable,
        errors.UpstreamFailed,
    ) as error:
        if isinstance(error, errors.InvalidParameter) and error.field not in (*keys, *paging):
            raise
        return replace(base, error=error)
    number = parameters.integer_text(arguments, "page", default=1, least=1, most=10**15)
    order = {key: text for key, text in kept.items() if key in ("sort", "orderBy")}
    total = source.total
    if total is None:  # not counted: the rows up to here, and one more if more follow
        total = (number - 1) * window.limit + source.count + (source.next is not None)
    base.records, base.total, base.number = orjson.loads(source.data or "[]"), total, number
    base.size, base.next, base.source = window.limit, source.next, source
    base.is_counted, base.untraced_blocks = source.total is not None, source.untraced_blocks
    base.kept_from, base.complete_from = source.kept_from, source.complete_from
    base.api_arguments = {**filters, **order}
    return base
