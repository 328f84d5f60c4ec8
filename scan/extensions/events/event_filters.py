"""Filters of an event's logs by its arguments: which query parameters a list of them has, and what
their values ask of topics and of decoded arguments. Pure.

Names come from strangers: an argument is always `arg.` and its column's name, which is unique, and
by its own name where no parameter of lists and no other argument has that.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.contracts import abi_json
from scan.contracts.abi import AbiError, AbiType, encode
from scan.contracts.abi_decoding import HASH, topic_type
from scan.errors import InvalidParameter
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.rlp_and_tries import keccak256
from scan.extensions.events.event_tables import EventForm, EventTable, key_of
from scan.json_bodies import parse_json

PREFIX = "arg."
ARGUMENTS = "args"  # the parameter that has filters in JSON
MAX_ARGUMENTS_TEXT = 20_000  # characters
MAX_LISTED = 50  # parameters that an error lists
EQUAL, LEAST, MOST = "equal", "least", "most"
_ENDS = {EQUAL: ("", ""), LEAST: (".min", "Min"), MOST: (".max", "Max")}


class Parameter(NamedTuple):
    """A filter of a list: the column of its argument, and how that is compared: equal, least or
    most."""

    column: str
    comparison: str


class FormFilter(NamedTuple):
    """What a filter asks of the logs of the table's form at a place: keys of topics, None for any,
    and conditions on arguments, each the argument's position, a comparison and its value as text,
    which is JSON where both are to be equal."""

    place: int
    keys: tuple[bytes | None, ...]
    conditions: Sequence[tuple[int, str, str]]


def spellings(table: EventTable, standard: Collection[str]) -> dict[str, Parameter]:
    """Return the parameters of a table's arguments by their spellings, the one that is always
    there first. `standard` are names that lists have of their own."""
    types = {
        column.name: abi_type
        for form in table.forms
        for column, abi_type in zip(form.columns, form.entry.types, strict=True)
    }
    columns = [
        (column, comparison)
        for column in table.columns
        for comparison in _comparisons(types[column.name], column.is_hashed)
    ]
    by_spelling = {
        f"{PREFIX}{column.name}{_ENDS[how][0]}": Parameter(column.name, how)
        for column, how in columns
    }
    taken = {*standard, *parameters.TRACKERS}
    for prefix, is_end in product((PREFIX, ""), (False, True)):
        for column, how in columns:
            name = f"{prefix}{column.argument}{_ENDS[how][1]}"
            is_plain = 0 < len(column.argument) <= abi_json.MAX_NAME
            if is_plain and (how != EQUAL) is is_end and name not in taken:
                by_spelling.setdefault(name, Parameter(column.name, how))
    return by_spelling


def _comparisons(abi_type: AbiType, is_hashed: bool) -> Sequence[str]:
    if is_hashed:
        return (EQUAL,)
    if abi_type.kind in ("uint", "int"):
        return (EQUAL, LEAST, MOST)
    return () if abi_type.kind in ("array", "tuple", "unknown") else (EQUAL,)


def shortest(
    by_spelling: Mapping[str, Parameter], *, is_page: bool = False
) -> dict[Parameter, str]:
    """Return the shortest spelling of each parameter; of a page, which ignores those that begin
    with `_`, the shortest of others."""
    shortest: dict[Parameter, str] = {}
    for spelling, parameter in by_spelling.items():
        if (spelling[0] != "_" or not is_page) and len(spelling) < len(
            shortest.get(parameter, spelling + " ")
        ):
            shortest[parameter] = spelling
    return shortest


def given(
    by_spelling: Mapping[str, Parameter],
    standard: Collection[str],
    arguments: Mapping[str, Any],
    others: Collection[str] = (),
) -> dict[str, str]:
    """Return the parameters of arguments that a request gives beside the `standard` ones, those in
    ARGUMENTS among them. Raises InvalidParameter for unknown ones, and for `others`, which would
    filter by what no index has."""
    given = {name: text for name, text in arguments.items() if name and name not in standard}
    for name, value in _in_json(arguments.get(ARGUMENTS, {})).items():
        if name in given:
            raise parameters.repeated(name)
        given[name] = value
    for name in given:
        if name in others:
            listed = ", ".join([*by_spelling][:MAX_LISTED]) or "none is"
            reason = f"{name} does not filter: only equal values of indexed arguments do: {listed}."
            raise InvalidParameter(reason, field=name)
        if name not in by_spelling:
            raise unknown(name, standard, [*by_spelling])
    return given


def _in_json(values: Any) -> dict[str, str]:
    """Return the parameters in a JSON object, also given as text, whose values are texts, integers
    or flags."""
    refusal = InvalidParameter(
        f"{ARGUMENTS} must be a JSON object of filters, each a text, an integer or a flag.",
        field=ARGUMENTS,
    )
    if isinstance(values, str):
        if len(values) > MAX_ARGUMENTS_TEXT:
            raise refusal
        try:
            values = parse_json(values, object_pairs_hook=parameters.unique)
        except (ValueError, RecursionError):
            raise refusal from None
    if not isinstance(values, dict):
        raise refusal
    given = {}
    for name, value in values.items():
        if not isinstance(value, str | int):
            raise refusal
        given[name] = value if isinstance(value, str) else json.dumps(value)
    return given


def unknown(name: str, standard: Collection[str], offered: Sequence[str]) -> InvalidParameter:
    """Return the error for a parameter that the list does not have."""
    near = parameters.nearest(name, [*standard, *offered])
    listed = ", ".join(offered[:MAX_LISTED])
    more = ", …" if len(offered) > MAX_LISTED else ""
    hint = f"did you mean {near}? " if near else ""
    reason = (
        f"{hint}filters by arguments are {listed}{more}" if listed else "no argument filters it"
    )
    name = name[: parameters.LONGEST_NAME]
    message = f"Unknown query parameter {name!r}; {reason}; of lists: {', '.join(standard)}."
    return InvalidParameter(message, field=name)


def read(
    table: EventTable, by_spelling: Mapping[str, Parameter], given: Mapping[str, str]
) -> list[FormFilter]:
    """Return what the given parameters ask of each form that has all their arguments. Raises
    InvalidParameter where no form takes a value, and where two parameters are the same."""
    spelling_of: dict[Parameter, str] = {}
    for spelling in given:
        earlier = spelling_of.setdefault(by_spelling[spelling], spelling)
        if earlier != spelling:
            reason = f"{spelling} and {earlier} are the same: give one."
            raise InvalidParameter(reason, field=spelling)
    filters, error = [], None
    for place, form in enumerate(table.forms):
        positions = {column.name: n for n, column in enumerate(form.columns)}
        if not {of.column for of in spelling_of} <= positions.keys():
            continue
        try:
            filters.append(FormFilter(place, *_of_form(form, positions, spelling_of, given)))
        except AbiError as refusal:
            error = refusal
    if not filters and error is not None:
        field = max((s for s in given if str(error).startswith(f"{s}:")), key=len)
        raise InvalidParameter(f"{error}.", field=field)
    return filters


def _of_form(
    form: EventForm,
    positions: Mapping[str, int],
    spelling_of: Mapping[Parameter, str],
    given: Mapping[str, str],
) -> tuple[tuple[bytes | None, ...], Sequence[tuple[int, str, str]]]:
    keys: list[bytes | None] = [None] * MAX_TOPICS
    conditions = []
    for (column, how), spelling in spelling_of.items():
        position = positions[column]
        abi_type, at = form.entry.types[position], form.columns[position]
        value = abi_json.coerce(_given_type(abi_type, at.is_hashed), given[spelling], spelling)
        if at.key is not None and how == EQUAL:
            keys[at.key - 1] = key_of(abi_type, _topic(abi_type, at.is_hashed, value))
        else:
            shown = abi_json.render(abi_type, value)
            text = orjson.dumps(shown).decode() if how == EQUAL else str(shown)
            conditions.append((position, how, text))
    return tuple(keys), conditions


def _given_type(abi_type: AbiType, is_hashed: bool) -> AbiType:
    """Return the type of a parameter's value: of an array or a tuple in a topic its hash."""
    return HASH if is_hashed and abi_type.kind in ("array", "tuple") else abi_type


def _topic(abi_type: AbiType, is_hashed: bool, value: Any) -> bytes:
    if is_hashed and abi_type.kind in ("bytes", "string"):
        return keccak256(value)
    return encode([topic_type(abi_type)], [value])
