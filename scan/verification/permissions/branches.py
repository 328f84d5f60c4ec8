"""If statements that refuse callers: what has to hold so that they do not revert.

`if (a) { if (!b) revert(); }` and `if (!a) {} else if (!b) revert();` refuse what
`require(!a || b)` does. Nested statements count where they are all that a branch consists of.
"""

from collections.abc import Sequence
from typing import NamedTuple

from scan.verification.permissions.references import References
from scan.verification.permissions.syntax_tree import Budget, Node

IF = "IfStatement"
_BLOCKS = "Block", "UncheckedBlock"


class Nested(NamedTuple):
    """An if statement that is all of a branch of another one, and what has to hold in it."""

    statement: Node
    needed: Node
    other: Node  # the other branch
    is_then: bool


def needed(statement: Node, references: References, budget: Budget) -> Node | None:
    """Return an expression that holds whenever an if statement does not revert; None where it does
    not revert by itself."""
    condition: Node = statement.get("condition") or {}
    if references.reverts(statement.get("trueBody") or {}):
        return negated(condition)
    if references.reverts(statement.get("falseBody") or {}):
        return condition
    inner = nested(statement, references, budget)
    if inner is None:
        return None
    passing = negated(condition) if inner.is_then else condition
    return {
        "nodeType": "BinaryOperation",
        "operator": "||",
        "leftExpression": passing,
        "rightExpression": inner.needed,
        "src": condition.get("src"),
    }


def nested(statement: Node, references: References, budget: Budget) -> Nested | None:
    """Return the if statement that a branch of another one consists of, if it may revert."""
    then: Node = statement.get("trueBody") or {}
    otherwise: Node = statement.get("falseBody") or {}
    with budget:
        for body, other in ((then, otherwise), (otherwise, then)):
            inner = _only_statement(body)
            if inner.get("nodeType") != IF:
                continue
            if (expression := needed(inner, references, budget)) is not None:
                return Nested(inner, expression, other, body is then)
    return None


def negated(condition: Node) -> Node:
    return {
        "nodeType": "UnaryOperation",
        "operator": "!",
        "subExpression": condition,
        "src": condition.get("src"),
    }


def _only_statement(body: Node) -> Node:
    statements: Sequence[Node] = body.get("statements") or ()
    is_one = body.get("nodeType") in _BLOCKS and len(statements) == 1
    return statements[0] if is_one else body
