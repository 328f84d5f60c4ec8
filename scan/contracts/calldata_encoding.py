"""Encoding of function calls, decoding of their results and of constructors' arguments."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scan.contracts.abi import (
    MAX_VALUES,
    AbiError,
    AbiType,
    decode,
    encode,
    most_bytes_of,
    parse_types,
)
from scan.contracts.abi_decoding import Argument
from scan.contracts.abi_json import MAX_NAME, coerce_all, render, render_outputs
from scan.contracts.function_lookup import AbiEntries, Function, candidates, signatures


class PreparedCall(NamedTuple):
    function: Function
    calldata: bytes


def prepare(
    entries: AbiEntries,
    function: str,
    arguments: Sequence[object],
    others: Sequence[str] = (),
    *,
    read_only: bool = True,
) -> PreparedCall:
    """Encode a call of the function that candidates() returns; of several overloads the only one
    that takes the arguments. Raises AbiError."""
    functions = candidates(entries, function, len(arguments), others, read_only=read_only)
    if len(functions) == 1:
        return _encoded(functions[0], arguments)
    calls = []
    for overload in functions:
        with suppress(AbiError):
            calls.append(_encoded(overload, arguments))
    if len(calls) != 1:
        raise AbiError(
            f"the function {function} is overloaded; name one of {signatures(functions)}"
        )
    return calls[0]


def result(function: Function, data: bytes, most_values: int = MAX_VALUES) -> Any:
    """Return the function's return value as JSON. Raises AbiError if the data does not decode."""
    return render_outputs(function.outputs, _decoded(function.outputs, data, most_values))


def _decoded(types: Sequence[AbiType], data: bytes, most_values: int) -> tuple[Any, ...]:
    return decode(types, data, most_values=most_values, most_bytes=most_bytes_of(data))


def _encoded(function: Function, arguments: Sequence[object]) -> PreparedCall:
    values = coerce_all(function.inputs, arguments)
    return PreparedCall(function, function.selector + encode(function.inputs, values))


def constructor_values(abi: AbiEntries, data: bytes) -> list[Argument] | None:
    """Return a constructor's arguments; None where they do not decode by its ABI."""
    constructor = next((entry for entry in abi if entry.get("type") == "constructor"), {})
    inputs: list[dict[str, Any]] = constructor.get("inputs", [])
    try:
        types = parse_types(inputs)
        values = _decoded(types, data, most_values=1000)
    except (AbiError, OverflowError):
        return None
    labels = (str(parameter.get("name") or "")[:MAX_NAME] for parameter in inputs)
    return [
        Argument(label, type_.name, render(type_, value))
        for label, type_, value in zip(labels, types, values, strict=True)
    ]
