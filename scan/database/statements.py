"""The statements of sql/ and of the extensions' sql/, a file for each, with a header that declares
its parameters.

A statement is read when it is first run: most processes run few of them. A template (*.sql.j2) is
rendered then, with the table of lists, sql/lists.toml. Where its name has {entity}, {numbered} or
{sparse} (an entity without or with gaps between ordinals), {of_transactions} (an entity that is
listed by transaction), {list_by_one_filter} (a list with a counter) or {list} (a list of an entity
that has several filters), it is rendered for each of these whose statement has no file of its own.
sql/README.md shows one, and `python -m scan.database.statements NAME` prints any.

A statement whose header has a line `literals:` can be prepared: planned once for all values, since
planning the statement of a page or of a block takes longer than running it. The parameters in that
line stand in the prepared text itself, as their values decide the shape of the plan. The others are
$1, $2, ….
"""

import functools
import re
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from psycopg2.extensions import AsIs

from scan import registry
from scan.database import hooks, lists
from scan.settings import ROOT

FOLDER = ROOT / "sql"
SCHEMA = "schema"  # the folder whose files schema.sql includes: they are no statements
TEMPLATE = ".sql.j2"

_PARAMS = re.compile(r"^-- params: (.*(?:\n--   .*)*)", re.M)
_LITERALS = re.compile(r"^-- literals: (.*(?:\n--   .*)*)", re.M)


class StatementError(Exception):
    """A file in sql/ whose header and text do not agree."""


class Statement(NamedTuple):
    """A statement. `text` is in psycopg2's form; `types` are those that its header declares for the
    parameters. `literals` is None for a statement that is never prepared."""

    name: str
    text: str
    types: Mapping[str, str]
    literals: frozenset[str] | None

    def require(self, params: Mapping[str, object]) -> None:
        """Raise StatementError unless these are the parameters that it takes."""
        if self.types.keys() != params.keys():
            raise StatementError(f"{self.name} takes {sorted(self.types)}")


@functools.cache
def read_statement(name: str, folder: Path = FOLDER) -> Statement:
    """Return a statement by its file's name. Raises StatementError where declared and used
    parameters differ."""
    text = texts(folder)[name]()
    header = re.match(r"(?:--[^\n]*\n)+", text)
    declared = _PARAMS.search(header.group()) if header else None
    if header is None or declared is None:
        raise StatementError(f"{name} has no header with a '-- params:' line")
    body = text[header.end() :].strip().rstrip(";")
    # `a bigint, b bytea null` is {a: bigint, b: bytea}, and `none` {}.
    declarations = declared[1].replace("\n--", " ").removeprefix("none").split(",")
    words = [declaration.split() for declaration in declarations if declaration.strip()]
    types = {name: " ".join(type_words).removesuffix(" null") for name, *type_words in words}
    used = set(re.findall(r"%\((\w+)\)s", body))
    if types.keys() != used:
        raise StatementError(f"{name} declares {sorted(types)} but uses {sorted(used)}")
    literals = _LITERALS.search(header.group())
    if literals is None:
        return Statement(name, body, types, None)
    literal_names = frozenset(re.findall(r"\w+", literals[1])) - {"none"}
    if not literal_names <= used:
        others = sorted(literal_names - used)
        raise StatementError(f"{name} has literals that are no parameters: {others}")
    return Statement(name, body, types, literal_names)


def duckdb_text(name: str, **texts: str) -> str:
    """Return a statement as DuckDB takes it, with $name for each parameter not in `texts`."""
    loaded = read_statement(name)
    names: Mapping[str, str] = {param: f"${param}" for param in loaded.types} | texts
    return loaded.text % names if "%" in loaded.text else loaded.text


@functools.cache
def texts(folder: Path = FOLDER) -> Mapping[str, Callable[[], str]]:
    """Return what reads the text of each statement, with its header, by file name. Raises
    StatementError where two files have one name."""
    readers: dict[str, Callable[[], str]] = {}
    for root in all_folders() if folder == FOLDER else (folder,):
        for path in root.rglob("*.sql*"):
            if path.parent == root / SCHEMA or path.suffix not in (".sql", ".j2"):
                continue
            file = path.relative_to(root).as_posix()
            whole = (file.removesuffix(".sql"), partial(path.read_text, "utf-8"))
            for name, reader in _instances(file) if file.endswith(TEMPLATE) else [whole]:
                if name in readers:
                    raise StatementError(f"{name} is the name of two files")
                readers[name] = reader
    return readers


@functools.cache
def all_folders() -> tuple[Path, ...]:
    """Return the folders with statements: the core's and those of all installed extensions."""
    return (FOLDER, *registry.folders("sql"))


def render(template: str, **values: object) -> str:
    """Return the text of a template in sql/."""
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(all_folders()),
        autoescape=False,  # the text is SQL, not HTML
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "credit_types": lists.all_credit_types(),
        "entities": lists.all_entities(),
        "events": lists.all_event_types(),
        "fragments": lists.fragments,
        "lists": lists.all_lists(),
        "grown_by": lists.grown_by,
        "nullable_columns": nullable_columns,
        "record_fields": record_fields,
        "result_columns": result_columns,
        "tables_of": tables_of,
        "ways_counted_by_entity": lists.ways_counted_by_entity,
        "ways_counted_in": lists.ways_counted_in,
        "ways_into_lists": lists.ways_into_lists,
    }
    environment.globals |= registry.merged(
        part.values for part in registry.parts(hooks.SqlValues, of_installed=True)
    )
    return environment


@functools.cache
def _schema() -> str:
    return "".join(
        path.read_text("utf-8")
        for folder in all_folders()
        for path in sorted((folder / SCHEMA).glob("*.sql"))
    )


@functools.cache
def read_records() -> Mapping[str, Any]:
    """Return the tables of sql/records.toml: scan/api/openapi/schemas.py says what they mean."""
    return tomllib.loads((FOLDER / "records.toml").read_text("utf-8"))


def record_fields(record: str, columns: Collection[str] | None = None) -> dict[str, str]:
    """Return SQL that makes JSON of a row `b`, by the name of each field of a record whose kind is
    one of columns; of the fields of these `columns` alone, if they are given."""
    kinds, declared, fields = read_records()["kinds"], read_records()["records"][record], {}
    for key, value in declared.items():
        first = value[0] if isinstance(value, list) else value
        kind, _, null = ("" if key.startswith("_") else str(first)).partition(" or ")
        name = key.removesuffix("?")
        column = re.sub("[A-Z]", r"_\g<0>", name).lower()
        if kind in kinds and (columns is None or column in columns):
            json = kinds[kind].format(declared.get("_sql", {}).get(name, f"b.{column}"))
            fields[name] = f"coalesce({json}, 'null')" if null else json
    return fields


def tables_of(file: str) -> list[str]:
    """Return the tables that a file of sql/schema/ creates, and those of its name of extensions."""
    paths = [folder / SCHEMA / f"{file}.sql" for folder in all_folders()]
    text = "\n".join(path.read_text("utf-8") for path in paths if path.exists())
    return re.findall(r"^CREATE TABLE IF NOT EXISTS (\w+) \(", text, re.M)


def result_columns(function: str) -> list[str]:
    """Return the columns that a function of sql/schema/ returns, in their order."""
    pattern = rf"FUNCTION {function}\([^)]*\)\s+RETURNS TABLE \(([^)]*)\)"
    [declared] = re.findall(pattern, _schema())
    return [column.split()[0] for column in declared.split(",")]


def nullable_columns(table: str) -> set[str]:
    """Return the columns of a table of sql/schema/ that may be null."""
    pattern = rf"^CREATE TABLE IF NOT EXISTS {table} \(\n(.*?)^\)"
    [declared] = re.findall(pattern, _schema(), re.M | re.S)
    lines = [line.partition("--")[0] for line in declared.splitlines()]
    return {line.split()[0] for line in lines if line.strip() and " NOT NULL" not in line}


def _instances(template: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the names of a template's statements, one, or one for each entity or list, with what
    renders their texts."""
    name = template.removesuffix(TEMPLATE)
    if "{" not in name:
        yield name, partial(render, template)
        return
    for entity in lists.all_entities().values():
        for placeholder, instances in (
            ("entity", [entity]),
            ("numbered", [] if entity.is_sparse else [entity]),
            ("listed", [entity] if entity.counted or entity.by_param else []),
            ("sparse", [entity] if entity.is_sparse else []),
            ("of_transactions", [entity] if entity.is_of_transactions else []),
            ("list_by_one_filter", entity.counted),
            ("list", entity.lists if len(entity.by_param) > 1 else []),
        ):
            if f"{{{placeholder}}}" in name:
                for instance in instances:
                    made = name.format_map({placeholder: instance.name})
                    if not any((folder / f"{made}.sql").exists() for folder in all_folders()):
                        yield made, partial(render, template, entity=entity, list=instance)


def identifiers(names: Iterable[str]) -> AsIs:
    """Return names of columns as a parameter of the type `identifiers`, which is inserted into the
    text without quotes."""
    return AsIs(", ".join(names))


class Prepared(NamedTuple):
    """A prepared statement. `execute` takes the values of `positional`, the parameters that are no
    literals, in that order."""

    name: str
    execute: str
    positional: Sequence[str]

    def values(self, params: Mapping[str, object]) -> list[object]:
        """Return what `execute` takes, as psycopg2 shall write it."""
        return [_array_literal(v) if type(v := params[n]) is list else v for n in self.positional]


def prepare(cursor: Any, statement: Statement, params: Mapping[str, object], name: str) -> Prepared:
    """Prepare a statement as `name` with the literals among `params`. Raises StatementError where
    the statement takes other parameters, or has no literals line."""
    if statement.literals is None:
        raise StatementError(f"{statement.name} has no line of literals: it is not prepared")
    statement.require(params)
    positional = [param for param in params if param not in statement.literals]
    numbered = {
        param: AsIs(f"${position}::{statement.types[param]}")
        for position, param in enumerate(positional, start=1)
    }
    text: bytes = cursor.mogrify(statement.text, {**params, **numbered})
    types = ", ".join(statement.types[param] for param in positional)
    cursor.execute(f"PREPARE {name}{f'({types})' if types else ''} AS ".encode() + text)
    # An array of nulls alone has no type without the cast.
    of_types = (statement.types[param] for param in positional)
    placeholders = ", ".join(f"%s::{of}" if of.endswith("[]") else "%s" for of in of_types)
    execute = f"EXECUTE {name}({placeholders})" if positional else f"EXECUTE {name}"
    return Prepared(name, execute, positional)


def _array_literal(value: list[Any]) -> object:
    """Return a list that is a prepared statement's parameter as psycopg2 shall write it: of numbers
    or of bytes as one literal, which the statement casts, as writing it element by element takes
    psycopg2 four times as long."""
    kinds = {*map(type, value)}
    if kinds == {bytes}:
        return AsIs("E'{\\\\\\\\x" + ",\\\\\\\\x".join(map(bytes.hex, value)) + "}'")
    return AsIs(f"'{{{','.join(map(str, value))}}}'") if kinds == {int} else value


if __name__ == "__main__":
    sys.stdout.write(texts()[sys.argv[1]]())
