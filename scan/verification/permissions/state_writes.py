"""Which state variables a walk has written, as checks after that no longer say who may call."""

from collections.abc import Collection

from scan.verification.permissions.function_effects import BalanceWrites, Effect, Write, of_write
from scan.verification.permissions.references import BY_ASSEMBLY, ELSEWHERE, TRANSIENT
from scan.verification.permissions.syntax_tree import Node, type_of
from scan.verification.permissions.value_kinds import ENTRY, VARIABLE_VALUE, Environment
from scan.verification.permissions.values import Values


class StateWrites:
    """Notes writes, and what they do to holders in `effects`. `written` are the numbers of what may
    be written so far; None: anything."""

    def __init__(self, values: Values, effects: list[Effect]) -> None:
        self._values = values
        self._tree = values.members.tree
        self._effects = effects
        self._balances = BalanceWrites()
        self.writes: list[Write] = []
        self.written: set[int] | None = set()

    def note_anything(self) -> None:
        self.written = None

    def note_transient(self) -> None:
        """Note a write of the transaction's own storage, at a place that is not known."""
        if self.written is not None:
            self.written |= {TRANSIENT, BY_ASSEMBLY}

    def note(
        self,
        target: Node,
        node: Node,
        environment: Environment,
        function: Node,
        *,
        is_conditional: bool,
    ) -> None:
        """Note the state variables that an expression writes, which assigns to a target."""
        member, entry = None, target
        while target.get("nodeType") in ("IndexAccess", "MemberAccess"):
            declared = self._tree.declared(target)
            if (declared or {}).get("stateVariable"):
                break  # Base.variable
            member = declared or member
            target = target.get("baseExpression") or target.get("expression") or {}
        if target.get("nodeType") == "TupleExpression":
            for part in target.get("components") or ():
                if isinstance(part, dict):
                    self.note(part, node, environment, function, is_conditional=is_conditional)
            return
        value = self._values.value(target, environment, function)
        base = value.base if value.kind in (VARIABLE_VALUE, ENTRY) else None
        is_fixed = self._is_fixed(node, environment, function)
        if base is not None and base > 0:
            self._declared(base, node, is_conditional=is_conditional)
            if entry is not target:
                name, place = str(self._tree.declarations[base].get("name")), self._tree.place(node)
                written = self._values.value(entry, environment, function)
                self._effects += self._balances.of(name, written, node, place)
            self._add({base}, is_fixed=is_fixed)
        elif base is not None and member is not None:
            self._declared(int(member["id"]), node, is_conditional=is_conditional)
            names = {base + offset for offset in (-1, 0, 1)}  # the next may begin inside
            self._add({*names, BY_ASSEMBLY}, is_fixed=is_fixed)
            if not is_fixed:
                self.written = None  # its slot may be that of an entry of a mapping
        elif " storage" in type_of(target) or type_of(target).startswith("mapping"):
            self.written = None

    def _is_fixed(self, node: Node, environment: Environment, function: Node) -> bool:
        """Return whether what an assignment writes is a number in the source."""
        if node.get("operator") == "delete":
            return True
        value = self._values.value(node.get("rightHandSide") or {}, environment, function)
        return node.get("operator") == "=" and value.number is not None

    def _declared(self, number: int, node: Node, *, is_conditional: bool) -> None:
        place, declared = self._tree.place(node), self._tree.declarations[number]
        name, operator = str(declared.get("name")), str(node.get("operator"))
        self.writes.append(Write(number, name, place))
        self._effects += of_write(name, operator, place, is_conditional=is_conditional)

    def _add(self, names: Collection[int], *, is_fixed: bool) -> None:
        """Note the numbers that stand for what a write changes."""
        if self.written is not None:
            self.written.update(names)
            if not is_fixed:
                self.written |= {ELSEWHERE, BY_ASSEMBLY}
