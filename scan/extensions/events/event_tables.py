"""Events of an ABI as tables: names of views and columns, and the forms by which logs are decoded.
Pure.

Names come from strangers: a name is one of SQL's own form, else what it has of that, and numbered
where it is taken. What was named once stays: an event or a column that comes later takes what is
left. Versions of one contract share a view for events of one name, which has the columns of all.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import orjson

from scan.contracts import abi_json
from scan.contracts.abi import MAX_VALUES, STATED, AbiType
from scan.contracts.abi_decoding import (
    HASH,
    MAX_ALTERNATIVES,
    MAX_ENTRIES,
    MAX_TYPES,
    Entry,
    index_abi,
    topic_type,
)
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.rlp_and_tries import keccak256

MAX_IDENTIFIER = 63  # bytes, in PostgreSQL
MAX_CONTRACT = 31
_NUMBER = 5  # characters that a number at the end may take
# Columns that every view has before those of arguments.
OF_LOG = ("block_number", "timestamp", "transaction_hash", "log_index", "contract")
MALFORMED = "is_malformed"
# The names of PostgreSQL's own columns cannot be used in conditions.
RESERVED = frozenset({*OF_LOG, MALFORMED, *"oid tableoid xmin xmax cmin cmax ctid".split()})
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SQL_TYPES = {"uint": "numeric", "int": "numeric", "bool": "boolean", "array": "jsonb"}
_NO_TYPE = ["unknown", 0, False, 32, 0, [], None]


class EventColumn(NamedTuple):
    """A column of an argument. `argument` is its name in the ABI, which may be empty, `type` its
    type there, `kind` as AbiType has it; `sql_type` is the column's. `is_hashed`: of an indexed
    argument of a dynamic or composite type, whose topic has the hash. `topic` is the index of its
    topic, None where the data has it; `bytes_column` then has that topic, or its address."""

    name: str
    argument: str
    type: str
    kind: str
    sql_type: str
    indexed: bool
    is_hashed: bool
    topic: int | None
    bytes_column: str | None


class EventForm(NamedTuple):
    """What an event is from a block on, up to another one or None. `entry` is as ABIs are indexed,
    and `columns` has one column for each of its arguments. `topic0` is None of an anonymous one."""

    entry: Entry
    topic0: bytes | None
    first_block: int
    last_block: int | None
    columns: tuple[EventColumn, ...]
    definition: Mapping[str, Any]  # the entry of the ABI


class EventTable(NamedTuple):
    """An event of a followed contract as a table. `name` is that of the view without the
    contract's, `event` the ABI's. Several forms are those of versions of the contract."""

    address: bytes
    contract: str
    event: str
    name: str
    view: str
    forms: tuple[EventForm, ...]
    view_columns: tuple[tuple[str, str], ...]  # names and SQL types after OF_LOG

    @property
    def signature(self) -> str:
        return self.forms[-1].entry.signature

    @property
    def columns(self) -> Sequence[EventColumn]:
        """The columns of the arguments of all forms, in the view's order."""
        by_name = {column.name: column for form in self.forms for column in form.columns}
        return [by_name[name] for name, _ in self.view_columns if name in by_name]


def identifier(text: str, otherwise: str, most: int = MAX_IDENTIFIER) -> str:
    """Return a name of SQL for a name of an ABI: in small letters, words apart, without what SQL
    has no place for."""
    name = re.sub(r"[^a-z0-9_]", "_", _WORDS.sub("_", text[: 4 * most]).lower())
    if not name.strip("_"):
        name = otherwise
    return (f"_{name}" if name[0].isdigit() else name)[: most - _NUMBER]


def free(name: str, taken: Collection[str]) -> str:
    """Return the name, with the first number at its end with which it is free."""
    return next(one for n in count(1) if (one := name if n == 1 else f"{name}_{n}") not in taken)


class AbiEvents(NamedTuple):
    """The events of an ABI that logs can be decoded by, each with its entry there, and how many
    others it has, which exceed bounds or are malformed."""

    read: Sequence[tuple[Mapping[str, Any], Entry]]
    left_out: int


def events_in(entries: Iterable[Any]) -> AbiEvents:
    """Read the events of an ABI within the bounds of ABIs."""
    types_left, seen, left_out = MAX_TYPES, set(), 0
    read: list[tuple[Mapping[str, Any], Entry]] = []
    for number, definition in enumerate(entries):
        if not isinstance(definition, dict) or definition.get("type") != "event":
            continue
        left_out += 1
        if number >= MAX_ENTRIES or types_left < 0:
            continue
        try:
            text = orjson.dumps(definition)
        except orjson.JSONEncodeError:
            continue
        types_left -= text.count(b'"type"') + text.count(b"[")
        if types_left < 0:
            continue
        index = index_abi([definition])
        for entry in (e for of in (index.events, index.anonymous) for [e] in of.values()):
            is_anonymous = bool(definition.get("anonymous"))
            key = (entry.signature, entry.indexed, is_anonymous)
            if sum(entry.indexed) < MAX_TOPICS + is_anonymous:
                left_out -= 1
                if key not in seen:
                    seen.add(key)
                    kept = ("type", "name", "inputs", "anonymous", STATED)
                    read.append(({k: definition[k] for k in kept if k in definition}, entry))
    return AbiEvents(read, left_out)


class Version(NamedTuple):
    """The ABI of a contract from a block on; 0: from its first."""

    first_block: int
    entries: Sequence[Any]


def merged(
    address: bytes,
    contract: str,
    stored: Sequence[EventTable],
    versions: Sequence[Version],
    taken: Collection[str],
) -> list[EventTable]:
    """Return the tables of a contract by its versions, the oldest first. `stored` are those that it
    has: their names, columns and forms stay. `taken` are views of other contracts."""
    before = {table.view: table for table in stored}
    tables = {view: table._replace(forms=()) for view, table in before.items()}
    for version in versions:
        events = events_in(version.entries).read
        present = {_key(definition, entry) for definition, entry in events}
        used: set[str] = set()
        for definition, entry in events:
            alike = [t for t in tables.values() if t.event == entry.name]
            keys = {t.view: {_key_of(f) for f in (*t.forms, *_forms(before, t))} for t in alike}
            same = [t for t in alike if _key(definition, entry) in keys[t.view]]
            ended = [t for t in alike if t.view not in used and present.isdisjoint(keys[t.view])]
            table = next(iter([*same, *ended]), None)
            if table is None:
                event = identifier(entry.name, "event", MAX_IDENTIFIER - len(contract) - 1)
                view = free(f"{contract}_{event}", {*taken, *tables})
                name = view[len(contract) + 1 :]
                table = EventTable(address, contract, entry.name, name, view, (), ())
            old = _forms(before, table)
            tables[table.view] = _with_form(table, old, definition, entry, version.first_block)
            used.add(table.view)
    for view, table in before.items():
        new = tables[view].forms
        kept = [f for f in table.forms if not any(_is_alike(f, g.definition, g.entry) for g in new)]
        tables[view] = tables[view]._replace(forms=(*kept, *new))
    return [*tables.values()]


def _forms(tables: Mapping[str, EventTable], table: EventTable) -> Sequence[EventForm]:
    return tables[table.view].forms if table.view in tables else ()


def _key(definition: Mapping[str, Any], entry: Entry) -> tuple[str, bool]:
    return entry.signature, bool(definition.get("anonymous"))


def _key_of(form: EventForm) -> tuple[str, bool]:
    return _key(form.definition, form.entry)


def _is_alike(form: EventForm, definition: Mapping[str, Any], entry: Entry) -> bool:
    """Return whether the logs of a form may be those of an event: it has as many topics."""
    topics = sum(form.entry.indexed), sum(entry.indexed)
    return _key_of(form) == _key(definition, entry) and topics[0] == topics[1]


def _with_form(
    table: EventTable,
    stored: Sequence[EventForm],
    definition: Mapping[str, Any],
    entry: Entry,
    first_block: int,
) -> EventTable:
    """Return a table with the form of an event from a block on. What a form that is `stored` from
    that block on calls the arguments, they are called."""
    is_first = not any(_is_alike(form, definition, entry) for form in table.forms)
    first = 0 if is_first else first_block
    for form in stored:
        if (
            form.first_block == first
            and _is_alike(form, definition, entry)
            and form.entry.indexed == entry.indexed
        ):
            definition, entry = form.definition, form.entry
    shape = entry.names, entry.types, entry.indexed
    forms = []
    for form in table.forms:
        if form.last_block is None and _is_alike(form, definition, entry):
            if (form.entry.names, form.entry.types, form.entry.indexed) == shape:
                return table
            form = form._replace(last_block=first_block - 1)
        forms.append(form)
    is_anonymous = bool(definition.get("anonymous"))
    topic0 = None if is_anonymous else keccak256(entry.signature.encode())
    columns, view_columns = _columns(table.view_columns, entry, int(not is_anonymous))
    form = EventForm(entry, topic0, first, None, columns, definition)
    return table._replace(forms=(*forms, form), view_columns=view_columns)


def _columns(
    before: Sequence[tuple[str, str]], entry: Entry, first_topic: int
) -> tuple[tuple[EventColumn, ...], tuple[tuple[str, str], ...]]:
    """Return the columns of an event's arguments, and those of its view, given those that it had:
    columns that are there are used where name and type are the same."""
    view = dict(before)
    used: set[str] = set()

    def add(name: str, sql_type: str) -> str:
        name = free(name, {*RESERVED, *used, *(n for n, t in view.items() if t != sql_type)})
        view.setdefault(name, sql_type)
        used.add(name)
        return name

    columns = []
    for number, column in enumerate(_unnamed_columns(entry, first_topic), start=1):
        name = identifier(column.argument, f"argument_{number}")[: MAX_IDENTIFIER - 12 - _NUMBER]
        name = add(f"{name}_hash" if column.is_hashed else name, column.sql_type)
        columns.append(column._replace(name=name))
    for index, column in enumerate(columns):  # after them, so that no argument's name is taken
        if column.indexed:
            bytes_column = add(f"{column.name}_bytes", "bytea")
            columns[index] = column._replace(bytes_column=bytes_column)
    view.setdefault(MALFORMED, "boolean")
    return (*columns,), (*view.items(),)


def _unnamed_columns(entry: Entry, first_topic: int) -> Iterator[EventColumn]:
    """Yield the columns of an event's arguments without their names in the view."""
    topics = count(first_topic)
    for label, type_, is_indexed in zip(entry.names, entry.types, entry.indexed, strict=True):
        is_hashed = is_indexed and topic_type(type_) is HASH
        yield EventColumn(
            name="",
            argument=label,
            type=type_.name,
            kind=type_.kind,
            sql_type="text" if is_hashed else sql_type_of(type_),
            indexed=is_indexed,
            is_hashed=is_hashed,
            topic=next(topics) if is_indexed else None,
            bytes_column=None,
        )


def sql_type_of(abi_type: AbiType) -> str:
    """Return the SQL type of a column with values of a type."""
    return "jsonb" if abi_type.kind == "tuple" else _SQL_TYPES.get(abi_type.kind, "text")


def described(abi_type: AbiType) -> list[Any]:
    """Return a type as abi_values() of the schema reads it."""
    kind, _, size, items, labels, dynamic, head_bytes, decimals = abi_type
    inner = [described(item) for item in items]
    if max(size or 0, head_bytes // 32) > MAX_VALUES or _NO_TYPE in inner:
        return _NO_TYPE  # of which no data has a value
    names = [*map(storable, labels)] if kind == "tuple" else []
    is_object = kind == "tuple" and abi_json.are_unique_names(names)
    return [kind, size, dynamic, head_bytes, decimals, inner, names if is_object else None]


def storable(text: str) -> str:
    """Return a text without what PostgreSQL's JSON does not take."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def view_forms(table: EventTable, tables: Sequence[EventTable]) -> str:
    """Return the forms of a table as JSON, as publish_event_view() of the schema and
    read_tables() read them, given all tables of its contract."""
    forms = [form for of in tables for form in of.forms]
    named = sorted({form.topic0.hex() for form in forms if form.topic0 is not None})
    anonymous = [form for form in forms if form.topic0 is None]
    return orjson.dumps([_view_form(form, named, anonymous) for form in table.forms]).decode()


def _view_form(
    form: EventForm, named: Sequence[str], anonymous: Sequence[EventForm]
) -> Mapping[str, Any]:
    entry, columns = form.entry, []
    for position, column in enumerate(form.columns):
        columns.append([column.name, "value", position])
        if column.bytes_column is not None:
            columns.append([column.bytes_column, _in_topic(column), column.topic])
    rivals = {
        other.entry.signature: _types(other.entry)
        for other in anonymous
        if form.topic0 is None
        and sum(other.entry.indexed) == sum(entry.indexed)
        and other.entry.signature != entry.signature
    }
    return {
        **_types(entry),
        "anonymous": form.topic0 is None,
        "topic0": None if form.topic0 is None else form.topic0.hex(),
        "first": form.first_block,
        "last": form.last_block,
        "others": named if form.topic0 is None else [],
        # As in decode_log() none of too many is taken for the event.
        "rivals": [*rivals.values()] if len(rivals) < MAX_ALTERNATIVES else None,
        "columns": [*columns, [MALFORMED, "malformed", 0]],
        "signature": storable(entry.signature),
        "arguments": _arguments(form.columns),
        "definition": _clean(form.definition),
    }


def _in_topic(column: EventColumn) -> str:
    """Return what the bytes of an argument's column are of its topic."""
    return "address" if column.kind == "address" else "word"


def _types(entry: Entry) -> Mapping[str, Any]:
    """Return an event's types as event_arguments() of the schema reads them."""
    pairs = [*zip(entry.types, entry.indexed, strict=True)]
    return {
        "indexed": [described(topic_type(type_)) for type_, is_topic in pairs if is_topic],
        "plain": [described(type_) for type_, is_topic in pairs if not is_topic],
        "order": entry.indexed,
    }


def _arguments(columns: Sequence[EventColumn]) -> list[Mapping[str, Any]]:
    """Return the arguments of a form as interfaces name them: by their names in the ABI, or by
    those of their columns where that has none, a long one, or the same one twice."""
    names = [storable(column.argument) for column in columns]
    if not abi_json.are_unique_names(names):
        names = [column.name for column in columns]
    return [
        {
            "name": name,
            "type": column.type,
            "indexed": column.indexed,
            "hashed": column.is_hashed,
            "column": column.name,
        }
        for name, column in zip(names, columns, strict=True)
    ]


def _clean(value: Any) -> Any:
    """Return a part of an ABI with texts that PostgreSQL's JSON takes."""
    if isinstance(value, dict):
        return {storable(key): _clean(of) for key, of in value.items()}
    if isinstance(value, list):
        return [*map(_clean, value)]
    return storable(value) if isinstance(value, str) else value


def read_table(
    address: bytes, contract: str, view: str, event: str, columns: Any, forms: Any
) -> EventTable:
    """Return a table of a row of event_views; `columns` and `forms` are its JSON."""
    view_columns = tuple((name, type_) for name, type_ in columns)
    sql_types = dict(view_columns)
    read = []
    for form in forms:
        definition = form["definition"]
        [(_, entry)] = events_in([definition]).read
        names = {(what, number): name for name, what, number in form["columns"]}
        unnamed = _unnamed_columns(entry, int(not form["anonymous"]))
        columns_of_form = tuple(
            column._replace(
                name=names["value", position],
                sql_type=sql_types[names["value", position]],
                bytes_column=names.get((_in_topic(column), column.topic)),
            )
            for position, column in enumerate(unnamed)
        )
        topic0 = None if form["anonymous"] else bytes.fromhex(form["topic0"])
        read.append(
            EventForm(entry, topic0, form["first"], form["last"], columns_of_form, definition)
        )
    name = view[len(contract) + 1 :]
    return EventTable(address, contract, event, name, view, (*read,), view_columns)
