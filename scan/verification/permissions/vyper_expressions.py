"""Expressions of Vyper in the form of solc's syntax trees.

What has no counterpart is a node of the kind `Mixed`, whose parts decide it; what is called and not
known is a call of such a node.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scan.verification.permissions.syntax_tree import FUNCTION, Budget, Node
from scan.verification.permissions.vyper_modules import Module, type_name
from scan.verification.permissions.vyper_places import Places

_COMPARED = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}
_CREATING = ("create_", "raw_create")
_ZEROS = ("ZERO_ADDRESS", "EMPTY_BYTES32")
_OF_TYPES = ("empty", "convert", "_abi_decode", "abi_decode", "max_value", "min_value")
WORD_TYPES = re.compile(r"address|bool|u?int\d*|bytes\d+|decimal")
_LITERALS = "Int Hex Str Bytes HexBytes NameConstant Decimal".split()
_ADDRESS = {"typeString": "address"}


class Declarations(NamedTuple):
    """The declarations of all modules: variables by path and name, functions by their numbers.
    `outside` takes the functions of other contracts that are called."""

    modules: Mapping[str, Module]
    variables: dict[tuple[str, str], Node]
    functions: dict[tuple[str, str], int]
    outside: list[Node]
    numbers: Iterator[int]
    budget: Budget


class Expressions:
    """Makes the nodes of expressions in one function; `_names` are its parameters and local
    variables."""

    def __init__(self, declarations: Declarations, module: Module) -> None:
        self._declarations = declarations
        self._module = module
        self._names: dict[str, Node] = {}
        self._places = Places()
        self._memberships = 0  # tests of lists that were written as comparisons

    def expression(self, node: Node) -> Node:
        make = _EXPRESSIONS.get(str(node.get("ast_type")))
        made = make(self, node) if make else mixed(self._parts(node))
        return {**made, "src": self._places.src(node)}

    def _parts(self, node: Node) -> list[Node]:
        lists = (child if isinstance(child, list) else [child] for child in node.values())
        parts = [part for children in lists for part in children]
        kinds = ("expr_context", "Load", "Store")
        return [
            self.expression(p)
            for p in parts
            if isinstance(p, dict) and p.get("ast_type") not in (None, *kinds)
        ]

    def _literal(self, node: Node) -> Node:
        value = node.get("value")
        if node["ast_type"] == "Str":
            return {"nodeType": "Literal", "hexValue": str(value).encode().hex()}
        if node["ast_type"] in ("Bytes", "HexBytes"):
            return {"nodeType": "Literal", "hexValue": str(value).removeprefix("0x")}
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return {"nodeType": "Literal", "value": text}

    def _name(self, node: Node) -> Node:
        name = node["id"]
        if name == "self":
            return {"nodeType": "Identifier", "name": "this", "typeDescriptions": _ADDRESS}
        if name in self._names:
            return reference(self._names[name])
        if (self._module.path, name) in self._declarations.variables:
            return reference(self._declarations.variables[self._module.path, name])
        if name in _ZEROS:
            return {"nodeType": "Literal", "value": "0"}
        return {"nodeType": "Identifier", "name": name}

    def _attribute(self, node: Node) -> Node:
        base, name = node["value"], node["attr"]
        module = self._module_of(base)
        if module is not None and (module.path, name) in self._declarations.variables:
            return reference(self._declarations.variables[module.path, name])
        if (flags := self._flags(base)) is not None:
            literal = {"nodeType": "Literal", "value": str(1 << flags.index(name))}
            type_ = {"typeString": base.get("id") or base["attr"]}
            return {**literal, "typeDescriptions": type_}
        of = self.expression(base)
        if name == "address":
            return of
        if base.get("ast_type") == "Name" and base["id"] in ("msg", "tx", "block", "chain"):
            return {"nodeType": "MemberAccess", "expression": of, "memberName": name}
        annotation, declaring = self._annotation(of)
        made = {"nodeType": "MemberAccess", "memberName": name}
        return self._part_of(made, of, declaring.field(annotation, name))

    def _flags(self, node: Node) -> Sequence[str] | None:
        """Return the members of the flags that an expression names; None of others."""
        if node.get("ast_type") == "Name":
            return self._module.flags.get(node["id"])
        is_name = node.get("ast_type") == "Attribute"
        module = self._module_of(node["value"]) if is_name else None
        return module.flags.get(node["attr"]) if module is not None else None

    def _subscript(self, node: Node) -> Node:
        index = node["slice"]
        key = index["value"] if index.get("ast_type") == "Index" else index
        of = self.expression(node["value"])
        annotation, declaring = self._annotation(of)
        made = {"nodeType": "IndexAccess", "indexExpression": self.expression(key)}
        return self._part_of({**made, "baseExpression": of}, of, declaring.entry(annotation))

    def _part_of(self, made: Node, of: Node, annotation: Node | None) -> Node:
        """Return a part of a variable, with its type, and where it is."""
        is_stored, (_, declaring) = bool(of.get("isStored")), self._annotation(of)
        type_ = {"typeString": declaring.type_string(annotation, is_stored=is_stored)}
        part = {
            **made,
            "annotation": (annotation, declaring),
            "isStored": is_stored,
            "typeDescriptions": type_,
        }
        return part if "baseExpression" in made else {**part, "expression": of}

    def _annotation(self, node: Node) -> tuple[Node | None, Module]:
        """Return the type of a part of a variable, and the module that names it so. They are in a
        tuple, so that no walk goes into them."""
        annotation, declaring = node.get("annotation") or (None, self._module)
        return annotation, declaring

    def _module_of(self, node: Node) -> Module | None:
        """Return the module that an expression names: `self`, or one that is imported."""
        if node.get("ast_type") == "Name":
            if node["id"] == "self":
                return self._module
            path = None if node["id"] in self._names else self._module.imports.get(node["id"])
            return self._declarations.modules[path] if path is not None else None
        if node.get("ast_type") == "Attribute":
            outer = self._module_of(node["value"])
            path = outer.imports.get(node["attr"]) if outer is not None else None
            return self._declarations.modules[path] if path is not None else None
        return None

    def _compare(self, node: Node) -> Node:
        before, operator = self._memberships, node["op"]["ast_type"]
        left, right = self.expression(node["left"]), node["right"]
        is_of_list = right.get("ast_type") == "List" and right["elements"]
        # One within what another one tests is not copied again, or trees grew with a power.
        if operator in ("In", "NotIn") and is_of_list and self._memberships == before:
            self._memberships += 1
            compared = "==" if operator == "In" else "!="
            parts = [
                _binary(compared, left, self.expression(element), node)
                for element in right["elements"]
            ]
            return _joined("||" if operator == "In" else "&&", parts, node)
        names = {**_COMPARED, "In": "in", "NotIn": "not in"}
        return _binary(names.get(operator, "?"), left, self.expression(right), node)

    def _boolean(self, node: Node) -> Node:
        operator = "&&" if node["op"]["ast_type"] == "And" else "||"
        return _joined(operator, [self.expression(value) for value in node["values"]], node)

    def _unary(self, node: Node) -> Node:
        operator = "!" if node["op"]["ast_type"] == "Not" else "-"
        operand = self.expression(node["operand"])
        made = {"nodeType": "UnaryOperation", "operator": operator, "subExpression": operand}
        return {**made, "typeDescriptions": self._type_of_flags(operand)}

    def _operation(self, node: Node) -> Node:
        parts = [self.expression(node[side]) for side in ("left", "right")]
        operator = "-" if node["op"]["ast_type"] == "Sub" else "?"
        type_ = self._type_of_flags(parts[0])
        return {**mixed(parts), "operator": operator, "typeDescriptions": type_}

    def _type_of_flags(self, operand: Node) -> Node:
        """Return the type of an operation on flags, which is its operands'; none of others."""
        type_ = operand.get("typeDescriptions") or {}
        return type_ if type_.get("typeString") in self._module.flags else {}

    def _conditional(self, node: Node) -> Node:
        parts = (("condition", "test"), ("trueExpression", "body"), ("falseExpression", "orelse"))
        return {"nodeType": "Conditional", **{to: self.expression(node[of]) for to, of in parts}}

    def _tuple(self, node: Node) -> Node:
        components = [self.expression(element) for element in node["elements"]]
        if len(components) == 1:
            return mixed(components)
        return {"nodeType": "TupleExpression", "components": components}

    def _outside(self, node: Node) -> Node:
        """Return a call of another contract, with its keyword: of view functions, or others."""
        return self._call(node["value"], is_view=node["ast_type"] == "StaticCall")

    def _call(self, node: Node, is_view: bool | None = None) -> Node:
        function, given = node["func"], node["args"]
        options = {k["arg"]: k["value"] for k in node.get("keywords") or ()}
        if function.get("ast_type") == "Name":
            return self._call_by_name(function["id"], given, options, node)
        if function.get("ast_type") != "Attribute":
            return _unknown([self.expression(function), *map(self.expression, given)])
        name, module = function["attr"], self._module_of(function["value"])
        if module is not None:
            return self._call_inside(module, name, given, node)
        of = self.expression(function["value"])
        arguments = [self.expression(argument) for argument in given]
        is_list = str((of.get("typeDescriptions") or {}).get("typeString")).partition(" ")[0]
        if name in ("append", "pop") and is_list.endswith("]"):
            changed = {"nodeType": "Assignment", "operator": "+=", "leftHandSide": of}
            return {**changed, "rightHandSide": mixed(arguments)}
        if is_view is None:
            annotation, declaring = self._annotation(of)
            is_view = declaring.is_view(annotation, name)
        return self._call_of_contract(of, name, arguments, options, is_view=is_view)

    def _call_of_contract(
        self,
        of: Node,
        name: str,
        arguments: list[Node],
        options: Mapping[str, Node],
        *,
        is_view: bool,
    ) -> Node:
        declared = {
            "nodeType": FUNCTION,
            "id": next(self._declarations.numbers),
            "name": name,
            "kind": "function",
            "visibility": "external",
            "stateMutability": "view" if is_view else "nonpayable",
        }
        self._declarations.outside.append(declared)
        target = {**of, "typeDescriptions": {"typeString": f"contract {name}"}}
        expression: Node = {"nodeType": "MemberAccess", "expression": target, "memberName": name}
        expression = {**expression, "referencedDeclaration": declared["id"]}
        return self._with_options(expression, arguments, options)

    def _with_options(
        self, expression: Node, arguments: list[Node], options: Mapping[str, Node]
    ) -> Node:
        passed = [option for option in ("value", "gas") if option in options]
        if passed:
            values = [self.expression(options[option]) for option in passed]
            expression = {"nodeType": "FunctionCallOptions", "expression": expression}
            expression = {**expression, "names": passed, "options": values}
        others = [self.expression(v) for n, v in options.items() if n not in passed]
        call = {"nodeType": "FunctionCall", "kind": "functionCall", "expression": expression}
        return {**call, "arguments": [*arguments, *others]}

    def _call_inside(self, module: Module, name: str, given: Sequence[Node], node: Node) -> Node:
        """Return a call of a function of this contract, with the defaults that are not given."""
        arguments = [self.expression(argument) for argument in given]
        if name in module.interfaces or name == "__interface__":
            return _converted(arguments, f"contract {name}")
        declared = module.functions.get(name)
        if declared is None:
            is_data = name in module.structures
            return mixed(arguments) if is_data else _unknown(arguments)
        accepted = len((declared.get("args") or {}).get("args") or ())
        defaults = (declared.get("args") or {}).get("defaults") or ()
        missing = defaults[len(defaults) - max(accepted - len(given), 0) :]
        arguments += [
            Expressions(self._declarations, module).expression(value) for value in missing
        ]
        number = self._declarations.functions[module.path, name]
        called = {"nodeType": "Identifier", "name": name, "referencedDeclaration": number}
        call = {"nodeType": "FunctionCall", "kind": "functionCall", "expression": called}
        return {**call, "arguments": arguments, "src": node.get("src")}

    def _call_by_name(
        self, name: str, given: Sequence[Node], options: Mapping[str, Node], node: Node
    ) -> Node:
        if name in _OF_TYPES:
            return self._of_type(name, given)
        arguments = [self.expression(argument) for argument in given]
        if self._module.is_contract(name):
            return _converted(arguments, f"contract {name}")
        if name in self._module.structures:
            return mixed([*arguments, *map(self.expression, options.values())])
        if name == "send" and "gas" in options:  # it may run as much as a call does
            return self._raw_call("raw_call", arguments[:1], {**options, "value": given[1]})
        if name in ("raw_call", "send") and arguments:
            return self._raw_call(name, arguments, options)
        if name.startswith(_CREATING):
            return {
                "nodeType": "FunctionCall",
                "expression": {"nodeType": "NewExpression"},
                "typeDescriptions": {"typeString": "contract created"},
                "arguments": [*arguments, *map(self.expression, options.values())],
            }
        if name == "raw_return":
            return _unknown(arguments)
        hidden = "revert" if name == "raw_revert" else name
        return builtin(hidden, [*arguments, *map(self.expression, options.values())], node)

    def _raw_call(self, name: str, arguments: list[Node], options: Mapping[str, Node]) -> Node:
        kinds = {"is_delegate_call": "delegatecall", "is_static_call": "staticcall"}
        given = {o: (options.get(o) or {"value": False}).get("value") for o in kinds}
        # What a constant says is not known: it delegates, and may write.
        said = [kinds[o] for o, value in given.items() if value is True]
        if given["is_delegate_call"] is None:
            said = ["delegatecall"]
        member = "send" if name == "send" else next(iter(said), "call")
        # A call that fails reverts, so that what it calls may refuse callers, as a contract may.
        type_ = _ADDRESS if name == "send" else {"typeString": "contract called"}
        target = {**arguments[0], "typeDescriptions": type_}
        expression = {"nodeType": "MemberAccess", "expression": target, "memberName": member}
        left = {o: value for o, value in options.items() if o not in kinds}
        return self._with_options(expression, arguments[1:], left)

    def _of_type(self, name: str, given: Sequence[Node]) -> Node:
        """Return a call that names a type, which is no value."""
        if name == "convert" and len(given) == 2:
            return _converted([self.expression(given[0])], type_name(given[1]))
        if name == "empty" and WORD_TYPES.fullmatch(type_name(given[0])):
            return {"nodeType": "Literal", "value": "0"}
        return mixed([self.expression(given[0])] if name.endswith("abi_decode") else [])


def mixed(parts: Sequence[Node]) -> dict[str, Any]:
    return {"nodeType": "Mixed", "parts": list(parts)}


def _unknown(arguments: Sequence[Node]) -> dict[str, Any]:
    """Return a call of what is not known."""
    call = {"nodeType": "FunctionCall", "kind": "functionCall", "arguments": list(arguments)}
    return {**call, "expression": mixed([])}


def builtin(name: str, arguments: list[Node], node: Node) -> Node:
    call = {"nodeType": "FunctionCall", "kind": "functionCall", "src": node.get("src")}
    return {**call, "expression": {"nodeType": "Identifier", "name": name}, "arguments": arguments}


def _converted(arguments: list[Node], type_: str) -> Node:
    call = {"nodeType": "FunctionCall", "kind": "typeConversion", "arguments": arguments}
    return {**call, "typeDescriptions": {"typeString": type_}}


def _binary(operator: str, left: Node, right: Node, node: Node) -> Node:
    sides = {"leftExpression": left, "rightExpression": right}
    return {"nodeType": "BinaryOperation", "operator": operator, "src": node.get("src"), **sides}


def _joined(operator: str, parts: Sequence[Node], node: Node) -> Node:
    joined = parts[0]
    for part in parts[1:]:
        joined = _binary(operator, joined, part, node)
    return joined


def reference(declared: Node) -> Node:
    return {
        "nodeType": "Identifier",
        "name": declared["name"],
        "referencedDeclaration": declared["id"],
        "typeDescriptions": declared["typeDescriptions"],
        "annotation": declared["annotation"],
        "isStored": bool(declared.get("stateVariable")),
    }


_EXPRESSIONS: dict[str, Callable[[Expressions, Node], Node]] = {
    **dict.fromkeys(
        "Int Hex Str Bytes HexBytes NameConstant Decimal".split(), Expressions._literal
    ),
    "Name": Expressions._name,
    "Attribute": Expressions._attribute,
    "Subscript": Expressions._subscript,
    "Compare": Expressions._compare,
    "BoolOp": Expressions._boolean,
    "UnaryOp": Expressions._unary,
    "BinOp": Expressions._operation,
    "IfExp": Expressions._conditional,
    "Tuple": Expressions._tuple,
    "List": Expressions._tuple,
    "Call": Expressions._call,
    "ExtCall": Expressions._outside,
    "StaticCall": Expressions._outside,
}
