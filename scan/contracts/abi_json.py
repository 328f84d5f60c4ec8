"""JSON and the ABI: conversion of arguments to ABI values and back, and the lookup of the function
that a request names, by name or full signature.

eth-abi's conversion is not used: it rejects "1" for a uint and hex text for bytes, silently pads a
short bytesN, and accepts an address with a wrong checksum.
"""

import re
from binascii import unhexlify
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scan.contracts.abi import (
    MAX_LENGTH,
    STATED,
    AbiError,
    AbiType,
    parse_types,
    selector,
    signature_of,
)
from scan.ethereum.checksums import checksummed
from scan.hex import excerpt

MAX_NAME = 100  # of an argument or a tuple's member, which a call may repeat many times

_DECIMAL = re.compile(r"-?[0-9]{1,78}", re.ASCII)
_FIXED = re.compile(r"(-?[0-9]{1,78})(?:\.([0-9]{1,80}))?", re.ASCII)
_HEX_INTEGER = re.compile(r"-?0[xX][0-9a-fA-F]{1,64}")
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}")
_BOOLEANS = {"true": True, "false": False}


def coerce_all(types: Sequence[AbiType], values: Sequence[object]) -> list[Any]:
    """Return one value per type. Raises AbiError, which names the argument, as `args[1].owner`."""
    if len(types) != len(values):
        raise AbiError(f"expected {len(types)} arguments, got {len(values)}")
    return [
        coerce(abi_type, value, f"args[{position}]")
        for position, (abi_type, value) in enumerate(zip(types, values, strict=True))
    ]


def coerce(abi_type: AbiType, value: object, where: str) -> Any:
    if abi_type.decimals:
        return _fixed(abi_type, value, where)
    if abi_type.kind == "unknown":
        raise AbiError(f"{where}: a signature does not say what {abi_type.name[:60]} is")
    return _COERCED[abi_type.kind](abi_type, value, where)


def _wrong(where: str, expected: str, value: object) -> AbiError:
    return AbiError(f"{where}: expected {expected}, got {excerpt(value)}")


def _integer(abi_type: AbiType, value: object, where: str) -> int:
    number = _whole_number(value)
    if number is None:
        expected = f"{abi_type.name} as a whole number, in decimal or 0x digits"
        raise _wrong(where, expected, value)
    return _in_range(abi_type, number, where)


def _fixed(abi_type: AbiType, value: object, where: str) -> int:
    whole = value if isinstance(value, str) else _whole_number(value)
    match = _FIXED.fullmatch(str(whole))
    if match is None or len(match[2] or "") > abi_type.decimals:
        raise _wrong(where, f"a number of at most {abi_type.decimals} decimals", value)
    digits = f"{match[1]}{(match[2] or '').ljust(abi_type.decimals, '0')}"
    return _in_range(abi_type, int(digits), where)


def _in_range(abi_type: AbiType, number: int, where: str) -> int:
    bits = abi_type.size or 256
    least, most = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if abi_type.kind == "int" else (0, (1 << bits) - 1)
    )
    if not least <= number <= most:
        raise AbiError(f"{where}: the number is outside the range of {abi_type.name}")
    return number


def _whole_number(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return int(value)
    if isinstance(value, str) and _HEX_INTEGER.fullmatch(value):
        return int(value, 16)
    return None


def _boolean(_: AbiType, value: object, where: str) -> bool:
    boolean = _BOOLEANS.get(value) if isinstance(value, str) else value
    if not isinstance(boolean, bool):
        raise _wrong(where, "true or false", value)
    return boolean


def _address(_: AbiType, value: object, where: str) -> bytes:
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        raise _wrong(where, "an address of 0x and 40 hex digits", value)
    digits = value[2:]
    lower = digits.lower()
    if digits not in (lower, digits.upper()) and checksummed("0x" + lower) != "0x" + digits:
        raise AbiError(f"{where}: the address has mixed case and a wrong checksum (EIP-55)")
    return bytes.fromhex(digits)


def _string(_: AbiType, value: object, where: str) -> bytes:
    if not isinstance(value, str):
        raise _wrong(where, "a string", value)
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise AbiError(f"{where}: the string is not valid Unicode") from None


def _data(abi_type: AbiType, value: object, where: str) -> bytes:
    expected = f"{abi_type.name} as 0x and an even number of hex digits"
    if not isinstance(value, str) or value[:2] not in ("0x", "0X") or len(value) % 2:
        raise _wrong(where, expected, value)
    length = len(value) // 2 - 1
    if abi_type.size is not None and length != abi_type.size:
        raise AbiError(f"{where}: expected {abi_type.size} bytes for {abi_type.name}, got {length}")
    try:
        return unhexlify(value[2:])
    except ValueError:
        raise _wrong(where, expected, value) from None


def _array(abi_type: AbiType, value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(where, f"an array for {abi_type.name}", value)
    if abi_type.size is not None and len(value) != abi_type.size:
        raise AbiError(
            f"{where}: expected {abi_type.size} items for {abi_type.name}, got {len(value)}"
        )
    return [coerce(abi_type.items[0], item, f"{where}[{n}]") for n, item in enumerate(value)]


def _tuple(abi_type: AbiType, value: object, where: str) -> tuple[Any, ...]:
    if value == {} and not abi_type.items:
        return ()
    if isinstance(value, dict):
        if not are_unique_names(abi_type.labels):
            raise AbiError(f"{where}: the members of {abi_type.name} have no names; send an array")
        missing = [label for label in abi_type.labels if label not in value]
        unknown = [label for label in value if label not in abi_type.labels]
        if missing or unknown:
            fault = f"has no {missing[0]!r}" if missing else f"has an unknown {unknown[0][:60]!r}"
            raise AbiError(
                f"{where}: the object {fault}; its members are {', '.join(abi_type.labels)}"
            )
        value = [value[label] for label in abi_type.labels]
    if not isinstance(value, list) or len(value) != len(abi_type.items):
        expected = f"an array of {len(abi_type.items)} or an object for {abi_type.name}"
        raise _wrong(where, expected, value)
    return tuple(
        coerce(item, member, f"{where}.{label or n}")
        for n, (item, label, member) in enumerate(
            zip(abi_type.items, abi_type.labels, value, strict=True)
        )
    )


_COERCED: Mapping[str, Callable[[AbiType, object, str], Any]] = {
    **dict.fromkeys(("uint", "int"), _integer),
    **dict.fromkeys(("bytes", "bytesN"), _data),
    "array": _array,
    "tuple": _tuple,
    "bool": _boolean,
    "address": _address,
    "string": _string,
}


def are_unique_names(labels: Sequence[str]) -> bool:
    """Return whether the names can be keys of an object. They have to be short: an array repeats
    them with each of its tuples."""
    are_short = all(0 < len(label) <= MAX_NAME for label in labels)
    return bool(labels) and are_short and len(set(labels)) == len(labels)


def render(abi_type: AbiType, value: Any) -> Any:
    """Return a value as JSON: numbers as decimal strings, bytes as lower-case hex, tuples with
    short names as objects."""
    if abi_type.decimals:
        digits = str(abs(value)).rjust(abi_type.decimals + 1, "0")
        whole, part = digits[: -abi_type.decimals], digits[-abi_type.decimals :].rstrip("0")
        return f"{'-' if value < 0 else ''}{whole}{'.' if part else ''}{part}"
    if abi_type.kind in ("uint", "int"):
        return str(value)
    if abi_type.kind == "bool":
        return value
    if abi_type.kind == "string":
        return value.decode("utf-8", "replace")
    if abi_type.kind == "array":
        return [render(abi_type.items[0], item) for item in value]
    if abi_type.kind == "tuple":
        pairs = zip(abi_type.items, value, strict=True)
        members = [render(item, part) for item, part in pairs]
        if are_unique_names(abi_type.labels):
            return dict(zip(abi_type.labels, members, strict=True))
        return members
    return "0x" + value.hex()


AbiEntries = Sequence[dict[str, Any]]


def constructor_inputs(abi: AbiEntries) -> Any:
    """Return what an ABI has as the parameters of the constructor, which parse_types() checks."""
    constructor = next((entry for entry in abi if entry.get("type") == "constructor"), {})
    return constructor.get("inputs", [])


READ_ONLY = ("view", "pure")
MUTABILITIES = (*READ_ONLY, "nonpayable", "payable")
MAX_LISTED = 50  # functions that the error lists where none has the name

_FULL_SIGNATURE = re.compile(r"([A-Za-z_$][\w$]*)\([\w$.,()\[\]=>]*\)", re.ASCII)


class Function(NamedTuple):
    name: str
    inputs: tuple[AbiType, ...]
    outputs: tuple[AbiType, ...]
    mutability: str = "nonpayable"  # view, pure, nonpayable or payable
    signature: str = ""

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
    matching = _named(entries, function, others)
    if read_only:
        matching = [entry for entry in matching if mutability_of(entry) in READ_ONLY]
        if not matching:
            raise NotReadOnly(f"the function {function} is neither view nor pure")
    return _functions_of_length([*map(function_of, matching)], argument_count)


def _named(entries: AbiEntries, function: str, others: Sequence[str]) -> AbiEntries:
    functions = [entry for entry in entries if entry.get("type", "function") == "function"]
    name = name_of(function)
    same_name = [entry for entry in functions if entry.get("name") == name]
    if name != function:
        # With `uint` and `int` replaced by uint256 and int256, as in Solidity.
        canonical = re.sub(r"(?<=[(,])(u?int)(?=[,)\[])", r"\g<1>256", function.replace(" ", ""))
        same_name = [e for e in same_name if _text(e).replace(" ", "") == canonical]
    if not same_name:
        texts = [*map(_text, functions)] or others
        raise NoSuchFunction(
            f"the contract has no function {function[:100]!r}; its functions are: "
            f"{', '.join(texts[:MAX_LISTED]) or 'none'}"
        )
    return same_name


def _text(entry: dict[str, Any]) -> str:
    """Return a function's signature; of one whose types are not supported, its name."""
    with suppress(AbiError):
        return signature_of(entry, parse_types(entry.get("inputs", [])))
    return str(entry.get(STATED) or entry.get("name"))[:MAX_LENGTH]


def mutability_of(entry: dict[str, Any]) -> str:
    """Return the mutability of a function. Compilers before 0.4.16 wrote `constant: true` for
    view, and `payable: true`."""
    mutability = entry.get("stateMutability")
    if mutability in MUTABILITIES:
        return str(mutability)
    if mutability is None and entry.get("constant") is True:
        return "view"
    return "payable" if entry.get("payable") is True else "nonpayable"


def function_of(entry: dict[str, Any]) -> Function:
    """Return the function of an ABI's entry. Raises AbiError where its types are not supported."""
    inputs, outputs = parse_types(entry.get("inputs", [])), parse_types(entry.get("outputs", []))
    mutability, signature = mutability_of(entry), signature_of(entry, inputs)
    return Function(str(entry.get("name")), inputs, outputs, mutability, signature)


def _functions_of_length(functions: list[Function], length: int) -> list[Function]:
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
