"""Paths of ERC-7730 to the arguments of a call, and the values that they lead to: their types are
those of an ABI, and they are as abi_json.render() writes them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scan.contracts.abi import AbiType
from scan.extensions.clear_signing.descriptor_files import InvalidDescriptor
from scan.hex import to_hex

MAX_VALUES = 200  # that the paths of a call lead to
MAX_STEPS = 32
MAX_PATH_CHARACTERS = 500
ARGUMENTS, CONTAINER = "#", "@"
BYTES = AbiType("bytes", "bytes", dynamic=True)

_STEP = re.compile(
    r"\.?(?:([A-Za-z_$][A-Za-z0-9_$]*)|\[(-?[0-9]{1,6})?(:)?(-?[0-9]{1,6})?\])", re.ASCII
)

Step = str | int | tuple[int | None, int | None]


class DoesNotFit(ValueError):
    """A call is not what a descriptor says of it."""


class ValuePath(NamedTuple):
    """A path: a name for each member, a number for an element, a pair for some or all elements."""

    root: str
    steps: tuple[Step, ...]


def parse_path(text: object, outer: ValuePath | None = None) -> ValuePath:
    """Return the path, within that of the group around it. Raises InvalidDescriptor."""
    if not isinstance(text, str) or not text or len(text) > MAX_PATH_CHARACTERS:
        raise InvalidDescriptor("a path is no text, empty or too long")
    has_root = text[0] in (ARGUMENTS, CONTAINER) or text.startswith("$.")
    root, rest = (text[0], text[1:]) if has_root else ("", text)
    steps: list[Step] = []
    while rest and rest != ".":
        match = _STEP.match(rest)
        if match is None or len(steps) == MAX_STEPS:
            raise InvalidDescriptor(f"{text[:60]!r} is no path")
        steps.append(_step(*match.groups()))
        rest = rest[match.end() :]
    if not root and outer is not None:
        root = outer.root
        steps = [*outer.steps, *steps]
    return ValuePath(root or ARGUMENTS, tuple(steps))


def _step(name: str | None, first: str | None, colon: str | None, last: str | None) -> Step:
    if name is not None:
        return name
    if first is not None and colon is None:
        if last is not None:
            raise InvalidDescriptor("an index is no number")
        return int(first)
    return (None if first is None else int(first), None if last is None else int(last))


class TypedValue(NamedTuple):
    """A value with its type. `positions` are where it stands among the elements that each `[]` on
    the path selected, each with their number."""

    type: AbiType
    value: Any
    positions: tuple[tuple[int, int], ...] = ()


def values_at(
    path: ValuePath, roots: Mapping[str, TypedValue], along: Sequence[tuple[int, int]] = ()
) -> list[TypedValue]:
    """Return the values at a path; of arrays, their elements. None of them is a tuple.

    `along` are the positions of the value that another one belongs to: of arrays on this path,
    the elements at the same positions. Raises DoesNotFit, also for more than MAX_VALUES.
    """
    if path.root not in roots:
        raise DoesNotFit("the path leads to no argument")
    values = [roots[path.root]]
    for step in path.steps:
        values = _bounded(inner for outer in values for inner in _next(outer, step, along))
    while any(value.type.kind == "array" for value in values):
        values = _bounded(
            inner
            for outer in values
            for inner in (
                _next(outer, (None, None), along) if outer.type.kind == "array" else (outer,)
            )
        )
    if any(value.type.kind == "tuple" for value in values):
        raise DoesNotFit("the path leads to a tuple, not to a value")
    return values


def _bounded(values: Iterator[TypedValue]) -> list[TypedValue]:
    bounded = [*islice(values, MAX_VALUES + 1)]
    if len(bounded) > MAX_VALUES:
        raise DoesNotFit(f"a path leads to more than {MAX_VALUES} values")
    return bounded


def _next(typed: TypedValue, step: Step, along: Sequence[tuple[int, int]]) -> Iterator[TypedValue]:
    if isinstance(step, str):
        yield _member(typed, step)
    elif isinstance(step, int):
        if typed.type.kind != "array" or not -len(typed.value) <= step < len(typed.value):
            raise DoesNotFit(f"there is no element {step}")
        yield typed._replace(type=typed.type.items[0], value=typed.value[step])
    elif typed.type.kind == "array":
        yield from _elements(typed, step, along)
    else:
        yield typed._replace(type=BYTES, value=to_hex(bytes_of(typed)[slice(*step)]))


def _member(typed: TypedValue, name: str) -> TypedValue:
    if typed.type.kind != "tuple":
        raise DoesNotFit(f"{name} is a member of no tuple")
    # The names of an ABI are in the values, where the descriptor's signature has none.
    labels = [*typed.value] if isinstance(typed.value, dict) else list(typed.type.labels)
    if labels.count(name) != 1:
        raise DoesNotFit(f"there is no {name}")
    index = labels.index(name)
    value = typed.value[name if isinstance(typed.value, dict) else index]
    return typed._replace(type=typed.type.items[index], value=value)


def _elements(
    typed: TypedValue, step: tuple[int | None, int | None], along: Sequence[tuple[int, int]]
) -> Iterator[TypedValue]:
    selected, depth = typed.value[slice(*step)], len(typed.positions)
    indexes: Sequence[int] = range(len(selected))
    if depth < len(along):
        position, count = along[depth]
        if count != len(selected):
            raise DoesNotFit("arrays that belong together differ in length")
        indexes = (position,)
    for index in indexes:
        positions = (*typed.positions, (index, len(selected)))
        yield TypedValue(typed.type.items[0], selected[index], positions)


def bytes_of(typed: TypedValue) -> bytes:
    """Return the bytes of a value: 32 of an integer. Raises DoesNotFit for a composite one."""
    match "unknown" if typed.type.decimals else typed.type.kind:
        case "uint":
            return int(typed.value).to_bytes(32)
        case "int":
            return int(typed.value).to_bytes(32, signed=True)
        case "string":
            return str(typed.value).encode()
        case "array" | "tuple" | "bool" | "unknown":
            raise DoesNotFit("a value has no bytes")
    return bytes.fromhex(typed.value[2:])
