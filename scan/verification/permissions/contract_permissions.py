"""The record of who may call a contract's functions, as it is stored: bounded, with places."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from scan.verification.permissions.caller_conditions import (
    ARGUMENT,
    BY_AUTHORITY,
    CONDITIONAL,
    RESTRICTION,
    UNRECOGNISED,
    Condition,
)
from scan.verification.permissions.function_effects import Effect
from scan.verification.permissions.solidity_functions import FunctionFacts, facts_of
from scan.verification.permissions.syntax_tree import (
    Budget,
    Members,
    Node,
    SyntaxTree,
    TooComplex,
    is_view,
    kind_of,
    parameters,
    type_of,
)
from scan.verification.permissions.value_kinds import Step
from scan.verification.permissions.vyper_tree import in_bytes, in_form_of_solc

MAX_FUNCTIONS = 300
MAX_OF_ONE = 12  # conditions, effects or writes of a function
MAX_RECORD_BYTES = 512 * 1024

# Who may call a function: only those whom a condition names; whom another contract lets pass, which
# may be anybody; not known, since a condition is not recognised; anybody whose arguments fit;
# anybody, but for exclusions.
ACCESSES = RESTRICTED, MANAGED, UNKNOWN, BY_ARGUMENTS, UNRESTRICTED = (
    "restricted",
    "authority",
    "unrecognised",
    "arguments",
    "unrestricted",
)


def selection_of(path: str, name: str) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the outputs that a record is read of; none of them needs code."""
    return {"*": {"": ["ast"]}, path: {name: ["storageLayout", "evm.methodIdentifiers"]}}


def of_vyper(
    output: Mapping[str, Any], sources: Mapping[str, str], path: str, name: str
) -> dict[str, Any] | None:
    """Return the record of a contract in Vyper's output with trees, as of_solidity() does."""
    try:
        trees = in_form_of_solc(output, path, name, Budget())
    except TooComplex:
        return None
    return of_solidity(trees, in_bytes(sources), path, name) if trees is not None else None


def of_solidity(
    output: Mapping[str, Any], sources: Mapping[str, str], path: str, name: str
) -> dict[str, Any] | None:
    """Return the record of a contract in solc's output with trees; None without its tree, and
    where the trees are too large to be read in time."""
    budget = Budget()
    try:
        tree = SyntaxTree(output, sources, budget)
    except TooComplex:
        return None
    contract = tree.contract(path, name)
    if contract is None:
        return None
    members = Members(tree, contract)
    compiled = output["contracts"][path][name]
    signatures = [*(compiled.get("evm", {}).get("methodIdentifiers") or {}).items()]
    changing = [f for f in members.external_functions if not is_view(f)]
    functions = changing[:MAX_FUNCTIONS]
    facts = [facts_of(members, function, budget) for function in functions]
    reading = _Reading(members, compiled.get("storageLayout") or {})
    names = [_signature(function, signatures) for function in functions]
    checking: dict[int, list[str]] = {}  # the functions that check a state variable
    for name_of_function, own in zip(names, facts, strict=True):
        for variable in own.checked:
            checking.setdefault(variable, []).append(name_of_function)
    return {
        "functions": [
            _record(tree, function, own, signature, checking, reading)
            for function, own, signature in zip(functions, facts, names, strict=True)
        ],
        "truncated": len(changing) > MAX_FUNCTIONS,
    }


def _record(
    tree: SyntaxTree,
    function: Node,
    facts: FunctionFacts,
    signature: str,
    checking: Mapping[int, Sequence[str]],
    reading: "_Reading",
) -> dict[str, Any]:
    place = tree.place(function)
    contract = tree.contracts_by_member.get(function.get("id") or -1) or {}
    access = _access(facts)
    return {
        "function": signature,
        "contract": str(contract.get("name") or ""),
        "file": place.file,
        "line": place.line,
        "access": access,
        "conditions": [reading.condition(c) for c in facts.conditions[:MAX_OF_ONE]],
        "effects": [_effect(effect) for effect in _firsts(facts.effects)],
        "writes": [*islice(_writes(facts, checking), MAX_OF_ONE)],
        "complete": not facts.is_complex,
    }


def _access(facts: FunctionFacts) -> str:
    kinds = {condition.kind for condition in facts.conditions}
    if RESTRICTION in kinds:
        return RESTRICTED
    if BY_AUTHORITY in kinds:
        return MANAGED
    if not kinds.isdisjoint((UNRECOGNISED, CONDITIONAL)) or facts.is_complex:
        return UNKNOWN
    return BY_ARGUMENTS if ARGUMENT in kinds else UNRESTRICTED


def _firsts(effects: Sequence[Effect]) -> list[Effect]:
    """Return the first effect of each kind."""
    first: dict[str, Effect] = {}
    for effect in effects:
        first.setdefault(effect.kind, effect)
    return [*first.values()][:MAX_OF_ONE]


def _effect(effect: Effect) -> dict[str, Any]:
    place = effect.place
    return {"kind": effect.kind, "source": place.text, "file": place.file, "line": place.line}


def _writes(
    facts: FunctionFacts, checking: Mapping[int, Sequence[str]]
) -> Iterator[dict[str, Any]]:
    """Yield the state variables that a function writes, with the functions that check them."""
    known = set()
    for write in facts.writes:
        if write.variable not in known:
            known.add(write.variable)
            yield {
                "variable": write.name,
                "file": write.place.file,
                "line": write.place.line,
                "checkedBy": [*checking.get(write.variable, ())][:MAX_OF_ONE],
            }


def _signature(function: Node, signatures: Sequence[tuple[str, str]]) -> str:
    """Return the signature of a function by its selector, which trees have since 0.6, or by its
    name and the number of its parameters."""
    name = str(function.get("name") or "")
    if not name:
        return kind_of(function)
    selector = function.get("functionSelector")
    named = [s for s, of in signatures if of == selector or s.startswith(f"{name}(")]
    exact = [s for s, of in signatures if of == selector]
    types = ",".join(_canonical(type_of(p)) for p in parameters(function))
    by_types = [s for s in named if s == f"{name}({types})"]
    return next(iter([*exact, *by_types, *named]), f"{name}({types})")


def _canonical(type_name: str) -> str:
    type_name = type_name.split(" storage")[0].split(" memory")[0].split(" calldata")[0]
    if type_name.startswith(("contract ", "address payable")):
        return "address"
    return "uint8" if type_name.startswith("enum ") else type_name


class _Reading:
    """How values are read now: state variables by their slots, or where there is no layout, by a
    function that returns them."""

    def __init__(self, members: Members, layout: Mapping[str, Any]) -> None:
        types = layout.get("types") or {}
        self._slots: dict[int, dict[str, Any]] = {}  # by declaration; offset and size in bytes
        for entry in layout.get("storage") or ():
            size = int((types.get(entry["type"]) or {}).get("numberOfBytes") or 0)
            if 0 < size <= 32:
                slot = {"slot": str(int(entry["slot"])), "offset": int(entry["offset"])}
                self._slots[int(entry["astId"])] = {**slot, "size": size}
        self._getters = dict(_getters(members))

    def condition(self, condition: Condition) -> dict[str, Any]:
        callers = [
            {**caller.record(), "reads": self._steps(caller.reads)}
            for caller in condition.callers[:MAX_OF_ONE]
        ]
        return {**condition.record(), "callers": callers}

    def _steps(self, steps: Sequence[Step] | None) -> list[dict[str, Any]] | None:
        read = [self._step(step) for step in steps or ()]
        known = [step for step in read if step is not None]
        return known if known and len(known) == len(read) else None

    def _step(self, step: Step) -> dict[str, Any] | None:
        if step.call is not None:
            return {"call": step.call}
        if step.variable is None:
            return None
        getter = self._getters.get(step.variable)
        return {"call": getter} if getter else self._slots.get(step.variable)


def _getters(members: Members) -> Iterator[tuple[int, str]]:
    """Yield state variables that a function without arguments returns, and its signature."""
    for function in members.external_functions:
        statements: Sequence[Node] = (function.get("body") or {}).get("statements") or ()
        if len(statements) != 1 or parameters(function) or not is_view(function):
            continue
        expression = statements[0].get("expression") or {}
        if statements[0].get("nodeType") == "Return" and expression.get("nodeType") == "Identifier":
            declared = members.tree.declared(expression)
            if declared is not None and declared.get("stateVariable"):
                yield int(declared["id"]), f"{function.get('name')}()"
