"""Conditions on the caller: what has to hold in a `require`, or must not hold before a revert.

A condition is a conjunction of alternatives. One is recognised where each alternative names who it
lets pass; where something else than the caller may let a call pass, it is not.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from scan.verification.permissions.syntax_tree import Node, Place
from scan.verification.permissions.value_kinds import (
    ANSWER,
    CALLER,
    CONSTANT,
    ENTRY,
    SELF,
    VARIABLE_VALUE,
    Caller,
    Environment,
    Value,
)
from scan.verification.permissions.values import Values

# Whom a condition lets pass: one account, those with a role, members of a mapping, the contract,
# and whom another contract lets pass.
CALLERS = ACCOUNT, ROLE, MEMBER, ITSELF, AUTHORITY = (
    "account",
    "role",
    "member",
    "itself",
    "authority",
)
# What a condition is: it lets only some callers pass, in each call or in some, or whom another
# contract lets pass, or all but some; it depends on the arguments, too; or it depends on the caller
# in a way that is not recognised.
KINDS = RESTRICTION, BY_AUTHORITY, CONDITIONAL, EXCLUSION, ARGUMENT, UNRECOGNISED = (
    "restriction",
    "authority",
    "conditional",
    "exclusion",
    "argument",
    "unrecognised",
)
NONE = "none"

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_NEGATED |= {"in": "not in", "not in": "in"}  # Vyper's
# Comparisons with a constant that hold only if the other side is not zero.
_NOT_ZERO = ("!=", 0), (">", 0), ("==", 1)
_TURNED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


_EXCLUDED = Caller(EXCLUSION)
_ZERO = Value(CONSTANT, number=0)


class Condition(NamedTuple):
    """A condition at its place. `callers` are the alternatives of a restriction, or of one that
    another contract decides, also where it is checked in some calls alone."""

    kind: str
    place: Place
    callers: tuple[Caller, ...] = ()

    def record(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "condition": self.place.text,
            "file": self.place.file,
            "line": self.place.line,
        }


class Conditions:
    """Reads conditions. `variables` are the state variables that they name so far; `written` those
    that were written before, so that they no longer say who may call; None: any may be."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._tree = values.members.tree
        self.variables: set[int] = set()
        values.passing = self._passing

    def _passing(
        self, condition: Node, environment: Environment, function: Node, holds: bool
    ) -> Sequence[Caller]:
        """Return whom a condition lets pass, each call; nobody where it is not recognised."""
        conditions = self.of(condition, environment, function, holds=holds, written=())
        recognised = (c.callers for c in conditions if c.kind in (RESTRICTION, BY_AUTHORITY))
        return next(recognised, ())

    def of(
        self,
        node: Node,
        environment: Environment,
        function: Node,
        *,
        holds: bool,
        written: Collection[int] | None,
    ) -> list[Condition]:
        """Return the conditions on the caller of an expression that has to hold, or not to."""
        conjuncts = self._conjuncts(node, environment, function, holds=holds)
        place = self._tree.place(node)
        return [
            Condition(kind, place, callers)
            for kind, callers in (_combined(_checked(c, written)) for c in conjuncts)
            if kind != NONE
        ]

    def decided(self, condition: Node, environment: Environment, function: Node) -> bool | None:
        """Return whether an equality holds, where that is known: nobody calls from zero."""
        operator = condition.get("operator")
        if condition.get("nodeType") != "BinaryOperation" or operator not in ("==", "!="):
            return None
        sides = [
            self._values.value(condition[side], environment, function)
            for side in ("leftExpression", "rightExpression")
        ]
        numbers = [side.number for side in sides]
        is_direct = not any(side.forwarders for side in sides)
        if {side.kind for side in sides} == {CALLER, CONSTANT} and 0 in numbers and is_direct:
            return bool(operator == "!=")
        if None in numbers:
            return None
        return bool((numbers[0] == numbers[1]) == (operator == "=="))

    def _conjuncts(
        self, node: Node, environment: Environment, function: Node, *, holds: bool
    ) -> list[tuple[Caller, ...]]:
        """Return alternatives that have to hold together."""
        with self._values.budget:
            kind, operator = node.get("nodeType"), node.get("operator")
            components: Sequence[Node] = node.get("components") or ()
            if kind == "TupleExpression" and len(components) == 1:
                return self._conjuncts(components[0], environment, function, holds=holds)
            if kind == "UnaryOperation" and operator == "!":
                return self._conjuncts(
                    node["subExpression"], environment, function, holds=not holds
                )
            if kind == "BinaryOperation" and operator in ("&&", "||"):
                return self._joined(node, environment, function, holds=holds)
            returned = kind == "FunctionCall" and self._values.returned(node, environment, function)
            if returned:
                return self._conjuncts(
                    returned.expression, returned.environment, returned.function, holds=holds
                )
            return [self._leaf(node, environment, function, holds=holds)]

    def _joined(
        self, node: Node, environment: Environment, function: Node, *, holds: bool
    ) -> list[tuple[Caller, ...]]:
        left, right = (
            self._conjuncts(node[side], environment, function, holds=holds)
            for side in ("leftExpression", "rightExpression")
        )
        if (node["operator"] == "&&") == holds:
            return [*left, *right]
        for _ in range(len(left) * len(right)):  # alternatives of conjunctions multiply
            self._values.budget.take()
        return [(*one, *other) for one in left for other in right]

    def _leaf(
        self, node: Node, environment: Environment, function: Node, *, holds: bool
    ) -> tuple[Caller, ...]:
        """Return whom an expression lets pass that combines no others, and forwarders, which may
        name them."""
        operator = str(node.get("operator"))
        if node.get("nodeType") != "BinaryOperation" or operator not in _NEGATED:
            left, right = self._values.value(node, environment, function), _ZERO
            operator = "!=" if holds else "=="
        else:
            left = self._values.value(node["leftExpression"], environment, function)
            right = self._values.value(node["rightExpression"], environment, function)
            operator = operator if holds else _NEGATED[operator]
        self.variables |= left.variables | right.variables
        caller = _compared(operator, left, right)
        forwarders = (*left.forwarders, *right.forwarders) if caller.kind in CALLERS else ()
        return caller, *forwarders


def _compared(operator: str, left: Value, right: Value) -> Caller:
    """Return whom a comparison lets pass."""
    if operator in ("in", "not in"):
        return _of_membership(operator, left, right)
    if right.caller and not left.caller:
        left, right, operator = right, left, _TURNED[operator]
    if not left.caller:
        return Caller(NONE, is_by_arguments=left.arguments or right.arguments)
    if left.kind == CALLER:
        return _of_caller(operator, right)
    if left.kind == ANSWER and (operator, right.number) in _NOT_ZERO:
        [asked] = left.keys
        variables, question = left.variables, left.question
        return Caller(AUTHORITY, left.text, asked.reads, asked.number, variables, question=question)
    if left.kind == ENTRY and not right.caller and right.kind == CONSTANT:
        return _of_entry(operator, left, right.number)
    return _other(left, right)


def _of_membership(operator: str, left: Value, right: Value) -> Caller:
    """Return whom the test lets pass that an array has a value, or that two flags have a bit in
    common: those of the caller's entry are not zero then. Flags are of one type; an array may have
    the zero of those who have no entry."""
    if not left.caller and not right.caller:
        return Caller(NONE, is_by_arguments=left.arguments or right.arguments)
    entry, other = (left, right) if left.caller else (right, left)
    if other.caller or other.arguments:
        return _other(left, right)
    if left.kind == CALLER and right.kind in (VARIABLE_VALUE, ENTRY):
        is_member = operator == "in"
        return Caller(MEMBER, right.text, None, None, right.variables) if is_member else _EXCLUDED
    if entry.kind == ENTRY and left.type and left.type == right.type:
        return _of_entry("!=" if operator == "in" else "==", entry, 0)
    return _other(left, right)


def _other(*values: Value) -> Caller:
    is_argument = any(value.arguments for value in values)
    return Caller(ARGUMENT if is_argument else UNRECOGNISED)


def _of_caller(operator: str, value: Value) -> Caller:
    """Return whom the comparison of the caller itself with a value lets pass."""
    if operator == "!=":
        is_nobody = value.number == 0
        return Caller(NONE if is_nobody else EXCLUSION)
    if operator != "==" or value.caller or value.arguments:
        return _other(value)
    if value.kind == SELF:
        return Caller(ITSELF, value.text)
    is_known = value.kind in (VARIABLE_VALUE, ENTRY) or value.reads is not None
    if not is_known and value.number is None:
        return Caller(UNRECOGNISED)
    return Caller(ACCOUNT, value.text, value.reads, value.number, value.variables)


def _of_entry(operator: str, entry: Value, number: int | None) -> Caller:
    """Return whom the comparison of the caller's entry in a mapping with a constant lets pass."""
    others = [key for key in entry.keys if key.kind != CALLER]
    is_followed = len(others) < len(entry.keys) and not any(key.caller for key in others)
    if not is_followed or number is None or operator not in ("==", "!="):
        return _other(entry)  # an amount, such as a balance, makes nobody a member
    is_role = len(others) == 1 and not others[0].type.startswith("address")
    if (operator == "==") == (number == 0):
        return _other(entry) if entry.arguments else Caller(EXCLUSION)
    if is_role and (not entry.arguments or others[0].kind in (ENTRY, VARIABLE_VALUE)):
        role = others[0]
        return Caller(ROLE, role.text, role.reads, role.number, entry.variables)
    if others and entry.arguments:
        return Caller(ARGUMENT)
    return Caller(MEMBER, entry.text, None, None, entry.variables)


def _checked(callers: Sequence[Caller], written: Collection[int] | None) -> list[Caller]:
    """Return alternatives, of which those are not recognised that the call may have written."""
    return [Caller(UNRECOGNISED) if _may_be_written(c, written) else c for c in callers]


def _may_be_written(caller: Caller, written: Collection[int] | None) -> bool:
    if written is not None:
        return not caller.variables.isdisjoint(written)
    return caller.kind in (ROLE, MEMBER, AUTHORITY) or (
        caller.kind == ACCOUNT and caller.number is None
    )


def _combined(callers: Sequence[Caller]) -> tuple[str, tuple[Caller, ...]]:
    """Return the kind of a condition of these alternatives, and whom it lets pass."""
    kinds = {caller.kind for caller in callers}
    if kinds <= {*CALLERS}:
        return (BY_AUTHORITY if AUTHORITY in kinds else RESTRICTION), (*dict.fromkeys(callers),)
    if kinds == {NONE}:
        return NONE, ()
    if len(kinds) == 1:
        return callers[0].kind, ()
    depends = ARGUMENT in kinds or any(caller.is_by_arguments for caller in callers)
    return (ARGUMENT if depends else UNRECOGNISED), ()
