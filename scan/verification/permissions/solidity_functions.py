"""A walk through what a call of a function of Solidity runs, in the order in which it runs.

Modifiers, functions that are called, bases and libraries are followed. A check that does not run in
each call, as in a branch or after a return, restricts nobody.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scan.verification.permissions import branches, forwarders
from scan.verification.permissions.caller_conditions import (
    ARGUMENT,
    AUTHORITY,
    BY_AUTHORITY,
    CONDITIONAL,
    RESTRICTION,
    UNRECOGNISED,
    Condition,
    Conditions,
)
from scan.verification.permissions.function_effects import (
    DELEGATECALL,
    SELFDESTRUCT,
    Effect,
    Write,
    of_assembly,
    of_call,
    of_event,
    without_moves,
)
from scan.verification.permissions.state_writes import StateWrites
from scan.verification.permissions.syntax_tree import (
    MODIFIER,
    Budget,
    Members,
    Node,
    TooComplex,
    parameters,
    type_of,
)
from scan.verification.permissions.value_kinds import OTHER, Environment, Value, mixed
from scan.verification.permissions.values import Values

MAX_STEPS_OF_ONE = 40_000


class FunctionFacts(NamedTuple):
    """What is known of a function. `checked` are the state variables in its checks."""

    conditions: Sequence[Condition]
    effects: Sequence[Effect]
    writes: Sequence[Write]
    checked: frozenset[int]
    is_complex: bool


def facts_of(members: Members, function: Node, budget: Budget) -> FunctionFacts:
    """Return what is known of a function; of one that is too complex that it is."""
    own = Budget(min(budget.left, MAX_STEPS_OF_ONE), budget.end)
    steps, is_complex = own.left, False
    walk = _Walk(members, own)
    try:
        walk.run(function)
    except (TooComplex, RecursionError):
        is_complex = True
    budget.left -= steps - max(own.left, 0)
    return FunctionFacts(
        _without_answers(walk.conditions),
        walk.effects,
        walk.state.writes,
        frozenset(walk.reader.variables),
        is_complex,
    )


def _without_answers(conditions: Sequence[Condition]) -> list[Condition]:
    """Return conditions without calls of authorities whose answers are conditions themselves."""
    answers = {caller.text for c in conditions for caller in c.callers if caller.kind == AUTHORITY}
    return [c for c in conditions if c.kind != UNRECOGNISED or c.place.text not in answers]


class _Frame(NamedTuple):
    """Where a walk is: in a function or modifier, with values of its names. `rest` runs what `_`
    of a modifier stands for, and `is_conditional` says that not each call comes here."""

    function: Node
    environment: dict[int, Value]
    is_conditional: bool = False
    rest: Callable[[bool], None] | None = None


class _Walk:
    def __init__(self, members: Members, budget: Budget) -> None:
        self._members = members
        self._tree = members.tree
        self._budget = budget
        self._values = Values(members, budget)
        self.reader = Conditions(self._values)
        self.conditions: list[Condition] = []
        self.effects: list[Effect] = []
        self.state = StateWrites(self._values, self.effects)
        self._may_have_ended = False  # the whole call, so that later checks need not run
        self._calls: list[Node] = []

    def run(self, function: Node) -> None:
        arguments = {
            p["id"]: Value(OTHER, str(p.get("name")), type_of(p), arguments=True)
            for p in parameters(function)
        }
        self._invoke(function, arguments, is_conditional=False)

    def _invoke(self, function: Node, environment: Environment, *, is_conditional: bool) -> None:
        """Walk a function with its modifiers; not one that is walked already."""
        if any(function is walked for walked in self._calls):
            self.state.note_anything()
            self._may_have_ended = True
            return
        self._calls.append(function)
        with self._budget:
            self._modified(function, dict(environment), 0, is_conditional=is_conditional)
        self._calls.pop()

    def _modified(
        self, function: Node, environment: dict[int, Value], index: int, *, is_conditional: bool
    ) -> None:
        """Walk the modifiers of a function from one on, and in their places its body."""
        invocations = function.get("modifiers") or ()
        if index >= len(invocations):
            self._body(_Frame(function, environment, is_conditional))
            return

        def rest(conditional: bool) -> None:
            self._modified(
                function, environment, index + 1, is_conditional=is_conditional or conditional
            )

        declared = self._tree.declared(invocations[index].get("modifierName") or {})
        if declared is None or declared.get("nodeType") != MODIFIER:
            rest(False)
            return
        modifier = self._members.most_derived(declared)
        given = {"arguments": invocations[index].get("arguments")}
        self._expressions(given, _Frame(function, environment, is_conditional))
        values = self._values.bound(given, modifier, environment, function)
        with self._budget:
            self._body(_Frame(modifier, dict(values), is_conditional, rest))

    def _body(self, frame: _Frame) -> None:
        if isinstance(body := frame.function.get("body"), dict):
            self._statement(body, frame)

    def _statement(self, node: Node, frame: _Frame) -> bool:
        """Walk a statement, and return whether the function may have returned in it."""
        with self._budget:
            walk = _STATEMENTS.get(str(node.get("nodeType")), _Walk._expressions)
            return bool(walk(self, node, frame))

    def _block(self, node: Node, frame: _Frame) -> bool:
        may_return = False
        for statement in node.get("statements") or ():
            if self._statement(statement, frame):
                may_return, frame = True, frame._replace(is_conditional=True)
        return may_return

    def _return(self, node: Node, frame: _Frame) -> bool:
        self._expressions(node, frame)
        return True

    def _placeholder(self, _node: Node, frame: _Frame) -> None:
        if frame.rest:
            frame.rest(frame.is_conditional)

    def _declaration(self, node: Node, frame: _Frame) -> None:
        self._expressions(node, frame)
        frame.environment.update(
            self._values.declared_values(node, frame.environment, frame.function)
        )

    def _if(self, node: Node, frame: _Frame) -> bool:
        condition: Node = node.get("condition") or {}
        then: Node = node.get("trueBody") or {}
        otherwise: Node = node.get("falseBody") or {}
        self._expressions({"condition": condition}, frame)
        decided = self.reader.decided(condition, frame.environment, frame.function)
        if decided is not None:
            return self._statement(then if decided else otherwise, frame)
        needed = branches.needed(node, self._values.references, self._budget)
        if needed is not None:
            self._nested_conditions(node, frame._replace(is_conditional=True))
            self._require(needed, frame, holds=True)
            return self._passing(node, frame)
        choice = forwarders.choice(self._values, frame.function, frame.environment)
        if choice is None or choice.statement is not node:
            self._branch(condition, frame)
        inside = frame._replace(is_conditional=True)
        returns = [self._statement(part, inside) for part in (then, otherwise)]
        return any(returns)

    def _nested_conditions(self, node: Node, frame: _Frame) -> None:
        """Walk the conditions within an if statement that are checked together with its own."""
        while inner := branches.nested(node, self._values.references, self._budget):
            node = inner.statement
            self._expressions({"condition": node.get("condition") or {}}, frame)

    def _passing(self, node: Node, frame: _Frame) -> bool:
        """Walk what an if statement does where it does not revert."""
        then: Node = node.get("trueBody") or {}
        otherwise: Node = node.get("falseBody") or {}
        if self._values.references.reverts(then):
            return self._statement(otherwise, frame)
        if self._values.references.reverts(otherwise):
            return self._statement(then, frame)
        if (inner := branches.nested(node, self._values.references, self._budget)) is None:
            return False
        inside = frame._replace(is_conditional=True)
        return any([self._passing(inner.statement, inside), self._statement(inner.other, inside)])

    def _branch(self, condition: Node, frame: _Frame) -> None:
        """Note a condition on the caller that decides what is done, if not whether."""
        value = self._values.value(condition, frame.environment, frame.function)
        conditions = self.reader.of(
            condition, frame.environment, frame.function, holds=True, written=()
        )
        if conditions and value.caller:
            kind = ARGUMENT if value.arguments else UNRECOGNISED
            self._add(Condition(kind, self._tree.place(condition)))

    def _require(self, node: Node, frame: _Frame, *, holds: bool) -> None:
        conditions = self.reader.of(
            node, frame.environment, frame.function, holds=holds, written=self.state.written
        )
        for condition in conditions:
            is_always = not frame.is_conditional and not self._may_have_ended
            if condition.kind in (RESTRICTION, BY_AUTHORITY) and not is_always:
                condition = condition._replace(kind=CONDITIONAL)
            self._add(condition)

    def _add(self, condition: Condition) -> None:
        if condition not in self.conditions:
            self.conditions.append(condition)

    def _loop(self, node: Node, frame: _Frame) -> bool:
        if isinstance(initial := node.get("initializationExpression"), dict):
            self._statement(initial, frame)
        inside = frame._replace(is_conditional=True)
        if isinstance(condition := node.get("condition"), dict):
            self._expressions({"condition": condition}, frame)
            self._branch(condition, inside)
        if isinstance(step := node.get("loopExpression"), dict):
            self._statement(step, inside)
        return self._statement(node.get("body") or {}, inside)

    def _try(self, node: Node, frame: _Frame) -> bool:
        inside = frame._replace(is_conditional=True)
        self._expressions({"call": node.get("externalCall") or {}}, inside)  # may revert
        clauses = node.get("clauses") or ()
        blocks = [self._statement(clause.get("block") or {}, inside) for clause in clauses]
        return any(blocks)

    def _assembly(self, node: Node, _frame: _Frame) -> None:
        assembly, place = self._values.references.assembly(node), self._tree.place(node)
        if assembly.writes:
            self.state.note_anything()
        if assembly.writes_transient:
            self.state.note_transient()
        self._may_have_ended |= assembly.ends
        if assembly.reads_caller or assembly.delegates:
            self._add(Condition(UNRECOGNISED, place))
        self.effects += of_assembly(assembly, place)

    def _unknown(self, node: Node) -> None:
        """Note that a function is run that is not known."""
        self.state.note_anything()
        self._may_have_ended = True
        self._add(Condition(UNRECOGNISED, self._tree.place(node)))

    def _revert(self, node: Node, frame: _Frame) -> None:
        """Walk the arguments of an error: they are evaluated before it reverts."""
        call = node.get("errorCall") or {}
        self._expressions({"arguments": call.get("arguments")}, frame)

    def _emit(self, node: Node, frame: _Frame) -> None:
        call = node.get("eventCall") or {}
        self._expressions({"arguments": call.get("arguments")}, frame)
        values = self._argument_values(call, frame)
        self.effects += of_event(_name_of(call), values, self._tree.place(node))

    def _argument_values(self, call: Node, frame: _Frame) -> list[Value]:
        return [
            self._values.value(argument, frame.environment, frame.function)
            for argument in call.get("arguments") or ()
        ]

    def _expressions(self, node: Node, frame: _Frame) -> None:
        """Walk the expressions in a node, the innermost first."""
        kind = node.get("nodeType")
        inside = frame
        for name, child in node.items():
            if name == "rightExpression" and node.get("operator") in ("&&", "||"):
                inside = frame._replace(is_conditional=True)
            if kind == "Conditional" and name in ("trueExpression", "falseExpression"):
                inside = frame._replace(is_conditional=True)
            for part in child if isinstance(child, list) else [child]:
                if isinstance(part, dict) and "nodeType" in part and name != "typeName":
                    with self._budget:
                        self._expressions(part, inside)
        if self._values.references.is_of_unknown(node):
            self._unknown(node)
        elif kind == "FunctionCall":
            self._call(node, frame)
        elif kind == "Conditional":
            value = self._values.value(node, frame.environment, frame.function)
            if not value.forwarders:
                self._branch(node.get("condition") or {}, frame)
        elif kind == "Assignment":
            self._write(node.get("leftHandSide") or {}, node, frame)
        elif kind == "UnaryOperation" and node.get("operator") in ("++", "--", "delete"):
            self._write(node.get("subExpression") or {}, node, frame)

    def _call(self, node: Node, frame: _Frame) -> None:
        name, place = _name_of(node), self._tree.place(node)
        called = self._values.references.called(node, frame.function)
        if self._values.references.is_of_linked_library(node):
            self._unknown(node)
        elif called is None:
            self._call_outside(node, name, frame)
        else:
            call = [*of_call(name, place)]
            before = len(self.effects) + len(call)
            self.effects += call
            values = self._values.bound(node, called, frame.environment, frame.function)
            self._invoke(called, values, is_conditional=frame.is_conditional)
            self.effects[before:] = without_moves(call, self.effects[before:])

    def _call_outside(self, node: Node, name: str, frame: _Frame) -> None:
        """Note what a built-in function, an event of an old release or another contract does."""
        arguments, place = node.get("arguments") or (), self._tree.place(node)
        expression = node.get("expression") or {}
        if self._tree.is_builtin(expression, "require", "assert") and arguments:
            self._require(arguments[0], frame, holds=True)
        elif self._values.references.is_destroying(expression):
            self.effects.append(Effect(SELFDESTRUCT, place))
            self._may_have_ended = True
        elif expression.get("nodeType") == "Identifier":
            self.effects += of_event(name, self._argument_values(node, frame), place)
        elif node.get("kind") in (None, "functionCall"):
            self._call_contract(node, expression, frame)

    def _call_contract(self, node: Node, expression: Node, frame: _Frame) -> None:
        place, is_sending = self._tree.place(node), False
        if self._values.references.may_write(node):
            self.state.note_anything()
        if expression.get("nodeType") == "FunctionCallOptions":
            is_sending = "value" in (expression.get("names") or ())
            expression = expression.get("expression") or {}
        name, target = str(expression.get("memberName")), expression.get("expression") or {}
        is_account = type_of(target).startswith("address")
        if name in ("push", "pop") and " storage" in type_of(target):
            self._write(target, node, frame)
            return
        is_old_value = name == "value" and type_of(target).startswith("function")
        if is_sending or is_old_value or (is_account and name in ("transfer", "send")):
            self.effects += of_call(".send", place)
            return
        effects = [*of_call(f".{name}", place)]
        self.effects += effects
        if any(effect.kind == DELEGATECALL for effect in effects):
            self._add(Condition(UNRECOGNISED, place))  # what it runs may refuse callers
        value = mixed(self._argument_values(node, frame))
        is_of_contract = type_of(target).startswith("contract ")
        if value.caller and is_of_contract and not effects:  # a contract may refuse callers
            self._add(Condition(ARGUMENT if value.arguments else UNRECOGNISED, place))

    def _write(self, target: Node, node: Node, frame: _Frame) -> None:
        self.state.note(
            target, node, frame.environment, frame.function, is_conditional=frame.is_conditional
        )


def _name_of(call: Node) -> str:
    expression = call.get("expression") or {}
    return str(expression.get("memberName") or expression.get("name") or "")


_STATEMENTS: dict[str, Callable[[_Walk, Node, _Frame], bool | None]] = {
    "Block": _Walk._block,
    "UncheckedBlock": _Walk._block,
    "Return": _Walk._return,
    "PlaceholderStatement": _Walk._placeholder,
    "VariableDeclarationStatement": _Walk._declaration,
    "IfStatement": _Walk._if,
    "ForStatement": _Walk._loop,
    "WhileStatement": _Walk._loop,
    "DoWhileStatement": _Walk._loop,
    "TryStatement": _Walk._try,
    "InlineAssembly": _Walk._assembly,
    "EmitStatement": _Walk._emit,
    "RevertStatement": _Walk._revert,
}
