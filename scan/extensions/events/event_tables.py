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
from scan.contracts.abi import STATED, AbiType
from scan.contracts.abi_decoding import HASH, MAX_ENTRIES, MAX_TYPES, Entry, index_abi, topic_type
from scan.ethereum import column_types
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.rlp_and_tries import keccak256
from scan.parameters import BIGINT_MAX

MAX_IDENTIFIER = 63  # bytes, in PostgreSQL
MAX_CONTRACT = 31
_NUMBER = 5  # characters that a number at the end may take
# Columns that every view has before those of arguments.
OF_LOG = ("block_number", "timestamp", "transaction_hash", "log_index", "contract")
MALFORMED = "is_malformed"
EMITTER = "contract_bytes"  # of child contracts
# The names of PostgreSQL's own columns cannot be used in conditions.
RESERVED = frozenset({*OF_LOG, MALFORMED, *"oid tableoid xmin xmax cmin cmax ctid".split()})
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SQL_TYPES = {"uint": "numeric", "int": "numeric", "bool": "boolean", "array": "jsonb"}


class EventColumn(NamedTuple):
    """A column of an argument. `argument` is its name in the ABI, which may be empty, `type` its
    type there, `kind` as AbiType has it; `sql_type` is the column's. `is_hashed`: of an indexed
    argument of a dynamic or composite type, whose topic has the hash. `key` is the place of its
    topic among those of arguments, from 1 on, None where the data has it; `bytes_column` then has
    that topic, or its address."""

    name: str
    argument: str
    type: str
    kind: str
    sql_type: str
    indexed: bool
    is_hashed: bool
    key: int | None
    bytes_column: str | None


class EventForm(NamedTuple):
    """What an event is from a block on, up to another one or None; in these blocks from and up to
    transactions. `number` is among the table's forms, and stays. `entry` is as ABIs are indexed,
    and `columns` has one column for each of its arguments. `topic0` is None of an anonymous one."""

    number: int
    entry: Entry
    topic0: bytes | None
    first_block: int
    last_block: int | None
    columns: tuple[EventColumn, ...]
    definition: Mapping[str, Any]  # the entry of the ABI
    first_index: int = 0
    last_index: int = BIGINT_MAX


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


def are_of_children(address: bytes) -> bool:
    """Return whether an address in followed_contracts stands for the children of a factory."""
    return len(address) > 20


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
    """The ABI of a contract from a block on, 0: from its first, and there from the transaction
    `first_index` on. Up to `ended_index` that of the version before may be in force in the block;
    -1: in none of its transactions."""

    first_block: int
    entries: Sequence[Any]
    first_index: int = 0
    ended_index: int = -1


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
        shapes = {_shape(definition, entry) for definition, entry in events}
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
                own = ((EMITTER, "bytea"),) if are_of_children(address) else ()
                table = EventTable(address, contract, entry.name, name, view, (), own)
            old = _forms(before, table)
            tables[table.view] = _with_form(table, old, definition, entry, version, shapes)
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


def _shape(definition: Mapping[str, Any], entry: Entry) -> tuple[Any, ...]:
    return (*_key(definition, entry), entry.names, entry.types, entry.indexed)


def _is_alike(form: EventForm, definition: Mapping[str, Any], entry: Entry) -> bool:
    """Return whether the logs of a form may be those of an event: it has as many topics."""
    topics = sum(form.entry.indexed), sum(entry.indexed)
    return _key_of(form) == _key(definition, entry) and topics[0] == topics[1]


def _with_form(
    table: EventTable,
    stored: Sequence[EventForm],
    definition: Mapping[str, Any],
    entry: Entry,
    version: Version,
    shapes: Collection[tuple[Any, ...]],
) -> EventTable:
    """Return a table with the form of an event of a version, which has events of `shapes`: alike
    ones that it does not have end with it. What a form that is `stored` from there on calls the
    arguments, they are called."""
    is_first = not any(_is_alike(form, definition, entry) for form in table.forms)
    first = (0, 0) if is_first else (version.first_block, version.first_index)
    number = 1 + max((form.number for form in (*table.forms, *stored)), default=0)
    for form in stored:
        if (
            (form.first_block, form.first_index) == first
            and _is_alike(form, definition, entry)
            and form.entry.indexed == entry.indexed
        ):
            number, definition, entry = form.number, form.definition, form.entry
    forms = []
    for form in table.forms:
        if form.last_block is None and _is_alike(form, definition, entry):
            of_form = _shape(form.definition, form.entry)
            if of_form == _shape(definition, entry):
                return table
            if of_form not in shapes:
                last, index = version.first_block, version.ended_index
                last, index = (last - 1, BIGINT_MAX) if index < 0 else (last, index)
                form = form._replace(last_block=last, last_index=index)
        forms.append(form)
    is_anonymous = bool(definition.get("anonymous"))
    topic0 = None if is_anonymous else keccak256(entry.signature.encode())
    columns, view_columns = _columns(table.view_columns, entry)
    form = EventForm(number, entry, topic0, first[0], None, columns, definition, first[1])
    return table._replace(forms=(*forms, form), view_columns=view_columns)


def _columns(
    before: Sequence[tuple[str, str]], entry: Entry
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
    for number, column in enumerate(_unnamed_columns(entry), start=1):
        name = identifier(column.argument, f"argument_{number}")[: MAX_IDENTIFIER - 12 - _NUMBER]
        name = add(f"{name}_hash" if column.is_hashed else name, column.sql_type)
        columns.append(column._replace(name=name))
    for index, column in enumerate(columns):  # after them, so that no argument's name is taken
        if column.indexed:
            bytes_column = add(f"{column.name}_bytes", "bytea")
            columns[index] = column._replace(bytes_column=bytes_column)
    view.setdefault(MALFORMED, "boolean")
    return (*columns,), (*view.items(),)


def _unnamed_columns(entry: Entry) -> Iterator[EventColumn]:
    """Yield the columns of an event's arguments without their names in the view."""
    keys = count(1)
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
            key=next(keys) if is_indexed else None,
            bytes_column=None,
        )


def sql_type_of(abi_type: AbiType) -> str:
    """Return the SQL type of a column with values of a type."""
    return "jsonb" if abi_type.kind == "tuple" else _SQL_TYPES.get(abi_type.kind, "text")


def key_of(abi_type: AbiType, topic: bytes) -> bytes | None:
    """Return what decoded_events has of the topic of an argument: of an address its 20 bytes, None
    where it has more."""
    if abi_type.kind != "address":
        return topic
    return None if any(topic[:12]) else topic[12:]


def storable(text: str) -> str:
    """Return a text without what PostgreSQL's JSON does not take."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def view_forms(table: EventTable) -> str:
    """Return the forms of a table as JSON, as publish_event_view() of the schema and read_table()
    read them."""
    own = [[EMITTER, "emitter", 0]] if are_of_children(table.address) else []
    return orjson.dumps([_view_form(form, own) for form in table.forms]).decode()


def _view_form(form: EventForm, columns: Sequence[Any]) -> Mapping[str, Any]:
    columns = [*columns]
    for position, column in enumerate(form.columns):
        columns.append([column.name, "value", position])
        if column.bytes_column is not None:
            columns.append([column.bytes_column, "key", column.key])
    return {
        "number": form.number,
        "anonymous": form.topic0 is None,
        "topic0": None if form.topic0 is None else form.topic0.hex(),
        "first": form.first_block,
        "last": form.last_block,
        "firstIndex": form.first_index,
        "lastIndex": form.last_index,
        "columns": [*columns, [MALFORMED, "malformed", 0]],
        "signature": storable(form.entry.signature),
        "arguments": _arguments(form.columns),
        "definition": clean(form.definition),
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


def clean(value: Any) -> Any:
    """Return JSON with texts that PostgreSQL's JSON takes."""
    if isinstance(value, dict):
        return {storable(key): clean(of) for key, of in value.items()}
    if isinstance(value, list):
        return [*map(clean, value)]
    return storable(value) if isinstance(value, str) else value


def entry_of(form: Mapping[str, Any]) -> Entry:
    """Return the event of a form of view_forms()."""
    [(_, entry)] = events_in([form["definition"]]).read
    return entry


def read_table(
    address: bytes, contract: str, view: str, event: str, columns: Any, forms: Any
) -> EventTable:
    """Return a table of a row of event_views; `columns` and `forms` are its JSON."""
    view_columns = tuple((name, type_) for name, type_ in columns)
    sql_types = dict(view_columns)
    read = []
    for form in forms:
        definition = form["definition"]
        entry = entry_of(form)
        names = {(what, number): name for name, what, number in form["columns"]}
        columns_of_form = tuple(
            column._replace(
                name=names["value", position],
                sql_type=sql_types[names["value", position]],
                bytes_column=names.get(("key", column.key)),
            )
            for position, column in enumerate(_unnamed_columns(entry))
        )
        topic0 = None if form["anonymous"] else bytes.fromhex(form["topic0"])
        blocks = form["first"], form["last"]
        indexes = form.get("firstIndex", 0), form.get("lastIndex", BIGINT_MAX)
        of_event = columns_of_form, definition
        read.append(EventForm(form["number"], entry, topic0, *blocks, *of_event, *indexes))
    name = view[len(contract) + 1 :]
    return EventTable(address, contract, event, name, view, (*read,), view_columns)


_OF_LOG = {
    "block_number": column_types.BIGINT,
    "timestamp": column_types.TIMESTAMP,
    "transaction_hash": column_types.TEXT,
    "log_index": column_types.INTEGER,
    "contract": column_types.TEXT,
}
_OF_SQL = {"boolean": column_types.BOOLEAN, "bytea": column_types.BYTES}


def columns_of(table: EventTable) -> dict[str, column_types.ColumnType]:
    """Return the columns of a file of a table's rows, with their types."""
    numbers: dict[str, list[AbiType]] = {}
    for form in table.forms:
        for column, abi_type in zip(form.columns, form.entry.types, strict=True):
            numbers.setdefault(column.name, []).append(abi_type)
    names = {name for name, _ in table.view_columns}
    return _OF_LOG | {
        name: _number(
            numbers[name],
            is_divisible=names.isdisjoint(f"{name}_{part}" for part in ("string", *range(4))),
        )
        if sql_type == "numeric"
        else _OF_SQL.get(sql_type, column_types.TEXT)
        for name, sql_type in table.view_columns
    }


def _number(types: list[AbiType], *, is_divisible: bool) -> column_types.ColumnType:
    """Return the type of a column of numbers, which are of these types: as decimal text where no
    other has all of them, or where another column has the name of one that a uint256 is in files.
    """
    if any(abi_type.decimals for abi_type in types):
        return column_types.TEXT
    if all((abi_type.size or 0) <= (64 if abi_type.kind == "int" else 63) for abi_type in types):
        return column_types.BIGINT
    if is_divisible and all(abi_type.kind == "uint" for abi_type in types):
        return column_types.UINT256
    return column_types.TEXT
