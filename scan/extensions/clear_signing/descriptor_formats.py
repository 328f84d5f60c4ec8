"""What a descriptor says of a function: its intent, and how each field is to be shown.

Paths, constants and references are resolved once, when the file is read: what is no valid format
makes the file invalid.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError, canonical, parse_signature
from scan.contracts.abi_decoding import Entry, entries_of, index_abi, only
from scan.ethereum.display_text import clean
from scan.ethereum.rlp_and_tries import keccak256
from scan.extensions.clear_signing.descriptor_files import Document, InvalidDescriptor
from scan.extensions.clear_signing.value_paths import MAX_STEPS, ValuePath, parse_path

MAX_TEXT = 100  # characters of a label, and of other texts
MAX_INTENT = 300
MAX_FIELDS = 200
MAX_FIELDS_OF_FILE = 5_000  # with their parameters: each may share a definition of twenty paths
MAX_PARAMETERS = 20
MAX_GROUPS = 8  # one in another
MAX_LISTED_ADDRESSES = 50  # of a parameter
MAX_LISTED = 1_000  # values of an array
ALWAYS, NEVER, UNLESS, EQUALS = "always", "never", "ifNotIn", "mustMatch"

_SELECTOR = re.compile(r"0x[0-9a-fA-F]{8}")
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]+)\}|[{}]")


class Lookup(NamedTuple):
    """A constant that depends on the value at a path (`metadata.maps`)."""

    values: Mapping[str, Any]
    key: ValuePath


Operand = Any  # a Path, a Lookup, or a constant of JSON


class Field(NamedTuple):
    """How a value is to be shown: that at a path, or a constant. `visibility` and `listed` are
    the rule when it is shown."""

    label: str
    path: ValuePath | None
    constant: str
    format: str
    params: Mapping[str, Operand]
    visibility: str = ALWAYS
    listed: Sequence[Any] = ()


class Format(NamedTuple):
    """A function's format. `names_arguments`: the descriptor has the names that paths begin with;
    else those of the contract's ABI are. `sentence` has texts and paths, None without one.
    `entry` is None where the function is given by its selector alone."""

    entry: Entry | None
    names_arguments: bool
    intent: str
    sentence: Sequence[str | ValuePath] | None
    fields: Sequence[Field]
    required: frozenset[ValuePath]


def parse_formats(document: Document) -> dict[bytes, Format]:
    """Return the formats of functions by selector. Raises InvalidDescriptor."""
    formats: dict[bytes, Format] = {}
    fields_left = MAX_FIELDS_OF_FILE
    abi = _list_or_none(object_at(document, "context", "contract").get("abi"))
    functions = index_abi(abi or (), "descriptor").functions
    for key, written in object_at(document, "display", "formats").items():
        selector, entry, is_named = _function(key)
        signature = None if is_named else only(functions.get(selector, ()))
        if signature is not None and (entry is None or entry.signature == signature.signature):
            entry, is_named = signature, True
        if selector in formats:
            raise InvalidDescriptor(f"it has two formats of {key[:60]!r}")
        formats[selector] = _format(document, _object(written), entry, is_named)
        fields_left = _fields_left(fields_left, formats[selector])
    return formats


def parse_messages(document: Document) -> dict[str, Format]:
    """Return the formats of messages, by their keys. Raises InvalidDescriptor."""
    formats: dict[str, Format] = {}
    fields_left = MAX_FIELDS_OF_FILE
    for key, written in object_at(document, "display", "formats").items():
        formats[key] = _format(document, _object(written), None, True)
        fields_left = _fields_left(fields_left, formats[key])
    return formats


def _fields_left(before: int, format_: Format) -> int:
    left = before - sum(1 + len(field.params) for field in format_.fields)
    if left < 0:
        message = f"it has more than {MAX_FIELDS_OF_FILE:,} fields with their parameters"
        raise InvalidDescriptor(message)
    return left


def event_topic(written: object) -> bytes:
    """Return the first topic of an event's logs, by its signature. Raises InvalidDescriptor."""
    if not isinstance(written, str):
        raise InvalidDescriptor("its factory's deployEvent is no event")
    try:
        return keccak256(canonical(written).encode())
    except AbiError as error:
        raise InvalidDescriptor(f"{written[:60]!r} is no event: {error}") from None


def _function(key: str) -> tuple[bytes, Entry | None, bool]:
    """Return the selector, the ABI's entry if the key is a signature, and whether that names all
    arguments."""
    if _SELECTOR.fullmatch(key):
        return bytes.fromhex(key[2:]), None, False
    try:
        parsed = parse_signature(key)
        canonical(key)
    except AbiError as error:
        raise InvalidDescriptor(f"{key[:60]!r} is no function: {error}") from None
    functions = index_abi(entries_of("function", [key]), "descriptor").functions
    if not functions:
        raise InvalidDescriptor(f"{key[:60]!r} is too large")
    [(selector, [entry])] = functions.items()
    return selector, entry, _is_named(parsed["inputs"])


def _is_named(parameters: Sequence[Mapping[str, Any]]) -> bool:
    return all(p["name"] and _is_named(p.get("components", ())) for p in parameters)


def _format(
    document: Document, written: Mapping[str, Any], entry: Entry | None, is_named: bool
) -> Format:
    excluded = {parse_path(path) for path in _list(written.get("excluded"))}
    fields = [
        field
        for field in _fields(document, _list(written.get("fields")), None, 0)
        if field.path not in excluded
    ]
    if len(fields) > MAX_FIELDS:
        raise InvalidDescriptor(f"a function has more than {MAX_FIELDS} fields")
    intent = written.get("intent")
    if isinstance(intent, dict):  # `key: value` pairs
        pairs = [f"{one_line(key)}: {one_line(value)}" for key, value in [*intent.items()][:10]]
        intent = ", ".join(pairs)
    sentence = _sentence(written.get("interpolatedIntent"))
    required = frozenset(parse_path(path) for path in _list(written.get("required")))
    return Format(entry, is_named, one_line(intent, MAX_INTENT), sentence, fields, required)


def _sentence(written: object) -> Sequence[str | ValuePath] | None:
    """Return the texts and the paths of a sentence; None where it is malformed."""
    template = one_line(written, MAX_INTENT)
    pieces: list[str | ValuePath] = []
    end = 0
    for match in _PIECE.finditer(template):
        pieces.append(template[end : match.start()])
        end = match.end()
        if len(match[0]) == 1:  # a brace without another one
            return None
        try:
            pieces.append(parse_path(match[1]) if match[1] else match[0][0])
        except InvalidDescriptor:
            return None
    return [*pieces, template[end:]] if template else None


def _fields(
    document: Document, written: Sequence[Any], outer: ValuePath | None, depth: int
) -> Iterator[Field]:
    """Yield the fields, also those of groups."""
    if depth > MAX_GROUPS:
        raise InvalidDescriptor(f"groups are more than {MAX_GROUPS} deep")
    for item in written:
        field = _object(item)
        if "fields" in field:
            inner = parse_path(field["path"], outer) if "path" in field else outer
            yield from _fields(document, _list(field["fields"]), inner, depth + 1)
        else:
            yield _field(document, field, outer)


def _field(document: Document, declared: Mapping[str, Any], outer: ValuePath | None) -> Field:
    shared = _object(constant(document, declared["$ref"])) if "$ref" in declared else {}
    params = {**_object(shared.get("params", {})), **_object(declared.get("params") or {})}
    both = {**shared, **declared}
    if len(params) > MAX_PARAMETERS:
        raise InvalidDescriptor(f"a field has more than {MAX_PARAMETERS} parameters")
    visibility, listed = _visibility(both.get("visible", ALWAYS))
    is_raw = "encryption" in both or "path" not in both
    return Field(
        one_line(both.get("label")),
        parse_path(both["path"], outer) if "path" in both else None,
        one_line(_resolved(document, both.get("value", ""))),
        "raw" if is_raw else one_line(both.get("format", "raw")),
        {name: _operand(document, name, value, outer) for name, value in params.items()},
        visibility,
        listed,
    )


def _visibility(rule: object) -> tuple[str, Sequence[Any]]:
    if rule in (ALWAYS, "optional"):
        return ALWAYS, ()
    if rule == NEVER:
        return NEVER, ()
    for name in (UNLESS, EQUALS):
        if isinstance(rule, dict) and [*rule] == [name]:
            return name, _list(rule[name])
    raise InvalidDescriptor("it has an unknown rule of visibility")


def _operand(document: Document, name: str, value: object, outer: ValuePath | None) -> Operand:
    """Return a parameter: a path, a lookup in a map, or what it is itself or refers to."""
    if isinstance(value, dict) and "map" in value:
        values = _object(_object(constant(document, value["map"])).get("values"))
        return Lookup(values, parse_path(value.get("keyPath"), outer))
    if name.endswith("Path") and not (isinstance(value, str) and value.startswith("$.")):
        return parse_path(value, outer)
    return _resolved(document, value)


def _resolved(document: Document, value: object) -> Any:
    if isinstance(value, list):
        return [_constant_or_itself(document, item) for item in value[:MAX_LISTED_ADDRESSES]]
    return _constant_or_itself(document, value)


def _constant_or_itself(document: Document, value: object) -> Any:
    return constant(document, value) if isinstance(value, str) and value[:2] == "$." else value


def constant(document: Document, path: object) -> Any:
    """Return what a path such as `$.metadata.enums.mode` leads to. Raises InvalidDescriptor."""
    if not isinstance(path, str) or not path.startswith("$."):
        raise InvalidDescriptor("a reference does not begin with $.")
    value: Any = document
    for name in path[2:].split(".", MAX_STEPS):
        if not isinstance(value, dict) or name not in value:
            raise InvalidDescriptor(f"there is no {path[:60]!r}")
        value = value[name]
    return value


def one_line(value: object, most: int = MAX_TEXT) -> str:
    """Return a text or a number of a descriptor in one line, without invisible characters."""
    is_text = isinstance(value, str | int) and not isinstance(value, bool)
    return clean(str(value)[: 8 * most], most) if is_text else ""


def object_at(document: Document, *names: str) -> Mapping[str, Any]:
    """Return the object below some names; an empty one where there is none."""
    value: Any = document
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidDescriptor("it has something else where an object has to be")
    return value


def _list(value: object) -> Sequence[Any]:
    listed = _list_or_none(value)
    if listed is None:
        raise InvalidDescriptor(f"it has no array, or one of more than {MAX_LISTED:,} values")
    return listed


def _list_or_none(value: object) -> Sequence[Any] | None:
    if value is None:
        return ()
    return value if isinstance(value, list) and len(value) <= MAX_LISTED else None
