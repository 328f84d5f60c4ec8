"""Lookup of the function of an ABI that a request names, by name or full signature."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError, AbiType, parse_types, selector, signature

AbiEntries = Sequence[dict[str, Any]]

READ_ONLY = ("view", "pure")
MUTABILITIES = (*READ_ONLY, "nonpayable", "payable")
MAX_LISTED = 50  # functions that the error lists where none has the name

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


class NoSuchFunction(AbiError):
    """The ABI has no function of that name."""


class NotReadOnly(AbiError):
    """The function may change state; only view and pure functions are called."""


def name_of(function: str) -> str:
    """Return `f` from `f` or `f(uint256,address)`."""
    full = _FULL_SIGNATURE.fullmatch(function.replace(" ", ""))
    return full[1] if full else function


def candidates(
    entries: AbiEntries,
    function: str,
    argument_count: int,
    others: Sequence[str] = (),
    *,
    read_only: bool = True,
) -> list[Function]:
    """Return the functions with this name or signature and number of arguments, at least one.
    Raises AbiError, which lists `others` where `entries` have no function."""
    named = _named(entries, function, others)
    functions = _read_only(named, function) if read_only else [function_of(e) for e in named]
    return _of_length(functions, argument_count)


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
            f"{', '.join(known[:MAX_LISTED]) or 'none'}"
        )
    return named


def _signature_of(entry: dict[str, Any]) -> str | None:
    try:
        return signature(str(entry.get("name")), parse_types(entry.get("inputs", [])))
    except AbiError:
        return None


def mutability_of(entry: dict[str, Any]) -> str:
    """Return the mutability of a function. Compilers before 0.4.16 wrote `constant: true` for
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
    """Return the function of an ABI's entry. Raises AbiError where its types are not supported."""
    inputs, outputs = parse_types(entry.get("inputs", [])), parse_types(entry.get("outputs", []))
    return Function(str(entry.get("name")), inputs, outputs, mutability_of(entry))


def _of_length(functions: list[Function], length: int) -> list[Function]:
    fitting = [function for function in functions if len(function.inputs) == length]
    if fitting:
        return fitting
    if len(functions) == 1:
        [only] = functions
        expected = _arguments(len(only.inputs))
        raise AbiError(f"the function {only.signature} takes {expected}, got {length}")
    raise AbiError(f"no overload takes {_arguments(length)}; there are {signatures(functions)}")


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def signatures(functions: list[Function]) -> str:
    return ", ".join(sorted(function.signature for function in functions))
