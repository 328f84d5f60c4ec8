"""Values of expressions in the functions of a contract, as conditions are read of them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

# `answer` is what another contract answers of the caller, `calldata` all that is passed, or its
# first four bytes, `selector` these.
CALLER, SELF, CONSTANT, VARIABLE_VALUE, ENTRY, ANSWER, CALLDATA, SELECTOR, OTHER = (
    "caller",
    "self",
    "constant",
    "variable",
    "entry",
    "answer",
    "calldata",
    "selector",
    "other",
)


class Step(NamedTuple):
    """How a value is read of a contract: a `call` of a function without arguments, by its
    signature, or the word of a state `variable`, by the number of its declaration. The next step is
    of the contract at the address that this one gives."""

    call: str | None = None
    variable: int | None = None


class Value(NamedTuple):
    """What an expression stands for. `caller` and `arguments`: who calls, and what is passed, may
    decide it. `keys` are of an entry of a mapping, whose state variable is `base`, or of a
    structure at a slot that the source names; of an answer, the contract that is asked.
    `variables` are the state variables that it depends on, `reads` how it is read; None where that
    is not known. `question` is the signature of what is asked of the called function itself."""

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
    question: str | None = None


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
