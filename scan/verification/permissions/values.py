"""What expressions of Solidity stand for: the caller, state variables, entries of mappings.

A value is followed through arguments, local variables and functions that return an expression. What
is not followed still says whether the caller or the function's arguments may decide it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scan.verification.permissions import answers, constants, forwarders
from scan.verification.permissions.references import (
    BY_ASSEMBLY,
    ELSEWHERE,
    TRANSIENT,
    References,
    external_references,
    namespace_at,
)
from scan.verification.permissions.syntax_tree import (
    CONTRACT,
    Budget,
    Members,
    Node,
    is_view,
    parameters,
    type_of,
    visibility,
)
from scan.verification.permissions.value_kinds import (
    CALLDATA,
    CALLER,
    CONSTANT,
    ENTRY,
    OTHER,
    SELECTOR,
    SELF,
    VARIABLE_VALUE,
    Caller,
    Environment,
    Step,
    Value,
    mixed,
)

_TEXTS = ("string", "bytes")
_NOBODY = Value(OTHER)


class Return(NamedTuple):
    """The expression that a function returns, and the values of the names in it."""

    expression: Node
    environment: Environment
    function: Node


class _Last(NamedTuple):
    """The last statement of a function after declarations of local variables alone."""

    statement: Node
    environment: Environment
    function: Node


class Values:
    """Evaluates expressions in the functions of one contract."""

    def __init__(self, members: Members, budget: Budget) -> None:
        self.members = members
        self._tree = members.tree
        self.budget = budget
        self.references = References(members, budget)
        self._being_read: set[int] = set()
        # Whom a condition that holds, or not, lets pass: caller_conditions.py reads conditions.
        self.passing: Callable[[Node, Environment, Node, bool], Sequence[Caller]] = lambda *_: ()

    def value(self, node: Node, environment: Environment, function: Node) -> Value:
        with self.budget:
            read = _READERS.get(str(node.get("nodeType")), Values._other)
            value = read(self, node, environment, function)
            text = value.text or self._tree.place(node).text
            if value.number and not constants.has_number(type_of(node)):
                value = value._replace(number=None)
            return value._replace(text=text, type=value.type or type_of(node))

    def _parts(self, node: Node, environment: Environment, function: Node) -> list[Value]:
        """Return the values of the expressions directly in a node."""
        parts: list[Any] = []
        for name, child in node.items():
            if name not in ("typeName", "typeDescriptions", "argumentTypes", "commonType"):
                parts.extend(child if isinstance(child, list) else [child])
        return [
            self.value(part, environment, function)
            for part in parts
            if isinstance(part, dict) and "nodeType" in part
        ]

    def _other(self, node: Node, environment: Environment, function: Node) -> Value:
        return mixed(self._parts(node, environment, function))

    def _identifier(self, node: Node, environment: Environment, function: Node) -> Value:
        number = node.get("referencedDeclaration")
        declared = self._tree.declared(node)
        if declared is not None and declared.get("stateVariable"):
            return self._state_variable(declared, function)
        if isinstance(number, int) and number in self.references.assigned(function):
            return self._changed(number, environment, function)
        if isinstance(number, int) and number in environment:
            return environment[number]
        return Value(SELF) if self._tree.is_builtin(node, "this") else _NOBODY

    def _state_variable(self, declared: Node, function: Node) -> Value:
        number = int(declared["id"])
        name = str(declared.get("name"))
        if declared.get("constant") and isinstance(declared.get("value"), dict):
            constant = self.value(declared["value"], {}, function)
            return constant._replace(text=name, type="", reads=self._getter(declared))
        reads = self._getter(declared) or (Step(variable=number),)
        is_transient = declared.get("storageLocation") == "transient"
        variables = frozenset({number, TRANSIENT} if is_transient else {number})
        return Value(VARIABLE_VALUE, name, variables=variables, reads=reads, base=number)

    def _getter(self, declared: Node) -> tuple[Step, ...] | None:
        is_plain = not type_of(declared).startswith(("mapping", "struct")) and not type_of(
            declared
        ).endswith("]")
        if visibility(declared) == "public" and is_plain:
            return (Step(call=f"{declared.get('name')}()"),)
        return None

    def _changed(self, number: int, environment: Environment, function: Node) -> Value:
        """Return what a local variable that is assigned again depends on."""
        if number in self._being_read:
            return _NOBODY
        self._being_read.add(number)
        parts = [environment[number]] if number in environment else []
        for node in self.references.assigned(function)[number]:
            if node.get("nodeType") == "InlineAssembly":
                assembly = self.references.assembly(node)
                is_caller = assembly.reads_caller or assembly.reads_data
                variables = frozenset({BY_ASSEMBLY})
                parts.append(Value(OTHER, caller=is_caller, variables=variables))
            else:
                parts += self._parts(node, environment, function)
        self._being_read.remove(number)
        return mixed(parts)

    def _member(self, node: Node, environment: Environment, function: Node) -> Value:
        base, name = node.get("expression") or {}, str(node.get("memberName"))
        if self._tree.is_builtin(base, "msg", "tx"):
            if (base.get("name"), name) == ("msg", "sender"):
                return Value(CALLER, caller=True)
            if (base.get("name"), name) == ("tx", "origin"):
                return Value(OTHER, caller=True)
            if base.get("name") == "msg":
                kind = {"data": CALLDATA, "sig": SELECTOR}.get(name, OTHER)
                return Value(kind, caller=name == "data", arguments=name == "value")
        declared = self._tree.declared(node)
        named = (self._tree.declared(base) or {}).get("nodeType")
        if declared is not None and declared.get("stateVariable") and named == CONTRACT:
            return self._state_variable(declared, function)
        of = self.value(base, environment, function)
        if name == "length" and of.kind == CALLDATA:  # as in a check of how much is passed
            return Value(OTHER)
        is_stored = type_of(base).startswith("struct ") and " storage" in type_of(base)
        if is_stored and (of.kind in (VARIABLE_VALUE, ENTRY) or not of.caller):
            is_namespace = declared is not None and of.base is not None and of.base < 0
            member = {int(declared["id"])} if declared is not None and is_namespace else set()
            variables = of.variables | member
            return of._replace(kind=ENTRY, text="", type="", reads=None, variables=variables)
        return mixed([of])

    def _index(self, node: Node, environment: Environment, function: Node) -> Value:
        base = self.value(node.get("baseExpression") or {}, environment, function)
        index = node.get("indexExpression")
        key = self.value(index, environment, function) if isinstance(index, dict) else _NOBODY
        if base.kind not in (VARIABLE_VALUE, ENTRY):
            return mixed([base, key])
        return base._replace(
            kind=ENTRY,
            text="",
            type="",
            keys=(*base.keys, key),
            caller=base.caller or key.caller,
            arguments=base.arguments or key.arguments,
            variables=base.variables | key.variables,
            reads=None,
            forwarders=(*base.forwarders, *key.forwarders),
        )

    def _slice(self, node: Node, environment: Environment, function: Node) -> Value:
        """Return the value of a slice; of the calldata's first four bytes, what is passed."""
        base = self.value(node.get("baseExpression") or {}, environment, function)
        start, end = (
            self.value(node[name], environment, function).number if node.get(name) else None
            for name in ("startExpression", "endExpression")
        )
        is_first = (start == 0 or not node.get("startExpression")) and end == 4
        if base.kind == CALLDATA and is_first:
            return base._replace(text="", type="")
        return self._other(node, environment, function)

    def _tuple(self, node: Node, environment: Environment, function: Node) -> Value:
        components = [part for part in node.get("components") or () if isinstance(part, dict)]
        if len(components) == 1:
            return self.value(components[0], environment, function)
        return self._other(node, environment, function)

    def _call(self, node: Node, environment: Environment, function: Node) -> Value:
        arguments = [
            self.value(argument, environment, function) for argument in node.get("arguments") or ()
        ]
        if node.get("kind") == "typeConversion":
            return constants.converted(node, arguments)
        if returned := self.returned(node, environment, function):
            value = self.value(returned.expression, returned.environment, returned.function)
            return self._with_getter(value._replace(text=""), returned.function)
        if forwarded := self._forwarded(node, environment, function):
            return forwarded
        if (number := self._namespace(node, environment, function)) is not None:
            return Value(VARIABLE_VALUE, variables=frozenset({number}), base=number)
        called = self.references.called(node, function)
        if called is not None:
            receiver = self._parts(node.get("expression") or {}, environment, function)
            caller, variables = self.references.reach(called)
            unknown = Value(OTHER, caller=caller, variables=variables)
            return self._with_getter(mixed([*arguments, *receiver, unknown]), called)
        return self._outside(node, arguments, environment, function)

    def _forwarded(self, node: Node, environment: Environment, caller: Node) -> Value | None:
        """Return who calls, or what is passed, if a call returns it but for forwarders."""
        called = self.references.called(node, caller)
        if called is None or not forwarders.may_choose(called):
            return None
        names = self.bound(node, called, environment, caller)
        choice = forwarders.choice(self, called, names)
        return choice and choice.value

    def _conditional(self, node: Node, environment: Environment, function: Node) -> Value:
        condition = node.get("condition") or {}
        for name, holds in (("falseExpression", True), ("trueExpression", False)):
            value = forwarders.chosen(
                self, node.get(name) or {}, condition, environment, function, holds=holds
            )
            if value is not None:
                return value
        return self._other(node, environment, function)

    def _with_getter(self, value: Value, called: Node) -> Value:
        """Return what a function returns with a call of it, where anybody can make the same."""
        is_open = visibility(called) in ("public", "external") and is_view(called)
        if not is_open or parameters(called) or value.caller or value.kind == CONSTANT:
            return value
        is_own = any(f is called for f in self.members.external_functions)
        return value._replace(reads=(Step(call=f"{called.get('name')}()"),)) if is_own else value

    def _outside(
        self, node: Node, arguments: Sequence[Value], environment: Environment, function: Node
    ) -> Value:
        """Return the value of a built-in function, or of a function of another contract."""
        expression = node.get("expression") or {}
        if self.references.is_of_linked_library(node):
            return mixed([*arguments, Value(OTHER, caller=True)])
        if self._tree.is_builtin(expression, "keccak256") and len(node.get("arguments") or ()) == 1:
            return constants.hashed(node["arguments"][0], arguments[0])
        target = expression.get("expression")
        if expression.get("nodeType") != "MemberAccess" or not isinstance(target, dict):
            return mixed(arguments)
        of = self.value(target, environment, function)
        declared = self._tree.declared(expression)
        is_of_contract = type_of(target).startswith("contract ") and not node.get("names")
        answer = answers.of_call(declared, of, arguments) if is_of_contract else None
        if answer is not None:
            return answer
        reads = None
        is_read = declared is not None and (is_view(declared) or declared.get("stateVariable"))
        if declared is not None and is_read and not arguments and of.reads is not None:
            reads = (*of.reads, Step(call=f"{declared.get('name')}()"))
        value = mixed([*arguments, of])
        return value._replace(reads=reads, variables=value.variables | {ELSEWHERE})

    def bound(
        self, node: Node, called: Node, environment: Environment, caller: Node
    ) -> Environment:
        """Return the values of a called function's parameters."""
        names = parameters(called)
        given = list(node.get("arguments") or ())
        expression = node.get("expression") or {}
        if len(given) < len(names) and expression.get("nodeType") == "MemberAccess":
            given = [expression.get("expression") or {}, *given]  # using Library for type
        labels = node.get("names") or ()
        values = [self.value(argument, environment, caller) for argument in given]
        if labels:
            by_name = dict(zip(labels, values, strict=False))
            values = [by_name.get(p.get("name"), mixed(values)) for p in names]
        pairs = zip(names, values, strict=False)
        return {p["id"]: self._held(p, v, called) for p, v in pairs}

    def _held(self, declared: Node, value: Value, function: Node) -> Value:
        """Return what a local variable holds of a value: memory may be changed by other names."""
        is_text = type_of(declared).startswith(_TEXTS) and value.kind != CALLDATA
        if declared.get("storageLocation") != "memory" or is_text:
            return value
        return mixed([value, Value(OTHER, caller=self.references.reach(function)[0])])

    def returned(self, node: Node, environment: Environment, caller: Node) -> Return | None:
        """Return the expression that a call's function returns at its end, after declarations of
        local variables alone; None of others."""
        last = self._last(node, environment, caller)
        if last is None or last.statement.get("nodeType") != "Return":
            return None
        expression = last.statement.get("expression")
        if not isinstance(expression, dict):
            return None
        return Return(expression, last.environment, last.function)

    def _namespace(self, node: Node, environment: Environment, caller: Node) -> int | None:
        """Return the number of the structure whose pointer a call returns, by the number of its
        slot; None of others."""
        last = self._last(node, environment, caller)
        if last is None or last.statement.get("nodeType") != "InlineAssembly":
            return None
        slot = self.references.assembly(last.statement).slot
        results = parameters(last.function, "returnParameters")
        if slot is None or len(results) != 1 or results[0].get("storageLocation") != "storage":
            return None
        names = [n for n in external_references(last.statement) if n != results[0]["id"]]
        number = self._number_of(names[0], last) if names else int(slot, 0)
        return None if number is None else namespace_at(number)

    def _number_of(self, name: int, last: _Last) -> int | None:
        """Return the number of a constant, or of a local variable that is assigned once."""
        declared = self._tree.declarations.get(name) or {}
        if declared.get("constant"):
            return self._state_variable(declared, last.function).number
        is_once = len(self.references.assigned(last.function)[name]) == 1  # the assembly
        value = last.environment.get(name) if is_once else None
        return value.number if value is not None else None

    def _last(self, node: Node, environment: Environment, caller: Node) -> _Last | None:
        called = self.references.called(node, caller)
        if called is None or called.get("modifiers") or not isinstance(called.get("body"), dict):
            return None
        with self.budget:
            names = dict(self.bound(node, called, environment, caller))
            statements = called["body"].get("statements") or [{}]
            for statement in statements[:-1]:
                if statement.get("nodeType") != "VariableDeclarationStatement":
                    return None
                names |= self.declared_values(statement, names, called)
        return _Last(statements[-1], names, called)

    def declared_values(
        self, statement: Node, environment: Environment, function: Node
    ) -> Environment:
        """Return the values of the local variables that a statement declares."""
        declared = [d for d in statement.get("declarations") or () if isinstance(d, dict)]
        initial = statement.get("initialValue")
        if not isinstance(initial, dict):
            zero = Value(CONSTANT, number=0)
            return {d["id"]: self._held(d, zero, function) for d in declared}
        places = statement.get("declarations") or ()
        values = self._components(initial, environment, function)
        if len(values) != len(places):
            values = [mixed([self.value(initial, environment, function)])] * len(places)
        pairs = zip(places, values, strict=True)
        return {d["id"]: self._held(d, v, function) for d, v in pairs if isinstance(d, dict)}

    def _answer(self, node: Node, environment: Environment, caller: Node) -> Value | None:
        """Return the answer of an authority that a library's function asks; None of others."""
        called = self.references.called(node, caller)
        if called is None or called.get("name") != answers.WITH_DELAY:
            return None
        given = [*self.bound(node, called, environment, caller).values()]
        answer = answers.with_delay(called, given, self._tree, self.budget)
        return answer and answer._replace(text=self._tree.place(node).text)

    def _components(self, node: Node, environment: Environment, function: Node) -> list[Value]:
        """Return the values of an expression that is assigned to several variables, or its own."""
        if answer := self._answer(node, environment, function):
            return [answer, answer]
        if returned := self.returned(node, environment, function):
            node, environment, function = returned
        components = node.get("components") or ()
        if node.get("nodeType") == "TupleExpression" and len(components) > 1:
            return [self.value(part, environment, function) for part in components]
        return [self.value(node, environment, function)]


_READERS = {
    "Literal": lambda _values, node, *_: constants.literal(node),
    "Identifier": Values._identifier,
    "MemberAccess": Values._member,
    "IndexAccess": Values._index,
    "IndexRangeAccess": Values._slice,
    "TupleExpression": Values._tuple,
    "FunctionCall": Values._call,
    "Conditional": Values._conditional,
}
