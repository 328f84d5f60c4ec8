"""JSON arguments to ABI values, ABI values to JSON; coercion is ours because people send strings.

eth-abi refuses "1" for a uint and hex text for bytes, pads a short bytesN in silence and takes an
address with a wrong checksum; every one of these is a support question or a lost token.
"""

import re
from binascii import unhexlify
from collections.abc import Sequence
from typing import Any

from eth_utils.address import to_checksum_address

from scan.contracts.abi import AbiError, AbiType
from scan.hex import excerpt

_DECIMAL = re.compile(r"-?[0-9]{1,78}", re.ASCII)
_HEX_INTEGER = re.compile(r"-?0[xX][0-9a-fA-F]{1,64}")
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}")
_BOOLEANS = {"true": True, "false": False}


def coerce_all(types: Sequence[AbiType], values: Sequence[object]) -> list[Any]:
    """One value for each type; raises AbiError naming the argument, such as `args[1].owner`."""
    if len(types) != len(values):
        raise AbiError(f"{len(types)} arguments are expected, {len(values)} were given")
    return [
        coerce(each, value, f"args[{position}]")
        for position, (each, value) in enumerate(zip(types, values, strict=True))
    ]


def coerce(each: AbiType, value: object, where: str) -> Any:
    if each.kind in ("uint", "int"):
        return _integer(each, value, where)
    if each.kind == "array":
        return _array(each, value, where)
    if each.kind == "tuple":
        return _tuple(each, value, where)
    if each.kind == "bool":
        return _boolean(value, where)
    if each.kind == "address":
        return _address(value, where)
    if each.kind == "string":
        return _string(value, where)
    return _data(each, value, where)


def _wrong(where: str, expected: str, value: object) -> AbiError:
    return AbiError(f"{where}: {expected} is expected, not {excerpt(value)}")


def _integer(each: AbiType, value: object, where: str) -> int:
    number = _whole_number(value)
    if number is None:
        raise _wrong(where, f"{each.name} as a JSON integer, a decimal or a 0x string", value)
    bits = each.size or 256
    least, most = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if each.kind == "int" else (0, (1 << bits) - 1)
    )
    if not least <= number <= most:
        raise AbiError(f"{where}: the number is outside the range of {each.name}")
    return number


def _whole_number(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return int(value)
    if isinstance(value, str) and _HEX_INTEGER.fullmatch(value):
        return int(value, 16)
    return None


def _boolean(value: object, where: str) -> bool:
    if isinstance(value, str):
        value = _BOOLEANS.get(value)
    if not isinstance(value, bool):
        raise _wrong(where, "true or false", value)
    return value


def _address(value: object, where: str) -> bytes:
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        raise _wrong(where, "an address of 0x and 40 hex digits", value)
    digits = value[2:]
    if (
        digits not in (digits.lower(), digits.upper())
        and to_checksum_address(value) != "0x" + digits
    ):
        raise AbiError(f"{where}: the address has mixed case and a wrong checksum (EIP-55)")
    return bytes.fromhex(digits)


def _string(value: object, where: str) -> bytes:
    if not isinstance(value, str):
        raise _wrong(where, "a string", value)
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise AbiError(f"{where}: the string is not valid Unicode") from None


def _data(each: AbiType, value: object, where: str) -> bytes:
    expected = f"{each.name} as 0x and an even number of hex digits"
    if not isinstance(value, str) or value[:2] not in ("0x", "0X") or len(value) % 2:
        raise _wrong(where, expected, value)
    length = len(value) // 2 - 1
    if each.size is not None and length != each.size:
        raise AbiError(f"{where}: {each.name} takes {each.size} bytes, {length} were given")
    try:
        return unhexlify(value[2:])
    except ValueError:
        raise _wrong(where, expected, value) from None


def _array(each: AbiType, value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _wrong(where, f"an array for {each.name}", value)
    if each.size is not None and len(value) != each.size:
        raise AbiError(f"{where}: {each.name} takes {each.size} items, {len(value)} were given")
    return [coerce(each.items[0], item, f"{where}[{n}]") for n, item in enumerate(value)]


def _tuple(each: AbiType, value: object, where: str) -> tuple[Any, ...]:
    if isinstance(value, dict):
        value = _members(each, value, where)
    if not isinstance(value, list) or len(value) != len(each.items):
        raise _wrong(where, f"an array of {len(each.items)} or an object for {each.name}", value)
    return tuple(
        coerce(item, member, f"{where}.{label or n}")
        for n, (item, label, member) in enumerate(zip(each.items, each.labels, value, strict=True))
    )


def _members(each: AbiType, value: dict[str, object], where: str) -> list[object]:
    if not _named(each.labels):
        raise AbiError(f"{where}: the members of {each.name} have no names; send an array")
    missing = [label for label in each.labels if label not in value]
    unknown = [label for label in value if label not in each.labels]
    if missing or unknown:
        fault = f"lacks {missing[0]!r}" if missing else f"has an unknown member {unknown[0][:60]!r}"
        raise AbiError(f"{where}: the object {fault}; its members are {', '.join(each.labels)}")
    return [value[label] for label in each.labels]


def _named(labels: Sequence[str]) -> bool:
    return bool(labels) and all(labels) and len(set(labels)) == len(labels)


def render_outputs(types: Sequence[AbiType], values: Sequence[Any]) -> Any:
    """One output: the bare value; several: an array; none: null."""
    rendered = [render(each, value) for each, value in zip(types, values, strict=True)]
    if len(rendered) == 1:
        return rendered[0]
    return rendered or None


def render(each: AbiType, value: Any) -> Any:
    """Integers as decimal strings, bytes as lower-case hex, tuples with names as objects."""
    if each.kind in ("uint", "int"):
        return str(value)
    if each.kind == "bool":
        return value
    if each.kind == "string":
        return value.decode("utf-8", "replace")
    if each.kind == "array":
        return [render(each.items[0], item) for item in value]
    if each.kind == "tuple":
        members = [render(item, part) for item, part in zip(each.items, value, strict=True)]
        return dict(zip(each.labels, members, strict=True)) if _named(each.labels) else members
    return "0x" + value.hex()
