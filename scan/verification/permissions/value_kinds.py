"""Values of expressions in the functions of a contract, as conditions are read of them."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

CALLER, SELF, CONSTANT, VARIABLE_VALUE, ENTRY, OTHER = (
    "caller",
    "self",
    "constant",
    "variable",
    "entry",
    "other",
)


_UNSIGNED = re.compile(r"uint(\d{1,3})")
_SHORT_BYTES = re.compile(r"bytes([1-9]|[12]\d|3[01])")
_OF_WORDS = re.compile(r"uint256|bytes32|address|int_const \d+")


class Step(NamedTuple):
    """How a value is read of a contract: a `call` of a function without arguments, by its
    signature, or the word of a state `variable`, by the number of its declaration. The next step is
    of the contract at the address that this one gives."""

    call: str | None = None
    variable: int | None = None


class Value(NamedTuple):
    """What an expression stands for. `caller` and `arguments`: who calls, and what is passed, may
    decide it. `keys` are of an entry of a mapping, whose state variable is `base`, or of a
    structure at a slot that the source names. `variables` are the state variables that it depends
    on, `reads` how it is read; None where that is not known."""

    kind: str
    text: str = ""
    type: str = ""
    caller: bool = False
    arguments: bool = False
    number: int | None = None
    keys: tuple["Value", ...] = ()
    variables: frozenset[int] = frozenset()
    reads: tuple[Step, ...] | None = None
    base: int | None = None


Environment = Mapping[int, Value]  # values of parameters and local variables, by declaration


def mixed(values: Iterable[Value], text: str = "", type_: str = "") -> Value:
    """Return a value that depends on others in a way that is not followed."""
    parts = list(values)
    return Value(
        OTHER,
        text,
        type_,
        caller=any(part.caller for part in parts),
        arguments=any(part.arguments for part in parts),
        variables=frozenset().union(*(part.variables for part in parts)),
    )


def literal_number(text: str) -> int | None:
    """Return the number that a source spells; None of one that is too long, or no integer."""
    try:
        return int(text, 0) if len(text) <= 80 else None
    except ValueError:
        return None


def has_number(type_: str) -> bool:
    """Return whether a value of a type is its number at the right of a word, as others are: not one
    of fewer bytes than a word, which are at its left."""
    return _SHORT_BYTES.fullmatch(type_) is None


def converted_number(number: int | None, type_: str, target: str) -> int | None:
    """Return the number that a conversion makes of one; None where it may be another."""
    if not number:
        return number
    if target == "bytes32":
        return number if _OF_WORDS.fullmatch(type_) else None
    if target.startswith(("address", "contract ", "enum ")):
        return number if number < 2**160 else None
    unsigned = _UNSIGNED.fullmatch(target)
    return number if unsigned and number < 2 ** int(unsigned[1]) else None
