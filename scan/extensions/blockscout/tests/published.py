"""Blockscout's published schema: published_paths.toml, published_objects.toml and
published_services.toml as JSON Schema."""

import re
import tomllib
from functools import cache
from pathlib import Path
from urllib.parse import quote

from jsonschema_rs import Draft202012Validator

FOLDER = Path(__file__).parent
PATHS, OBJECTS, SERVICES = (
    tomllib.loads((FOLDER / f"published_{name}.toml").read_text())
    for name in ("paths", "objects", "services")
)
OBJECTS |= SERVICES
PREFIX = "/api/v2"
STATS_PREFIX = "/stats-service"

TEXT = {"type": "string"}
KINDS = {
    "address": {"type": "string", "pattern": "^0x[A-Fa-f0-9]{40}$"},
    "any": {},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
    "decimal": {"type": "string", "pattern": r"^([1-9][0-9]*|0)(\.[0-9]+)?$"},
    "digits": {"type": "string", "pattern": "^-?([1-9][0-9]*|0)$"},
    "hash": {"type": "string", "pattern": "^0x[A-Fa-f0-9]{64}$"},
    "hex": {"type": "string", "pattern": "^0x[A-Fa-f0-9]*$"},
    "integer": {"type": "integer"},
    "null": {"type": "null"},
    "number": {"type": "number"},
    "object": {"type": "object"},
    "text": TEXT,
    "time": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"},
}
# Where Scan says null, or leaves a list empty, of what it does not know, and Blockscout always has
# something; docs/compatible.md says so.
UNKNOWN = {
    "AddressCounters": ("gas_usage_count", "validations_count"),
    "ArbitrumWithdrawal": ("data", "eth_block_number"),
    "BlobResponse": ("blob_data", "kzg_commitment", "kzg_proof"),
    "BlobWithTransactions": ("blob_data", "kzg_commitment", "kzg_proof"),
    "CoinBalance": ("value",),
    "Deposit": ("status",),
    "Transaction": ("raw_input",),
}


def type_schema(text):
    """Return the JSON Schema of a type as published_objects.toml writes it."""
    # Those in brackets are one.
    split = re.findall(r"(?:\([^()]*(?:\([^()]*\))?[^()]*\)|[^|(])+", text)
    alternatives = [_alternative(one.strip()) for one in split]
    return alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}


def _alternative(text):
    if text.startswith("page of "):
        item = text.removeprefix("page of ").removesuffix(" with meta")
        more = {"meta": "InternalTransactionsMeta"} if text.endswith(" with meta") else {}
        return _object([f"items: {item}[]", "next_page_params: object | null"], more)
    if text.endswith("[]"):
        return {"type": "array", "items": type_schema(text.removesuffix("[]"))}
    if text.startswith("("):
        return type_schema(text[1:-1])
    if text.startswith("{"):
        return {"type": "object", "additionalProperties": type_schema(text[1:-1])}
    if text.startswith("="):
        value = text.removeprefix("=")
        return {"enum": [int(value), value] if value.isdigit() else [value]}
    return KINDS.get(text, {"$ref": f"#/$defs/{quote(text)}"})


def _object(fields, more=()):
    types = {**_types(fields), **dict(more)}
    is_open = types.pop("...", None) is not None
    return {
        "type": "object",
        "properties": {name.removesuffix("?"): type_schema(type_) for name, type_ in types.items()},
        "required": [name for name in types if not name.endswith("?")],
        "additionalProperties": is_open,
    }


def _types(fields):
    """Return the types of fields by name, with those of the object that `...Object` names."""
    types = {}
    for field in fields:
        if field.startswith("...") and field != "...":
            types |= _types(OBJECTS[field.removeprefix("...")])
        else:
            name, _, type_ = field.partition(": ")
            types[name] = type_
    return types


def _definition(name):
    fields = OBJECTS[name]
    if fields[0].startswith("="):
        return {"enum": [value.removeprefix("=") for value in fields]}
    schema = _object(fields)
    for field in UNKNOWN.get(name, ()):
        schema["properties"][field] = {"anyOf": [schema["properties"][field], KINDS["null"]]}
    return schema


@cache
def _validator(type_):
    return Draft202012Validator({**type_schema(type_), "$defs": DEFINITIONS})


def _whole(path):
    return path if path.startswith(STATS_PREFIX) else f"{PREFIX}{path}"


DEFINITIONS = {name: _definition(name) for name in OBJECTS}
RESPONSES = {_whole(path): type_ for path, type_ in PATHS["answers"].items() if type_ != "csv"}
# The types of each path's parameters, by name.
PARAMETERS = {_whole(path): _types(PATHS["parameters"].get(path, ())) for path in PATHS["answers"]}
ERRORS = _validator("JsonErrorResponse")


def route_of(rule):
    return re.sub(r"<\w+>", "{}", rule)


def faults(route, body):
    """Return what of a response is not as published."""
    return [
        f"{route} {'/'.join(map(str, error.instance_path))}: {error.message[:200]}"
        for error in _validator(RESPONSES[route]).iter_errors(body)
    ]
