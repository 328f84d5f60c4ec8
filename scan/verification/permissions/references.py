"""What functions of Solidity refer to: which functions they call, who calls them, and what they
assign."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scan.verification.permissions.syntax_tree import (
    CONTRACT,
    FUNCTION,
    Budget,
    Members,
    Node,
    descendants,
)

_CALLER_IN_ASSEMBLY = re.compile(r"\b(caller|origin)\b")


class References:
    """References in the functions of one contract."""

    def __init__(self, members: Members, budget: Budget) -> None:
        self._members = members
        self._tree = members.tree
        self._budget = budget
        self._reached: dict[int, tuple[bool, frozenset[int]]] = {}
        self._assigned: dict[int, Mapping[int, Sequence[Node]]] = {}

    def called(self, node: Node, caller: Node) -> Node | None:
        """Return the function that a call runs in this contract: its own, a base's, a library's."""
        expression = node.get("expression") or {}
        declared = self._tree.declared(expression)
        if declared is None or declared.get("nodeType") != FUNCTION:
            return None
        if expression.get("nodeType") != "MemberAccess":
            return self._members.most_derived(declared)
        base = expression.get("expression") or {}
        if base.get("name") == "super":
            return self._members.above(declared, caller)
        owner = self._tree.contracts_by_member.get(declared.get("id") or -1)
        if owner is None or owner.get("contractKind") == "library":
            return declared
        named = self._tree.declared(base)
        is_base = named is not None and named.get("nodeType") == CONTRACT
        return declared if is_base and any(b is named for b in self._members.bases) else None

    def assigned(self, function: Node) -> Mapping[int, Sequence[Node]]:
        """Return the variables that a function changes after their declaration, and where."""
        number = int(function.get("id") or -1)
        if number not in self._assigned:
            places: dict[int, list[Node]] = {}
            for variable, node in self._targets(function):
                places.setdefault(variable, []).append(node)
            self._assigned[number] = places
        return self._assigned[number]

    def _targets(self, function: Node) -> Iterator[tuple[int, Node]]:
        for node in descendants(function.get("body"), self._budget):
            kind = node.get("nodeType")
            names: Iterable[int] = ()
            if kind == "Assignment":
                names = _names_written(node.get("leftHandSide"))
            elif kind == "UnaryOperation" and node.get("operator") in ("++", "--", "delete"):
                names = _names_written(node.get("subExpression"))
            elif kind == "InlineAssembly":
                names = _external_references(node)
            for name in names:
                yield name, node

    def reach(self, function: Node) -> tuple[bool, frozenset[int]]:
        """Return whether a function, or one that it calls, reads who calls, and the state variables
        that they name."""
        number = int(function.get("id") or -1)
        if number not in self._reached:
            self._reached[number] = False, frozenset()  # of a function that calls itself
            self._reached[number] = self._reach(function)
        return self._reached[number]

    def _reach(self, function: Node) -> tuple[bool, frozenset[int]]:
        is_caller, variables = False, set()
        waiting, known = [function], {id(function)}
        while waiting:
            current = waiting.pop()
            for node in descendants([current.get("body"), current.get("modifiers")], self._budget):
                is_caller = is_caller or reads_caller(node, self._tree.source)
                declared = self._tree.declared(node) or self._tree.declared(
                    node.get("modifierName") or {}
                )
                if declared is None:
                    continue
                if declared.get("stateVariable"):
                    variables.add(int(declared["id"]))
                for followed in (declared, self._members.most_derived(declared)):
                    if followed.get("body") and id(followed) not in known:
                        known.add(id(followed))
                        waiting.append(followed)
        return is_caller, frozenset(variables)


def reads_caller(node: Node, source: Any) -> bool:
    kind = node.get("nodeType")
    if kind == "InlineAssembly":
        return _CALLER_IN_ASSEMBLY.search(source(node)) is not None
    base = node.get("expression") or {}
    return kind == "MemberAccess" and (base.get("name"), node.get("memberName")) in (
        ("msg", "sender"),
        ("tx", "origin"),
    )


def _names_written(target: Any) -> Iterator[int]:
    """Yield the variables that a target of an assignment changes, not those that index it."""
    waiting = [target]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            continue
        if isinstance(declared := node.get("referencedDeclaration"), int):
            yield declared
        waiting += [node.get("baseExpression"), *(node.get("components") or ())]
        if node.get("nodeType") != "FunctionCall":
            waiting.append(node.get("expression"))


def _external_references(node: Node) -> Iterator[int]:
    for reference in node.get("externalReferences") or ():
        of = reference if "declaration" in reference else next(iter(reference.values()), {})
        if isinstance(of, dict) and isinstance(of.get("declaration"), int):
            yield of["declaration"]
