"""What functions of Solidity refer to: which functions they call, who calls them, and what they
assign."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scan.verification.permissions.inline_assembly import Assembly, assembly_of
from scan.verification.permissions.syntax_tree import (
    CONTRACT,
    FUNCTION,
    VARIABLE,
    Budget,
    Members,
    Node,
    SyntaxTree,
    descendants,
    is_view,
    type_of,
    visibility,
)

_DESTROYING = "selfdestruct", "suicide"
_CALLER = ("msg", "sender"), ("tx", "origin")
# Statements after which a block may go on elsewhere; what `_` stands for may return, too.
_LEAVING = "Return", "Break", "Continue", "PlaceholderStatement"
_BLOCKS = "Block", "UncheckedBlock"
_CALLS = None, "functionCall"
_NAMED = "Identifier", "MemberAccess", "NewExpression", "FunctionCallOptions"
# Numbers that stand for what is read beside state variables of a known place, which are positive:
# by assembly, of the transaction's own storage, and of another contract, which may be this one.
BY_ASSEMBLY, TRANSIENT, ELSEWHERE = 0, -(1 << 200), -(1 << 201)
_NAMESPACE_BITS = 64  # of a slot, within which a structure lies
_RUNNING_CODE = "call", "callcode", "delegatecall", "value", "gas"


class References:
    """References in the functions of one contract."""

    def __init__(self, members: Members, budget: Budget) -> None:
        self._members = members
        self._tree = members.tree
        self._budget = budget
        self._reached: dict[int, tuple[bool, frozenset[int]]] = {}
        self._assigned: dict[int, Mapping[int, Sequence[Node]]] = {}
        self._reverting: dict[int, bool] = {}

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
            return None if self.is_of_linked_library(node) else declared
        named = self._tree.declared(base)
        is_base = named is not None and named.get("nodeType") == CONTRACT
        return declared if is_base and any(b is named for b in self._members.bases) else None

    def is_of_linked_library(self, node: Node) -> bool:
        """Return whether a node calls a function of a linked library, which may do anything: the
        contract has its address alone, and other code than the source's may be there."""
        expression = node.get("expression") or {}
        if node.get("nodeType") != "FunctionCall" or expression.get("nodeType") != "MemberAccess":
            return False
        declared = self._tree.declared(expression) or {}
        owner = self._tree.contracts_by_member.get(declared.get("id") or -1)
        return (
            declared.get("nodeType") == FUNCTION
            and visibility(declared) in ("public", "external")
            and owner is not None
            and owner.get("contractKind") == "library"
        )

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
                names = _names_written(node.get("leftHandSide"), self._tree)
            elif kind == "UnaryOperation" and node.get("operator") in ("++", "--", "delete"):
                names = _names_written(node.get("subExpression"), self._tree)
            elif kind == "InlineAssembly":
                names = external_references(node)
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
        for node in self._all_run([function.get("body"), function.get("modifiers")]):
            is_caller = is_caller or self._reads_call(node) or self.is_of_linked_library(node)
            if node.get("nodeType") == "InlineAssembly":
                variables.add(BY_ASSEMBLY)
            declared = self._tree.declared(node)
            if declared is not None and declared.get("stateVariable"):
                variables.add(int(declared["id"]))
        return is_caller, frozenset(variables)

    def _all_run(self, part: object) -> Iterator[Node]:
        """Yield what a part of a tree consists of, with the functions and modifiers it names."""
        waiting, known = [part], set()
        while waiting:
            for node in descendants(waiting.pop(), self._budget):
                yield node
                declared = self._tree.declared(node)
                for followed in () if declared is None else self._members.alike(declared):
                    if followed.get("body") and id(followed) not in known:
                        known.add(id(followed))
                        waiting.append([followed.get("body"), followed.get("modifiers")])

    def assembly(self, node: Node) -> Assembly:
        return assembly_of(node, self._tree, self._budget)

    def _reads_call(self, node: Node) -> bool:
        """Return whether a node reads who calls, or what is passed in a way of its own."""
        if node.get("nodeType") == "InlineAssembly":
            return self.assembly(node).reads_caller or self.assembly(node).reads_data
        name = (node.get("expression") or {}).get("name"), node.get("memberName")
        return node.get("nodeType") == "MemberAccess" and name in (*_CALLER, ("msg", "data"))

    def is_of_unknown(self, node: Node) -> bool:
        """Return whether a node runs a function that a variable or an operator stands for."""
        if isinstance(node.get("function"), int):
            return True
        if node.get("nodeType") != "FunctionCall" or node.get("kind") not in _CALLS:
            return False
        expression: Node = node.get("expression") or {}
        base: Node = expression.get("expression") or {}
        kind, declared = expression.get("nodeType"), self._tree.declared(expression)
        if kind == "FunctionCall":  # one of value() or gas() has no declaration
            return self._tree.declared(base) is not None
        if declared is None or declared.get("nodeType") != VARIABLE:
            return kind not in _NAMED
        is_of_contract = (self._tree.declared(base) or {}).get("nodeType") == CONTRACT
        return not declared.get("stateVariable") or kind != "MemberAccess" or is_of_contract

    def may_write(self, call: Node) -> bool:
        """Return whether a call of another contract may come back to write state variables."""
        expression: Node = call.get("expression") or {}
        if expression.get("nodeType") == "FunctionCallOptions":
            expression = expression.get("expression") or {}
        declared = self._tree.declared(expression)
        if declared is not None:
            return declared.get("nodeType") == FUNCTION and not is_view(declared)
        is_creation = type_of(call).startswith("contract ")
        return is_creation or expression.get("memberName") in _RUNNING_CODE

    def is_destroying(self, node: Node) -> bool:
        return self._tree.is_builtin(node, *_DESTROYING)

    def reverts(self, node: Node) -> bool:
        """Return whether a statement reverts in any case, with all that it does."""
        if id(node) not in self._reverting:
            parts = descendants(node, self._budget)
            self._reverting[id(node)] = (
                self._has_revert(node)
                and not any(part.get("nodeType") in _LEAVING for part in parts)
                and not self._may_end(node)
            )
        return self._reverting[id(node)]

    def _has_revert(self, node: Node) -> bool:
        kind = node.get("nodeType")
        if kind in _BLOCKS:
            with self._budget:
                return any(self._has_revert(part) for part in node.get("statements") or ())
        call = node.get("expression") or {}
        is_call = kind == "ExpressionStatement" and call.get("nodeType") == "FunctionCall"
        is_revert = is_call and self._tree.is_builtin(call.get("expression") or {}, "revert")
        return is_revert or kind in ("RevertStatement", "Throw")

    def _may_end(self, node: Node) -> bool:
        """Return whether what a node runs may end the whole call without reverting it."""
        return any(
            self.assembly(part).ends
            if part.get("nodeType") == "InlineAssembly"
            else self.is_destroying(part) or self.is_of_unknown(part)
            for part in self._all_run(node)
        )


def namespace_at(slot: int) -> int | None:
    """Return the number that stands for a structure at a slot that the source names, such as one
    of ERC-7201; None where state variables lie, too."""
    return -(slot >> _NAMESPACE_BITS) or None


def _names_written(target: Any, tree: SyntaxTree) -> Iterator[int]:
    """Yield the variables that a target of an assignment changes, not those that index it, nor a
    pointer into storage whose member is assigned."""
    waiting = [(target, False)]
    while waiting:
        node, is_part = waiting.pop()
        if not isinstance(node, dict):
            continue
        is_pointer = is_part and (tree.declared(node) or {}).get("storageLocation") == "storage"
        if isinstance(declared := node.get("referencedDeclaration"), int) and not is_pointer:
            yield declared
        waiting.append((node.get("baseExpression"), True))
        waiting += [(part, is_part) for part in node.get("components") or ()]
        if node.get("nodeType") != "FunctionCall":
            waiting.append((node.get("expression"), True))


def external_references(node: Node) -> Iterator[int]:
    """Yield the declarations that inline assembly names."""
    for reference in node.get("externalReferences") or ():
        of = reference if "declaration" in reference else next(iter(reference.values()), {})
        if isinstance(of, dict) and isinstance(of.get("declaration"), int):
            yield of["declaration"]
