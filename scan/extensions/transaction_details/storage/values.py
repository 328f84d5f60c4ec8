"""The values of variables, from the bytes that they have in a slot."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scan.hex import to_hex

DECIMALS = 10  # of Vyper's decimal
# Others, such as int7, may be names of types that a source declares.
_BITS = "|".join(map(str, range(8, 257, 8)))
_NUMBER = re.compile(rf"u?int(?:{_BITS})\Z")
_FIXED_BYTES = re.compile(r"bytes(?:[1-9]|[12][0-9]|3[012])\Z")


def value_of(
    label: str,
    raw: bytes,
    *,
    is_vyper: bool = False,
    enums: Mapping[str, Sequence[str]] = {},
) -> Any:
    """Return the value of a type by its label: numbers as decimal strings, bool, members of `enums`
    by their names, and others as hex. A bool that is neither 0 nor 1 is a number, as is what no
    member of an enum has. `raw` are the variable's own bytes, in Vyper a whole slot."""
    number = int.from_bytes(raw)
    if number < len(members := enums.get(label, ())):
        return members[number]
    if label == "bool" and number < 2:
        return bool(number)
    if label == "decimal":
        whole = int.from_bytes(raw, signed=True)
        digits = str(abs(whole)).rjust(DECIMALS + 1, "0")
        return f"{'-' if whole < 0 else ''}{digits[:-DECIMALS]}.{digits[-DECIMALS:]}"
    if is_address(label):
        return to_hex(raw[-20:])
    if is_number(label):
        return str(int.from_bytes(raw, signed=is_signed(label)))
    if is_vyper and is_fixed_bytes(label):
        raw = raw[: int(label.removeprefix("bytes"))]
    return to_hex(raw)


def is_address(label: str) -> bool:
    return label in ("address", "address payable") or label.startswith("contract ")


def is_text(label: str) -> bool:
    """Return whether a type is a string or bytes of any length, in Solidity or Vyper."""
    return label in ("string", "bytes") or label.startswith(("String[", "Bytes["))


def is_number(label: str) -> bool:
    """Return whether a type's values are numbers, as members of enums are."""
    return _NUMBER.match(label) is not None or label.startswith("enum ") or label == "bool"


def is_signed(label: str) -> bool:
    return label.startswith("int") and is_number(label)


def is_elementary(label: str) -> bool:
    """Return whether a label says how a value is encoded; in Solidity, those of types that a source
    declares over elementary ones ("type Mark is bytes4") do not."""
    return is_address(label) or is_number(label) or is_fixed_bytes(label) or label == "decimal"


def is_fixed_bytes(label: str) -> bool:
    return _FIXED_BYTES.match(label) is not None


def text_of(label: str, content: bytes) -> str:
    """Return a string; as hex where it is none, or not UTF-8."""
    if not label.lower().startswith("string"):
        return to_hex(content)
    try:
        return content.decode()
    except UnicodeDecodeError:
        return to_hex(content)


def length_of(word: bytes) -> int:
    """Return the length of Solidity's bytes or string by its slot: a short one has its content
    there, too."""
    number = int.from_bytes(word)
    return (number - 1) // 2 if number & 1 else (number & 0xFF) // 2


def short_content(word: bytes) -> bytes | None:
    """Return the content of a short string, None of a long one."""
    return None if word[31] & 1 else word[: min(word[31] // 2, 31)]
