"""Constants in sources: literals, what conversions make of them, and hashes of texts."""

import re
from collections.abc import Sequence

from scan.ethereum.keccak import keccak256
from scan.verification.permissions.syntax_tree import Node, type_of
from scan.verification.permissions.value_kinds import (
    CALLDATA,
    CONSTANT,
    OTHER,
    SELECTOR,
    Value,
    mixed,
)

# Conversions that keep all of an address.
_WHOLE = ("address", "address payable", "uint160", "uint256", "bytes32")
_UNSIGNED = re.compile(r"uint(\d{1,3})")
_SHORT_BYTES = re.compile(r"bytes([1-9]|[12]\d|3[01])")
_OF_WORDS = re.compile(r"uint256|bytes32|address|int_const \d+")


def literal(node: Node) -> Value:
    text = str(node.get("value") or "")
    if text in ("true", "false"):
        return Value(CONSTANT, number=int(text == "true"))
    is_number = node.get("kind") in (None, "number") and not node.get("subdenomination")
    return Value(CONSTANT, number=_literal_number(text) if is_number else None)


def converted(node: Node, arguments: Sequence[Value]) -> Value:
    """Return what a conversion makes of its argument."""
    target, [value, *others] = type_of(node), arguments or [Value(OTHER)]
    is_calldata = value.kind == CALLDATA and value.type.startswith("bytes calldata")
    if is_calldata and target == "bytes4":
        return Value(SELECTOR, forwarders=value.forwarders)
    number = _converted_number(value.number, value.type, target)
    is_whole = target in _WHOLE or target.startswith("contract ")
    if others or number != value.number or (number is None and not is_whole):
        return mixed(arguments)
    return value._replace(text="", type="")


def hashed(argument: Node, value: Value) -> Value:
    """Return the Keccak hash of a text in a source; of another argument, what it depends on."""
    text = argument.get("hexValue")
    if argument.get("nodeType") != "Literal" or argument.get("kind") == "number":
        return mixed([value])
    if not isinstance(text, str):  # as a number of Vyper has none
        return mixed([value])
    return Value(CONSTANT, number=int.from_bytes(keccak256(bytes.fromhex(text)), "big"))


def _literal_number(text: str) -> int | None:
    """Return the number that a source spells; None of one that is too long, or no integer."""
    try:
        return int(text, 0) if len(text) <= 80 else None
    except ValueError:
        return None


def has_number(type_: str) -> bool:
    """Return whether a value of a type is its number at the right of a word, as others are: not one
    of fewer bytes than a word, which are at its left."""
    return _SHORT_BYTES.fullmatch(type_) is None


def _converted_number(number: int | None, type_: str, target: str) -> int | None:
    """Return the number that a conversion makes of one; None where it may be another."""
    if not number:
        return number
    if target == "bytes32":
        return number if _OF_WORDS.fullmatch(type_) else None
    if target.startswith(("address", "contract ", "enum ")):
        return number if number < 2**160 else None
    unsigned = _UNSIGNED.fullmatch(target)
    return number if unsigned and number < 2 ** int(unsigned[1]) else None
