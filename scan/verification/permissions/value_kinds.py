"""Values of expressions in the functions of a contract, as conditions are read of them."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

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


class Caller(NamedTuple):
    """One alternative of a condition: whom it lets pass. `reads` is how the account or the role is
    read, `number` its value where the source has it, `variables` the state variables;
    `is_by_arguments`: it compares no caller, but arguments; `question`: what an authority is asked
    of the function; `is_forwarder`: it says for whom it calls, and so may act for anybody."""

    kind: str
    text: str = ""
    reads: tuple[Step, ...] | None = None
    number: int | None = None
    variables: frozenset[int] = frozenset()
    is_by_arguments: bool = False
    question: str | None = None
    is_forwarder: bool = False

    def record(self) -> dict[str, Any]:
        value = None if self.number is None else f"0x{self.number % 2**256:064x}"
        return {
            "kind": self.kind,
            "expression": self.text,
            "value": value,
            "question": self.question,
            "forwarder": self.is_forwarder,
        }


class Value(NamedTuple):
    """What an expression stands for. `caller` and `arguments`: who calls, and what is passed, may
    decide it. `keys` are of an entry of a mapping, whose state variable is `base`, or of a
    structure at a slot that the source names; of an answer, the contract that is asked.
    `variables` are the state variables that it depends on, `reads` how it is read; None where that
    is not known. `question` is the signature of what is asked of the called function itself.
    `forwarders` may pass on another caller, or other calldata, than their own."""

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
    forwarders: tuple[Caller, ...] = ()


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
