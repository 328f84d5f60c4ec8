"""The table of lists, sql/lists.toml with the lists.toml of each installed extension merged into
it, in types, from which statements of lists are rendered. The comments in that file say what each
value means."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from scan.cached_values import cached_property
from scan.registry import enabled, extension_of, folders
from scan.settings import ROOT

TABLE = ROOT / "sql" / "lists.toml"


@functools.cache
def read_table() -> Mapping[str, Any]:
    """Return the table: each extension's is merged into the core's, tables by their keys and lists
    by appending."""
    merged = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    for path in folders("sql/lists.toml"):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        extension = extension_of(path)
        if extension not in enabled():
            table.pop("fragments", None)  # what is read of its rows would be of some blocks only
        for entity in table.get("entities", {}).values():
            if "json_name" in entity:
                entity["extension"] = extension
        for event in table.get("events", {}).values():
            event["extension"] = extension
        _merge(merged, table)
    return merged


def _merge(into: dict[str, Any], table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        elif isinstance(value, list) and isinstance(into.get(key), list):
            into[key] += value
        else:
            into[key] = value


def fragments(name: str) -> list[str]:
    """Return the SQL that extensions that are on add to a statement, from [fragments.<name>]."""
    of_statement: Mapping[str, str] = read_table().get("fragments", {}).get(name, {})
    return [text.strip() for text in of_statement.values()]


EMPTY_KEY = "''::bytea"  # in SQL
# The block and the transaction of a row, which records show.
JOINS = """JOIN blocks b ON b.number = {alias}.block_number
        JOIN transactions t ON t.ordinal = b.transactions_before + {alias}.transaction_index"""

T = TypeVar("T")


class Filter(NamedTuple):
    """A key by which rows of an entity are selected. `type` is the SQL type of `param`."""

    key: str
    param: str
    kind: str
    type: str
    description: str
    condition: str  # on a row; "" where the entity's own condition includes it
    label: str
    words: Mapping[str, str] = MappingProxyType({})  # for the values of a flag or a choice
    choices: Mapping[str, str] = MappingProxyType({})  # of a choice: what is stored, in hex
    list_of: str | None = None  # the parameter of a filter that has a list and selects these rows

    @property
    def value(self) -> str:
        return f"%({self.param})s"


class Counter(NamedTuple):
    """A column that counts the entries of each key's list. The rows of `list_counts` count several
    lists."""

    table: str
    column: str
    index_name: str
    row_condition: str
    key: str  # the SQL expression of the key in the counter's row `c`

    def row(self, key: str) -> str:
        """Return the condition on the counter's row `c` for a key, an SQL expression."""
        return self.row_condition.format(key=key)


class Entries(NamedTuple):
    """One of the ways by which a row is in a list, such as by its sender or by its recipient."""

    key: str
    condition: str

    def match(self, key: str) -> str:
        """Return the condition on a row for a key, an SQL expression."""
        return f"{self.key} = {key}" + (f" AND {self.condition}" if self.condition else "")


class List(NamedTuple):
    """The rows of a table by one key; see sql/lists.toml."""

    name: str
    table: str
    entries: tuple[Entries, ...]
    indexes: tuple[str, ...]
    counter: Counter | None
    filter: str | None = None
    id: str | None = None
    stored_key: str = "{key}"

    def match(self, entries: Entries, key: str) -> str:
        """Return the condition on entries of this list by one way, for a key, an SQL expression."""
        return entries.match(self.stored_key.format(key=key))


@dataclass(frozen=True, kw_only=True)
class Entity:
    """A table whose rows have ordinals, with its filters and the lists that pages are read from."""

    name: str
    alias: str
    parties: Sequence[str]
    row: str
    indexes: tuple[str, ...]
    record: str
    joins: str
    filters: tuple[Filter, ...]
    lists: tuple[List, ...]  # the last has all rows
    json_name: str = ""  # empty where its extension was taken away: it is not listed
    range: str = "block"
    forms: Mapping[str, str] = field(default_factory=dict)
    extra: str | None = None
    bytes: str | None = None
    has_total: bool = False
    is_sparse: bool = False
    is_counted: bool = True
    is_queried: bool = False
    stays: bool = False
    is_of_transactions: bool = False
    are_known: str | None = None
    extension: str | None = None
    params: str | None = None
    matches: str | None = None

    @cached_property
    def by_param(self) -> Mapping[str, Filter]:
        """The filters by parameter; of synonyms, the filter itself."""
        return {filter_.param: filter_ for filter_ in self.filters}

    def record_as(self, form: str, fits: str | None = None) -> str:
        """Return the SQL expression of a row's record. `form` is the expression of its form, `fits`
        that of whether the page's rows fit into a response."""
        record = self.record
        if self.forms:
            cases = " ".join(f"WHEN '{name}' THEN {text}" for name, text in self.forms.items())
            record = f"CASE {form} {cases}\n            ELSE {record} END"
        return f"CASE WHEN {fits} THEN {record} END" if fits and self.bytes else record

    @property
    def declared_params(self) -> str:
        """The parameters of its filters, as a statement's header declares them."""
        params = [f"{filter_.param} {filter_.type} null" for filter_ in self.by_param.values()]
        return ", ".join([*params, self.params] if self.params else params)

    def within(self, first: str, last: str) -> str:
        """Return the condition on ordinals in a range of blocks, whose ends are SQL expressions
        with {} in place of `range`."""
        first, last = first.format(self.range), last.format(self.range)
        if self.is_sparse:
            first, last = f"first_ordinal_in({first})", f"last_ordinal_in({last})"
        return f"{self.alias}.ordinal BETWEEN {first} AND {last}"

    def match(self, list: List, entries: Entries) -> str:
        """Return the condition on a list's entries by one way, for the value of its filter."""
        if list.filter is None:
            return "true"
        by_filter = self.by_param[list.filter]
        return by_filter.condition if list.id else entries.match(by_filter.value)

    @cached_property
    def listed(self) -> Mapping[str, List]:
        """The lists with a counter and checkpoints, by each parameter that selects one."""
        by_filter = {list_.filter: list_ for list_ in self.lists if list_.filter and list_.counter}
        return by_filter | {
            param: by_filter[filter_.list_of]
            for param, filter_ in self.by_param.items()
            if filter_.list_of
        }

    @property
    def counted(self) -> tuple[List, ...]:
        """The lists with a counter and checkpoints: of a sparse entity also the list of
        all rows."""
        return tuple(list_ for list_ in self.lists if list_.counter)


class Link(NamedTuple):
    """A link of an address's page to one of its lists."""

    title: str
    page: str
    words: str


class CreditType(NamedTuple):
    """A type of credits. `rank` orders it among the rows of its transaction or block; `flow` is
    the direction of its coin."""

    name: str
    number: int
    rank: int
    flow: str = "in"


@dataclass(frozen=True, kw_only=True)
class EventType:
    """A type of webhooks' events; see sql/lists.toml."""

    title: str
    words: str
    test: str
    entity: str | None = None
    parties: Sequence[str] = ()
    joins: str = ""
    position: str = "-1, -1"
    body: str = ""
    has_direction: bool = False
    value: str | None = None
    tokens: Sequence[str] = ()
    extension: str | None = None


@functools.cache
def all_event_types() -> Mapping[str, EventType]:
    return {name: EventType(**values) for name, values in read_table()["events"].items()}


@functools.cache
def all_lists() -> Mapping[str, List]:
    """Return every list by its name, even if no filter selects it."""
    declared = {name: _list(name, values) for name, values in read_table()["lists"].items()}
    entities = read_table()["entities"].items()
    sparse = [n for n, v in entities if v.get("is_sparse") and v.get("is_counted", True)]
    return declared | {name: _whole_list(name, "list_counts.count") for name in sparse}


@functools.cache
def all_entities() -> Mapping[str, Entity]:
    return {name: _entity(name, values) for name, values in read_table()["entities"].items()}


@functools.cache
def served_entities() -> Mapping[str, Entity]:
    """Return the entities that are listed, of the core and of the extensions that are on."""
    listed = ((name, entity) for name, entity in all_entities().items() if entity.json_name)
    return {name: e for name, e in listed if e.extension is None or e.extension in enabled()}


def begins_late(name: str) -> bool:
    """Return whether an entity, by its name or that of its JSON, is of blocks' rows that an
    extension has: it may have been off when older blocks were indexed."""
    entities = [e for e in served_entities().values() if name in (e.name, e.json_name)]
    return any(e.is_sparse and e.extension is not None for e in entities)


@functools.cache
def all_links() -> Mapping[str, Link]:
    """Return the links of an address's page to lists that are served, by the list's name."""
    declared = {name: Link(**values) for name, values in read_table()["links"].items()}
    return {n: link for n, link in declared.items() if all_lists()[n].table in served_entities()}


@functools.cache
def all_credit_types() -> tuple[CreditType, ...]:
    return tuple(CreditType(**values) for values in read_table()["credits"])


def grown_by(table: str) -> Mapping[str, str]:
    """Return the columns of a table that count lists, by the list's name."""
    counted = {name: list_.counter for name, list_ in all_lists().items()}
    return {name: c.column for name, c in counted.items() if c is not None and c.table == table}


def ways_counted_in(table: str) -> list[tuple[Entity, Entries, List]]:
    """Return each way by which rows are in a list that the table counts, with entity and list."""
    counted = [all_lists()[name] for name in grown_by(table)]
    return [(all_entities()[c.table], entries, c) for c in counted for entries in c.entries]


def ways_counted_by_entity(table: str) -> dict[str, list[tuple[Entries, List]]]:
    """Return the ways of ways_counted_in() by the name of their entity."""
    ways: dict[str, list[tuple[Entries, List]]] = {}
    for entity, entries, list_ in ways_counted_in(table):
        ways.setdefault(entity.name, []).append((entries, list_))
    return ways


def ways_into_lists() -> list[tuple[Entity, Entries, tuple[List, ...]]]:
    """Return each way by which rows are in lists with checkpoints, with its entity and all lists
    that it leads to."""
    ways: dict[tuple[str, Entries], list[List]] = {}
    for list_ in all_lists().values():
        for entries in list_.entries if list_.counter else ():
            ways.setdefault((list_.table, entries), []).append(list_)
    return [(all_entities()[table], entries, (*ls,)) for (table, entries), ls in ways.items()]


def of_kind(kind: str, values: Mapping[str, T], table: str) -> T:
    """Return the entry for a kind of filters. Raises LookupError, which names `table`,
    without one."""
    if kind not in values:
        raise LookupError(f"Filters of the kind {kind} have no entry in {table}: add one.")
    return values[kind]


def _list(name: str, declared: Mapping[str, Any]) -> List:
    counted = None
    if counter := declared.get("counter"):
        counting, column = counter.split(".")
        of_table = read_table()["counters"][counting]
        row = of_table["row"].format(list=name, key="{key}")
        counted = Counter(counting, column, of_table["index"], row, of_table["key"])
    entries = [Entries(*text.partition(" WHERE ")[::2]) for text in declared["entries"]]
    parts = {"counter": counted, "entries": (*entries,), "indexes": (*declared["indexes"],)}
    return List(name=name, **{**declared, **parts})


def _whole_list(entity: str, counter: str | None) -> List:
    """Return the list of all rows of an entity, whose key is empty."""
    whole = {"table": entity, "indexes": (), "entries": [EMPTY_KEY], "counter": counter}
    return _list(entity, whole)


def _entity(name: str, declared: Mapping[str, Any]) -> Entity:
    keys = read_table()["filters"]
    filters = [*chain.from_iterable(_filters(name, key, keys[key]) for key in keys)]
    lists = [list_ for list_ in all_lists().values() if list_.table == name and list_.filter]
    if missing := {list_.filter for list_ in lists} - {filter_.param for filter_ in filters}:
        raise LookupError(f"Lists of {name} name filters without a condition on it: {missing}.")
    lists.append(all_lists().get(name) or _whole_list(name, None))
    joins = declared.get("joins") or JOINS.format(alias=declared["alias"])
    declared_parts = {"joins": joins, "filters": (*filters,), "lists": (*lists,)}
    return Entity(name=name, **{**declared, **declared_parts, "indexes": (*declared["indexes"],)})


def _filters(entity: str, key: str, declared: Mapping[str, Any]) -> list[Filter]:
    """Return an entity's filter by a key, after its synonym if it has one; [] if the entity has no
    such filter."""
    if entity not in declared["matches"]:
        return []
    param = declared.get("param", key)
    condition = declared["matches"][entity].format(value=f"%({param})s")
    type_ = of_kind(declared["kind"], read_table()["kinds"], "[kinds] of sql/lists.toml")
    values = {"key": key, "param": param, "type": type_, "condition": condition}
    values["words"] = declared.get("words") or {name: name for name in declared.get("choices", ())}
    others = {n: v for n, v in declared.items() if n not in ("matches", "synonym")}
    filter_ = Filter(**{**others, **values})
    synonym = declared.get("synonym")
    if synonym is None:
        return [filter_]
    described = {name: read_table()["filters"][synonym][name] for name in ("description", "label")}
    return [filter_._replace(key=synonym, **described), filter_]
