"""Functions that return who calls, but for calls of forwarders, which say for whom they call
(ERC-2771): `_msgSender()` and `_msgData()`, and the like.

Where such a function returns something else than `msg.sender`, a condition has let pass only some
callers. So whatever a check of its result says, it lets pass these callers, and otherwise whom it
would let pass by `msg.sender`. What a forwarder passes on is not read.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scan.verification.permissions.branches import IF
from scan.verification.permissions.syntax_tree import Node, parameters
from scan.verification.permissions.value_kinds import CALLDATA, CALLER, Environment, Value

if TYPE_CHECKING:
    from scan.verification.permissions.values import Values


class Choice(NamedTuple):
    """The statement by which a function returns who calls, or what a forwarder passes on, and the
    value, with the forwarders."""

    statement: Node
    value: Value


def may_choose(function: Node) -> bool:
    """Return whether a function has the form that choice() reads."""
    statements: Sequence[Node] = (function.get("body") or {}).get("statements") or ()
    has_choice = any(statement.get("nodeType") == IF for statement in statements)
    return has_choice and not function.get("modifiers")


def choice(values: "Values", function: Node, environment: Environment) -> Choice | None:
    """Return how a function, with values of its parameters, chooses what it returns; None where it
    does something else."""
    if not may_choose(function):
        return None
    names, statements = dict(environment), [*function["body"]["statements"]]
    with values.budget:
        while statements and statements[0].get("nodeType") == "VariableDeclarationStatement":
            names |= values.declared_values(statements.pop(0), names, function)
        if not statements or statements[0].get("nodeType") != IF:
            return None
        statement, *after = statements
        branches = statement.get("trueBody") or {}, statement.get("falseBody") or {}
        for direct, holds in (branches[1], True), (branches[0], False):
            expression = _result([direct, *after], function)
            if expression is None:
                continue
            condition = statement.get("condition") or {}
            value = chosen(values, expression, condition, names, function, holds=holds)
            if value is not None:
                return Choice(statement, value)
    return None


def chosen(
    values: "Values",
    expression: Node,
    condition: Node,
    environment: Environment,
    function: Node,
    *,
    holds: bool,
) -> Value | None:
    """Return the value of an expression that names who calls, or what is passed, where a condition
    that lets only forwarders pass does not hold (or, not `holds`: holds); None of others."""
    value = values.value(expression, environment, function)
    if value.kind not in (CALLER, CALLDATA):
        return None
    forwarders = values.passing(condition, environment, function, holds)
    marked = [caller._replace(is_forwarder=True) for caller in forwarders]
    return value._replace(forwarders=(*value.forwarders, *marked), text="") if marked else None


def _result(statements: Sequence[Node], function: Node) -> Node | None:
    """Return the expression that statements return: `return expression`, or its assignment to the
    function's one result, which is returned then."""
    first, *after = _flat(statements) or [{}]
    if first.get("nodeType") == "Return":
        return first.get("expression")
    assignment = first.get("expression") or {}
    results = [result.get("id") for result in parameters(function, "returnParameters")]
    target = (assignment.get("leftHandSide") or {}).get("referencedDeclaration")
    if assignment.get("nodeType") != "Assignment" or assignment.get("operator") != "=":
        return None
    returned = [
        statement.get("nodeType") == "Return"
        and (statement.get("expression") or {}).get("referencedDeclaration") == target
        for statement in after
    ]
    return assignment.get("rightHandSide") if results == [target] and all(returned) else None


def _flat(statements: Sequence[Node]) -> list[Node]:
    """Return statements with those of the block at the first place; nothing for one that is
    absent."""
    first, *after = statements
    inside = first.get("statements") if first.get("nodeType") == "Block" else first and [first]
    return [*(inside or ()), *after]
