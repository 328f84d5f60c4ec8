"""Schemas of the document, of the fields and records that openapi.toml of the core and of
extensions declares, merged, with values of constants.

A field is its kind, or `[kind, text, example, keywords]`, of which all but the first may be left
out; a table without `_text` is a schema as it stands. Kinds are the names of schemas (`Hash`,
`Transaction`), `text`, `any`, JSON Schema's types, `one of <words>`, `list of <kind>`, `map of
<kind>`, and several of them with `or`. A field whose name ends in `?` may be absent.

A record is a table of fields. Its own keys begin with `_`: `_text`; `_extends`, a record whose
fields it has, too; `_form` where other fields are errors; `_page`, the page of a list, as `<name>
of <record>`, with the kind of its `_total`; `_event`, the type of events whose data it is; `_table`
whose columns it has; `_sql`, what PostgreSQL makes fields of that show no column of their name in a
row `b`; `_facts`, titles of fields, also of its detail, that its page shows as they are;
`_of_token`, fields that may show something else than a token's, `_proven`, those that show no
column of their name, and `_reported`, those that a request reads of the node. A record in another
one may have `_or_null`, `_list` or `_map`, the text of the field.
"""

import re
import tomllib
from functools import cache
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from scan import api, registry
from scan.api.renamed_fields import camel_case
from scan.database.lists import begins_late
from scan.ethereum.column_types import SAID
from scan.indexer.block_check import SAID_WHERE, stored_values
from scan.parameters import MAX_LIMIT
from scan.settings import ROOT

Json = dict[str, Any]

FOLDER = Path(api.__file__).with_name("openapi")  # of the core
FILES = [FOLDER / f"{n}.toml" for n in "shared chain contracts keys_and_webhooks service".split()]
FILES.insert(2, ROOT / "sql/records.toml")
SECTIONS = frozenset(
    """
    info tags paths operations parameters filters webhooks records added schemas responses headers
    errors errors_with security csv kinds queries
    """.split()
)
# A constant of the code, such as {scan.parameters.MAX_LIMIT}; with :, its thousands are separated.
_CONSTANT = re.compile(r"\{(scan\.[\w.]+)(:,)?\}")


@cache
def declared(section: str) -> Json:
    """Return a section of all files by name. Extensions add entries, and fields of `added`, but
    replace none: raises LookupError, also for a file with a section that nothing reads."""
    merged: Json = {}
    for file in _files():
        for name, value in file.get(section, {}).items():
            if section == "added":
                value = merged.pop(name, {}) | value
            if name in merged:
                raise LookupError(f"[{section}] of openapi.toml has {name} twice")
            merged[name] = value
    return merged


@cache
def _files() -> list[Json]:
    paths = [*FILES, *registry.folders("openapi.toml", of_enabled=True)]
    files = [_constants_resolved(tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths]
    for path, file in zip(paths, files, strict=True):
        if unknown := file.keys() - SECTIONS:
            raise LookupError(f"{path} has unknown sections: {sorted(unknown)}")
    return files


def _constants_resolved(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _constants_resolved(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_constants_resolved(below) for below in value]
    if not isinstance(value, str):
        return value
    if whole := _CONSTANT.fullmatch(value):
        return resolve_name(whole[1])

    def in_text(name: re.Match[str]) -> str:
        constant = resolve_name(name[1])
        is_one = isinstance(constant, str | int)
        return format(constant, "," if name[2] else "") if is_one else ", ".join(map(str, constant))

    return _CONSTANT.sub(in_text, value)


TYPES = {name: name for name in ("integer", "number", "boolean", "object")} | {"text": "string"}
NULL: Json = {"type": "null"}
SAID_BY_NODE = "Reported by the node"
# The columns that fields show, whichever record they stand in.
COLUMN_OF_FIELD = {
    **{
        f"{of}{name}": ("tokens", name.lower())
        for of in ("token", "tokenIn", "tokenOut", "token0", "token1")
        for name in ("Name", "Symbol", "Decimals", "Type")
    },
    **{name: ("tokens", name) for name in ("symbol", "decimals")},
    **{name: ("pools", name) for name in ("token0", "token1")},
    "tokenIn": ("dex_trades", "token_in"),
    "tokenOut": ("dex_trades", "token_out"),
    "dex": ("dexes", "name"),
    "factory": ("contract_creations", "factory"),
    "isProxy": ("codes", "is_proxy"),
    "bytecode": ("codes", "code"),
    **dict.fromkeys(("codeHash", "isContract"), ("contracts", "code_hash")),
}
OF_A_TOKEN = "it is a token's"
# Schemas with another of the same values or null; of others a field says that it may be null.
NULLABLE = frozenset(
    "Amount AnyCaseAddress Count Flag Hash HexAddress HexBytes Moment TokenType".split()
)


@cache
def schemas() -> Json:
    """Return all that are declared, with the fields that extensions add to records."""
    added = declared("added")
    records = {name: fields | added.get(name, {}) for name, fields in declared("records").items()}
    for name, fields in declared("records").items():
        of_both = (fields.get("_reported", ()), added.get(name, {}).get("_reported", ()))
        records[name] |= {"_reported": [*chain.from_iterable(of_both)]}
    declared_schemas = {name: field(value) for name, value in declared("schemas").items()}
    nullable = {
        f"{name}OrNull": {
            "anyOf": [ref(name), NULL],
            "description": f"{declared_schemas[name]['description']} Or null.",
        }
        for name in sorted(NULLABLE)
    }
    made = {name: record(fields) for name, fields in records.items()}
    for name, schema in made.items():
        of_events = [s.get("allOf", ()) for s in schema.get("properties", {}).values()]
        for part in (schema, *schema.get("allOf", ()), *chain.from_iterable(of_events)):
            _say_what_is_said(records[name], part)
    return made | declared_schemas | nullable


def _say_what_is_said(declaration: Json, schema: Json) -> None:
    """Add to the texts of a record's fields that the node says them, as the kinds of their columns
    tell, and the field that names them, unless the record has one or says whether it is proven."""
    properties = schema.get("properties", {})
    columns = dict(COLUMN_OF_FIELD)
    if own := declaration.get("_table"):
        keys = {column: camel_case(column.removesuffix("_id")) for column in stored_values()[own]}
        columns |= {key: (own, column) for column, key in keys.items()}
    reported = properties.keys() & {*declaration.get("_reported", ())}
    said = dict.fromkeys(reported, f"{SAID_BY_NODE}.")
    left_out = reported | {*declaration.get("_proven", ())}
    for name in properties.keys() & columns.keys() - left_out:
        table, column = columns[name]
        is_of_token = name in declaration.get("_of_token", ())
        case = OF_A_TOKEN if is_of_token else SAID_WHERE.get((table, column))
        if case or stored_values()[table][column] is SAID:
            said[name] = f"{SAID_BY_NODE}, where {case}." if case else f"{SAID_BY_NODE}."
    for name, text in said.items():
        described = (properties[name].get("description"), text)
        properties[name]["description"] = " ".join(filter(None, described))
    if said and not {"unproven", "proven"} & properties.keys():
        properties["unproven"] = ref("UnprovenFields")
        schema["required"].append("unproven")


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def field(value: Any) -> Json:
    """Return the schema of a declared field. A reference with keywords is written out, since not
    every reader takes them beside one."""
    if isinstance(value, dict):
        if "_text" not in value:
            return dict(value)
        schema = record(value)  # in another one
        if "_or_null" in value:
            return {"anyOf": [schema, NULL], "description": value["_or_null"]}
        if "_map" in value:
            of_map = {"type": "object", "additionalProperties": schema}
            return {**of_map, "description": value["_map"]}
        if "_list" in value:
            return {"type": "array", "items": schema, "description": value["_list"]}
        return schema
    kind, more = (value, []) if isinstance(value, str) else (value[0], value[1:])
    keywords: Json = more.pop() if more and isinstance(more[-1], dict) else {}
    is_nullable = kind.endswith(" or null")
    kind = kind.removesuffix(" or null")
    schema = _kind_schema(kind)
    if keywords.keys() - {"required"} and "$ref" in schema:
        schema = field(declared("schemas")[kind])
    if is_nullable:
        schema = _nullable(schema)
    if more and more[0]:
        schema["description"] = more[0]
    if more[1:]:
        schema["examples"] = more[1:]
    return schema | keywords


def _kind_schema(kind: str) -> Json:
    form, _, of = kind.partition(" of ")
    if form == "list":
        return {"type": "array", "items": _kind_schema(of)}
    if form == "map":
        return {"type": "object", "additionalProperties": _kind_schema(of)}
    if " or " in kind:
        alternatives = [_kind_schema(name) for name in kind.split(" or ")]
        if all(alternative.keys() == {"type"} for alternative in alternatives):
            return {"type": [alternative["type"] for alternative in alternatives]}
        return {"anyOf": alternatives}
    if kind.startswith("one of "):
        return {"type": "string", "enum": kind.removeprefix("one of ").split(", ")}
    if kind == "any":
        return {}
    return {"type": TYPES[kind]} if kind in TYPES else ref(kind)


def _nullable(schema: Json) -> Json:
    name = schema.get("$ref", "").rpartition("/")[2]
    if name in NULLABLE:
        return ref(f"{name}OrNull")
    if "type" not in schema:
        return {"anyOf": [*schema.get("anyOf", [schema]), NULL]}
    enum = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, **enum, "type": [schema["type"], "null"]}


def record(fields: Json) -> Json:
    """Return the schema of a record."""
    text = {"description": fields["_text"]} if fields.get("_text") else {}
    if "_page" in fields:
        fields = _page(fields["_page"], fields.get("_total", "Total")) | fields
    properties = {name: value for name, value in fields.items() if not name.startswith("_")}
    if "_event" in fields:
        data = {"_text": "Its data.", "_extends": "EventData", **properties}
        event = {"event": [f"one of {fields['_event']}", "Its type."], "data": data}
        return record({"_text": fields["_text"], **event, "timestamp": "ItsTime"})
    schema = {
        "type": "object",
        "properties": {name.removesuffix("?"): field(value) for name, value in properties.items()},
        "required": [name for name in properties if not name.endswith("?")],
        **({"additionalProperties": False} if fields.get("_form") else {}),
    }
    if "_extends" in fields:
        return text | {"allOf": [ref(fields["_extends"]), schema]}
    return text | schema


def _page(name_of_records: str, total: str) -> Json:
    """Return the fields of a list's page; `total` is QueryTotal for a list with filters, whose old
    rows may be removed."""
    name, _, item = name_of_records.partition(" of ")
    return {
        name: [f"list of {item}", "This page.", {"maxItems": MAX_LIMIT}],
        "total": total,
        "unproven?": "UnprovenFields",
        **({"keptFrom?": "KeptFrom"} if total != "Total" else {}),
        **({"completeFrom?": "CompleteFrom"} if begins_late(name) else {}),
        "next": "Next",
    }
