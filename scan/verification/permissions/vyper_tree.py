"""Vyper's syntax trees in the form of solc's, so that one reader knows the conditions of both.

A module has two contracts: one with the functions of it that the compiled contract exposes, of
which that contract is made, and one with those that are called from inside alone.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import PurePosixPath
from typing import Any

from scan.contracts.abi import selector
from scan.verification.permissions.syntax_tree import CONTRACT, FUNCTION, VARIABLE, Budget, Node
from scan.verification.permissions.vyper_expressions import (
    WORD_TYPES,
    Declarations,
    Expressions,
    builtin,
    mixed,
)
from scan.verification.permissions.vyper_modules import (
    Module,
    decorators,
    exposed_functions,
    modules_of,
    plain_annotation,
    type_name,
)

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_SIZES = {"address": "20", "bool": "1"}  # in bytes; of others 32 at most


def in_form_of_solc(
    output: Mapping[str, Any], path: str, name: str, budget: Budget
) -> dict[str, Any] | None:
    """Return the output with the trees of a contract and its modules; None without its tree."""
    modules = modules_of(output, budget)
    if path not in modules:
        return None
    compiled = output["contracts"][path][name]
    signatures = sorted(compiled["evm"]["methodIdentifiers"], key=len, reverse=True)
    tree = _Trees(modules, modules[path], {s.partition("(")[0] for s in signatures}, budget)
    return {
        "sources": {
            module.path: {"id": module.number, "ast": tree.file(module, name)}
            for module in modules.values()
        },
        "contracts": {
            path: {
                name: {
                    "evm": {"methodIdentifiers": {s: selector(s).hex() for s in signatures}},
                    "storageLayout": tree.layout(compiled.get("storageLayout") or {}),
                }
            }
        },
    }


def in_bytes(sources: Mapping[str, str]) -> dict[str, str]:
    """Return sources in which a character is a byte: Vyper's places count characters."""
    return {path: _NOT_ASCII.sub("?", text) for path, text in sources.items()}


class _Trees:
    """Makes the trees of all modules, with a number for each declaration."""

    def __init__(
        self, modules: Mapping[str, Module], main: Module, callable_: set[str], budget: Budget
    ) -> None:
        self.modules = modules
        self.main = main
        self.numbers = count(1)
        self.exposed = exposed_functions(modules, main, callable_)
        self.contracts = {path: (next(self.numbers), next(self.numbers)) for path in modules}
        self.variables = {
            (module.path, name): self._variable(module, name, declared)
            for module in modules.values()
            for name, declared in module.variables.items()
        }
        functions = {
            (module.path, name): next(self.numbers)
            for module in modules.values()
            for name in module.functions
        }
        self.declarations = Declarations(
            modules, self.variables, functions, [], self.numbers, budget
        )

    def _variable(self, module: Module, name: str, declared: Node) -> Node:
        annotation, kinds = plain_annotation(declared)
        is_exposed = "public" in kinds and (module.path, name) in self.exposed
        return {
            "id": next(self.numbers),
            "nodeType": VARIABLE,
            "name": name,
            "src": declared.get("src"),
            "stateVariable": True,
            "constant": "constant" in kinds,
            "storageLocation": "transient" if "transient" in kinds else "default",
            "visibility": "public" if is_exposed else "internal",
            "typeDescriptions": {"typeString": module.type_string(annotation)},
            "annotation": (annotation, module),
        }

    def file(self, module: Module, name: str) -> Node:
        bodies = {
            f: _Body(self.declarations, module, self.exposed).function(f) for f in module.functions
        }
        inside = [node for f, node in bodies.items() if (module.path, f) not in self.exposed]
        outside = [node for f, node in bodies.items() if (module.path, f) in self.exposed]
        exposed, hidden = self.contracts[module.path]
        is_main = module is self.main
        bases = [exposed, *(n for path, (n, _) in self.contracts.items() if path != module.path)]
        constants = [self._constant(module, own) for own in module.variables]
        interface = {"nodeType": CONTRACT, "id": next(self.numbers), "contractKind": "interface"}
        outside_calls = self.declarations.outside
        others = [outside_calls.pop() for _ in range(len(outside_calls))]
        own_name = name if is_main else PurePosixPath(module.path).stem
        contract = {
            "nodeType": CONTRACT,
            "id": exposed,
            "name": own_name,
            "nodes": outside,
            "linearizedBaseContracts": bases if is_main else [exposed],
        }
        library = {"nodeType": CONTRACT, "id": hidden, "name": "", "contractKind": "library"}
        return {
            "nodeType": "SourceUnit",
            "nodes": [
                *constants,
                {**library, "nodes": inside},
                contract,
                {**interface, "nodes": others},
            ],
        }

    def _constant(self, module: Module, name: str) -> Node:
        variable = self.variables[module.path, name]
        value = module.variables[name].get("value")
        if not variable["constant"] or not isinstance(value, dict):
            return variable
        return {
            **variable,
            "value": _Body(self.declarations, module, self.exposed).expression(value),
        }

    def layout(self, layout: Mapping[str, Any]) -> dict[str, Any]:
        """Return the slots of variables of one word. `layout` has those of a module by its name in
        the contract."""
        storage = []
        for module, entries in _layouts(self.main, self.modules, layout, set()):
            for name, entry in entries.items():
                declared = self.variables.get((module.path, name))
                type_ = type_name(declared["annotation"][0]) if declared else ""
                if declared is None or not isinstance(entry.get("slot"), int):
                    continue
                if WORD_TYPES.fullmatch(type_) or module.is_contract(type_):
                    slot = {"slot": str(entry["slot"]), "offset": 0, "astId": declared["id"]}
                    size = _SIZES.get(type_, "20" if module.is_contract(type_) else "32")
                    storage.append({**slot, "type": size})
        return {"storage": storage, "types": {s: {"numberOfBytes": s} for s in ("1", "20", "32")}}


def _layouts(
    module: Module, modules: Mapping[str, Module], layout: Mapping[str, Any], seen: set[str]
) -> Iterator[tuple[Module, Mapping[str, Any]]]:
    yield module, {n: entry for n, entry in layout.items() if isinstance(entry, dict)}
    for alias, path in module.imports.items():
        below = layout.get(alias)
        if path not in seen and isinstance(below, dict) and "slot" not in below:
            yield from _layouts(modules[path], modules, below, {*seen, path})


class _Body(Expressions):
    """Makes the nodes of one function."""

    def __init__(
        self, declarations: Declarations, module: Module, exposed: set[tuple[str, str]]
    ) -> None:
        super().__init__(declarations, module)
        self._exposed = exposed

    def function(self, name: str) -> Node:
        self._names = {}
        declared = self._module.functions[name]
        marks = decorators(declared)
        arguments = (declared.get("args") or {}).get("args") or ()
        is_exposed = (self._module.path, name) in self._exposed
        kind = {"__init__": "constructor", "__default__": "fallback"}.get(name, "function")
        return {
            "nodeType": FUNCTION,
            "id": self._declarations.functions[self._module.path, name],
            "name": "" if kind == "fallback" else name,
            "src": declared.get("src"),
            "kind": kind,
            "visibility": "external" if is_exposed else "private",
            "stateMutability": next((m for m in ("view", "pure") if m in marks), "nonpayable"),
            "parameters": {"parameters": [self._declare(a, a["arg"]) for a in arguments]},
            "body": self._block(declared["body"]),
        }

    def _declare(self, node: Node, name: str) -> Node:
        annotation = node.get("annotation")
        declared = {
            "id": next(self._declarations.numbers),
            "nodeType": VARIABLE,
            "name": name,
            "src": node.get("src"),
            "typeDescriptions": {"typeString": self._module.type_string(annotation)},
            "annotation": (annotation, self._module),
        }
        self._names = {**self._names, name: declared}
        return declared

    def _block(self, statements: Sequence[Node]) -> Node:
        names = self._names
        made = [self._statement(statement) for statement in statements]
        self._names = names
        return {"nodeType": "Block", "statements": made}

    def _statement(self, node: Node) -> Node:
        self._declarations.budget.check_time()
        make = _STATEMENTS.get(str(node.get("ast_type")))
        return {"src": node.get("src"), **(make(self, node) if make else mixed([]))}

    def _expression_statement(self, node: Node) -> Node:
        expression = self.expression(node["value"])
        return {"nodeType": "ExpressionStatement", "expression": expression}

    def _assert(self, node: Node) -> Node:
        call = builtin("require", [self.expression(node["test"])], node)
        return {"nodeType": "ExpressionStatement", "expression": call}

    def _raise(self, node: Node) -> Node:
        given = [node["exc"]] if isinstance(node.get("exc"), dict) else []
        arguments = [self.expression(argument) for argument in given]
        return {"nodeType": "RevertStatement", "errorCall": builtin("Error", arguments, node)}

    def _if(self, node: Node) -> Node:
        return {
            "nodeType": "IfStatement",
            "condition": self.expression(node["test"]),
            "trueBody": self._block(node["body"]),
            "falseBody": self._block(node["orelse"]) if node.get("orelse") else None,
        }

    def _for(self, node: Node) -> Node:
        values, names, target = self.expression(node["iter"]), self._names, node["target"]
        name = target if target.get("ast_type") == "Name" else target["target"]
        declared = self._declare({**target, "src": name.get("src")}, name["id"])
        initial = {
            "nodeType": "VariableDeclarationStatement",
            "declarations": [declared],
            "initialValue": mixed([values]),
        }
        body = self._block(node["body"])
        self._names = names
        return {"nodeType": "ForStatement", "initializationExpression": initial, "body": body}

    def _declaration(self, node: Node) -> Node:
        value = self.expression(node["value"])
        declared = self._declare(node, node["target"]["id"])
        statement = {"nodeType": "VariableDeclarationStatement", "declarations": [declared]}
        return {**statement, "initialValue": value}

    def _assign(self, node: Node) -> Node:
        operator = (node.get("op") or {}).get("ast_type")
        assigned = {
            "nodeType": "Assignment",
            "operator": "=" if operator is None else {"Add": "+="}.get(operator, "-="),
            "leftHandSide": self.expression(node["target"]),
            "rightHandSide": self.expression(node["value"]),
            "src": node.get("src"),
        }
        return {"nodeType": "ExpressionStatement", "expression": assigned}

    def _log(self, node: Node) -> Node:
        call = node["value"]
        given = [*call["args"], *(k["value"] for k in call.get("keywords") or ())]
        name = call["func"].get("attr") or call["func"].get("id")
        event = builtin(str(name), [self.expression(argument) for argument in given], node)
        return {"nodeType": "EmitStatement", "eventCall": event}

    def _return(self, node: Node) -> Node:
        value = node.get("value")
        expression = self.expression(value) if isinstance(value, dict) else None
        return {"nodeType": "Return", "expression": expression}

    def _leaving(self, node: Node) -> Node:
        return {"nodeType": node["ast_type"]}


_STATEMENTS: dict[str, Callable[[_Body, Node], Node]] = {
    "Expr": _Body._expression_statement,
    "Assert": _Body._assert,
    "Raise": _Body._raise,
    "If": _Body._if,
    "For": _Body._for,
    "AnnAssign": _Body._declaration,
    "Assign": _Body._assign,
    "AugAssign": _Body._assign,
    "Log": _Body._log,
    "Return": _Body._return,
    "Break": _Body._leaving,
    "Continue": _Body._leaving,
}
