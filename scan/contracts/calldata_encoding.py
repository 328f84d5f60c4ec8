"""Resolves the function that a request names, and encodes its call."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scan.contracts.abi import (
    MAX_DECODED_BYTES,
    MAX_VALUES,
    AbiError,
    AbiType,
    decode,
    encode,
    parse_types,
    selector,
    signature,
)
from scan.contracts.abi_decoding import Argument
from scan.contracts.abi_json import MAX_NAME, coerce_all, render, render_outputs

AbiEntries = Sequence[dict[str, Any]]

READ_ONLY = ("view", "pure")
MUTABILITIES = (*READ_ONLY, "nonpayable", "payable")

_NAME = r"[A-Za-z_$][A-Za-z0-9_$]*"
_FULL_SIGNATURE = re.compile(rf"({_NAME})\(([A-Za-z0-9,()\[\]]*)\)")


class Function(NamedTuple):
    name: str
    inputs: tuple[AbiType, ...]
    outputs: tuple[AbiType, ...]
    mutability: str = "nonpayable"  # view, pure, nonpayable or payable

    @property
    def signature(self) -> str:
        return signature(self.name, self.inputs)

    @property
    def selector(self) -> bytes:
        return selector(self.signature)


class PreparedCall(NamedTuple):
    function: Function
    calldata: bytes


class NoSuchFunction(AbiError):
    """The ABI has no function of that name."""


class NotReadOnly(AbiError):
    """A function that may change state; only view and pure functions are called."""


def name_of(function: str) -> str:
    """Return `f` from `f` or `f(uint256,address)`."""
    full = _FULL_SIGNATURE.fullmatch(function.replace(" ", ""))
    return full[1] if full else function


def prepare(
    entries: AbiEntries,
    function: str,
    arguments: Sequence[object],
    others: Sequence[str] = (),
    *,
    read_only: bool = True,
) -> PreparedCall:
    """Resolves `function` (a name or full signature) and encodes the arguments; raises AbiError.

    `others` are the names to propose where `entries` have no function.
    """
    named = _named(entries, function, others)
    candidates = _read_only(named, function) if read_only else [function_of(e) for e in named]
    candidates = _of_length(candidates, len(arguments))
    if len(candidates) == 1:
        return _encoded(candidates[0], arguments)
    calls = []
    for candidate in candidates:
        with suppress(AbiError):
            calls.append(_encoded(candidate, arguments))
    if len(calls) != 1:
        raise AbiError(
            f"the function {function} is overloaded; name one of {_signatures(candidates)}"
        )
    return calls[0]


def result(function: Function, data: bytes, most_values: int = MAX_VALUES) -> Any:
    """Return the function's return value as JSON; raises AbiError if the data cannot be decoded."""
    return render_outputs(function.outputs, _decoded(function.outputs, data, most_values))


def _decoded(types: Sequence[AbiType], data: bytes, most_values: int) -> tuple[Any, ...]:
    """Return the values, limited by the size of the data: more bytes would come from offsets to
    the same ones."""
    most_bytes = min(MAX_DECODED_BYTES, 4 * len(data) + 1024)
    return decode(types, data, most_values=most_values, most_bytes=most_bytes)


def _named(entries: AbiEntries, function: str, others: Sequence[str]) -> AbiEntries:
    functions = [entry for entry in entries if entry.get("type", "function") == "function"]
    name = name_of(function)
    named = [entry for entry in functions if entry.get("name") == name]
    if name != function:
        # With `uint` and `int` replaced by uint256 and int256, as in Solidity.
        canonical = re.sub(r"(?<=[(,])(u?int)(?=[,)\[])", r"\g<1>256", function.replace(" ", ""))
        named = [entry for entry in named if _signature_of(entry) == canonical]
    if not named:
        known = [text for text in map(_signature_of, functions) if text] or others
        raise NoSuchFunction(
            f"the contract has no function {function[:100]!r}; its functions are: "
            f"{', '.join(known[:50]) or 'none'}"
        )
    return named


def _signature_of(entry: dict[str, Any]) -> str | None:
    try:
        return signature(str(entry.get("name")), parse_types(entry.get("inputs", [])))
    except AbiError:
        return None


def mutability_of(entry: dict[str, Any]) -> str:
    """Return the mutability of a function: compilers before 0.4.16 wrote `constant: true` for
    view, and `payable: true`."""
    mutability = entry.get("stateMutability")
    if mutability in MUTABILITIES:
        return str(mutability)
    if mutability is None and entry.get("constant") is True:
        return "view"
    return "payable" if entry.get("payable") is True else "nonpayable"


def _read_only(entries: AbiEntries, function: str) -> list[Function]:
    readable = [entry for entry in entries if mutability_of(entry) in READ_ONLY]
    if not readable:
        raise NotReadOnly(f"the function {function} is neither view nor pure")
    return [function_of(entry) for entry in readable]


def function_of(entry: dict[str, Any]) -> Function:
    """Return the function of an ABI's entry; raises AbiError where its types cannot be decoded."""
    inputs, outputs = parse_types(entry.get("inputs", [])), parse_types(entry.get("outputs", []))
    return Function(str(entry.get("name")), inputs, outputs, mutability_of(entry))


def _of_length(candidates: list[Function], length: int) -> list[Function]:
    fitting = [candidate for candidate in candidates if len(candidate.inputs) == length]
    if fitting:
        return fitting
    if len(candidates) == 1:
        [only] = candidates
        expected = _arguments(len(only.inputs))
        raise AbiError(f"the function {only.signature} takes {expected}, got {length}")
    raise AbiError(f"no overload takes {_arguments(length)}; there are {_signatures(candidates)}")


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _encoded(function: Function, arguments: Sequence[object]) -> PreparedCall:
    values = coerce_all(function.inputs, arguments)
    return PreparedCall(function, function.selector + encode(function.inputs, values))


def _signatures(functions: list[Function]) -> str:
    return ", ".join(sorted(function.signature for function in functions))


def constructor_values(abi: AbiEntries, data: bytes) -> list[Argument] | None:
    """A constructor's decoded arguments; None where the ABI's constructor has none like these."""
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
