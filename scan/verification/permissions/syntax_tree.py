"""The syntax tree of solc: its nodes by their ids, places in sources, and what names refer to.

The forms of 0.4.12 to 0.8; what a tree lacks is none. Sources are hostile, and a compiler may be
old: walks are bounded by a budget.
"""

import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scan.verification.permissions.inline_assembly import Assembly

Node = Mapping[str, Any]

MAX_STEPS = 150_000  # of all functions of a contract; 20 of OpenZeppelin's take 3,000
# Of processor, for what a step costs in the worst case. All steps usually take 0.5 s: what is known
# of a contract must not depend on the machine.
MAX_SECONDS = 2.0
TEXT_OF_STEP = 100  # bytes of a source that are read in one step
MAX_DEPTH = 80  # of expressions and calls within each other
MAX_TEXT = 200  # characters of an expression

FUNCTION, MODIFIER, VARIABLE = "FunctionDefinition", "ModifierDefinition", "VariableDeclaration"
CONTRACT = "ContractDefinition"
_TYPES = ("typeDescriptions", "argumentTypes", "commonType")  # nothing is declared in them
_DECLARATIONS = (CONTRACT, FUNCTION, MODIFIER, VARIABLE)


class TooComplex(Exception):
    """A function needs more steps, or is nested more deeply, than is followed."""


class Budget:
    """The steps that are left, and how deeply a walk is nested. `end` is the time of the thread's
    processor, in seconds, at which a walk ends."""

    def __init__(self, steps: int = MAX_STEPS, end: float | None = None) -> None:
        self.left = steps
        self.end = time.thread_time() + MAX_SECONDS if end is None else end
        self._depth = 0

    def take(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            self.left = -1
            raise TooComplex
        if self.left % 16 == 0:
            self.check_time()

    def check_time(self) -> None:
        if time.thread_time() > self.end:
            self.left = -1
            raise TooComplex

    def __enter__(self) -> None:
        self.take()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._depth -= 1
            raise TooComplex

    def __exit__(self, *_: object) -> None:
        self._depth -= 1


class Place(NamedTuple):
    """A place in a source, its line counted from 1."""

    file: str
    line: int
    text: str


class SyntaxTree:
    """The trees of a compilation's files, and their sources by path."""

    def __init__(
        self, output: Mapping[str, Any], sources: Mapping[str, str], budget: Budget
    ) -> None:
        files = output.get("sources") or {}
        self._texts = {
            file["id"]: (path, sources.get(path, "").encode())
            for path, file in files.items()
            if isinstance(file.get("id"), int)
        }
        self._line_starts: dict[int, Sequence[int]] = {}
        self.assemblies: dict[str, Assembly] = {}
        self.declarations: dict[int, Node] = {}
        self._numbers: set[int] = set()
        self.contracts_by_member: dict[int, Node] = {}
        self._by_file: dict[tuple[str, str], Node] = {}
        for path, file in files.items():
            if isinstance(file.get("ast"), dict):
                self._index(path, file["ast"], budget)

    def _index(self, path: str, root: Node, budget: Budget) -> None:
        """Note the declarations of a file, without following calls of Python. It takes of the time
        but none of the steps."""
        waiting: list[tuple[Any, Node | None]] = [(root, None)]
        for step in count():
            if step % 256 == 0:
                budget.check_time()
            if not waiting:
                return
            node, contract = waiting.pop()
            if isinstance(node, list):
                waiting.extend((child, contract) for child in node)
                continue
            if not isinstance(node, dict):
                continue
            kind, number = node.get("nodeType"), node.get("id")
            if isinstance(number, int):
                self._numbers.add(number)
            if kind == CONTRACT:
                contract = node
                self._by_file[path, str(node.get("name"))] = node
            if kind in _DECLARATIONS and isinstance(number, int):
                self.declarations[number] = node
                if contract is not None:
                    self.contracts_by_member[number] = contract
            waiting.extend(
                (child, contract)
                for name, child in node.items()
                if name not in _TYPES and isinstance(child, dict | list)
            )

    def contract(self, path: str, name: str) -> Node | None:
        return self._by_file.get((path, name))

    def bases(self, contract: Node) -> list[Node]:
        """Return a contract and its bases, the most derived first."""
        numbers = contract.get("linearizedBaseContracts") or [contract.get("id")]
        known = (self.declarations.get(number) for number in numbers)
        return [base for base in known if base is not None]

    def declared(self, node: Node) -> Node | None:
        """Return the declaration that a name refers to."""
        number = node.get("referencedDeclaration")
        return self.declarations.get(number) if isinstance(number, int) else None

    def is_builtin(self, node: Node, *names: str) -> bool:
        """Return whether a node is one of these names, and what the language means by it."""
        number = node.get("referencedDeclaration")
        is_name = node.get("nodeType") == "Identifier" and node.get("name") in names
        return is_name and not (isinstance(number, int) and number in self._numbers)

    def place(self, node: Node) -> Place:
        """Return where a node is; line 0 where that is not known."""
        start, length, file = _source_range(node)
        path, content = self._texts.get(file, ("", b""))
        if not 0 <= start < len(content):
            return Place(path, 0, "")
        if file not in self._line_starts:
            self._line_starts[file] = [0, *(m.end() for m in re.finditer(rb"\n", content))]
        line = bisect_right(self._line_starts[file], start)
        text = content[start : start + min(length, 4 * MAX_TEXT)].decode("utf-8", "replace")
        return Place(path, line, " ".join(text.split())[:MAX_TEXT])

    def source(self, node: Node, budget: Budget) -> str:
        """Return the text of a node, whole."""
        start, length, file = _source_range(node)
        _, content = self._texts.get(file, ("", b""))
        budget.take(1 + min(length, len(content)) // TEXT_OF_STEP)
        return content[max(start, 0) : max(start, 0) + length].decode("utf-8", "replace")


def _source_range(node: Node) -> tuple[int, int, int]:
    parts = re.fullmatch(r"(\d{1,9}):(\d{1,9}):(\d{1,9})", str(node.get("src")))
    return (int(parts[1]), int(parts[2]), int(parts[3])) if parts else (-1, 0, -1)


def descendants(node: object, budget: Budget) -> Iterator[Node]:
    """Yield a node and all that it consists of."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict):
            budget.take()
            if "nodeType" in part:
                yield part
            waiting.extend(child for child in part.values() if isinstance(child, dict | list))


def parameters(node: Node, kind: str = "parameters") -> Sequence[Node]:
    """Return the parameters of a function or modifier; `returnParameters` are its results."""
    return (node.get(kind) or {}).get("parameters") or ()


def type_of(node: Node) -> str:
    return str((node.get("typeDescriptions") or {}).get("typeString") or "")


def parameter_types(function: Node) -> tuple[str, ...]:
    return tuple(_without_location(type_of(p)) for p in parameters(function))


def _without_location(type_name: str) -> str:
    return re.sub(r" (memory|calldata|storage( ref| pointer)?)\b", "", type_name)


def visibility(node: Node) -> str:
    return str(node.get("visibility") or "public")


def kind_of(function: Node) -> str:
    """Return `function`, `constructor`, `fallback`, `receive` or `freeFunction`; old trees say it
    by the name."""
    if kind := function.get("kind"):
        return str(kind)
    if function.get("isConstructor"):
        return "constructor"
    return "function" if function.get("name") else "fallback"


def is_view(function: Node) -> bool:
    mutability = function.get("stateMutability")
    return mutability in ("view", "pure") or bool(function.get("constant"))


class Members:
    """What names mean in a contract that is deployed: the most derived of what is virtual."""

    def __init__(self, tree: SyntaxTree, contract: Node) -> None:
        self.tree = tree
        self.bases = tree.bases(contract)
        self._by_name: dict[tuple[str, ...], list[tuple[int, Node]]] = {}
        for position, base in enumerate(self.bases):
            for node in base.get("nodes") or ():
                if key := _key(node):
                    self._by_name.setdefault(key, []).append((position, node))
        self.external_functions: Sequence[Node] = self._external_functions()

    def _external_functions(self) -> list[Node]:
        """Return the functions that can be called from outside, in the order of the bases."""
        named = (nodes for key, nodes in self._by_name.items() if key[0] == FUNCTION)
        firsts = [_first_with_body(nodes) for nodes in named]
        return [
            node
            for _, node in sorted(firsts, key=lambda entry: entry[0])
            if visibility(node) in ("public", "external")
            and kind_of(node) != "constructor"
            and node.get("body")
        ]

    def most_derived(self, declared: Node) -> Node:
        """Return what a call of a declared function or modifier runs in this contract."""
        nodes = self._by_name.get(_key(declared) or ())
        is_own = nodes and any(node is declared for _, node in nodes)
        if not nodes or not is_own or visibility(declared) == "private":
            return declared
        return _first_with_body(nodes)[1]

    def alike(self, declared: Node) -> list[Node]:
        """Return what a call of a declared function or modifier may run, through `super` too."""
        return [declared, *(node for _, node in self._by_name.get(_key(declared) or (), ()))]

    def above(self, declared: Node, caller: Node) -> Node:
        """Return what `super` means in a function: the next one after the function's contract."""
        contract = self.tree.contracts_by_member.get(caller.get("id") or -1)
        own = next((n for n, base in enumerate(self.bases) if base is contract), -1)
        nodes = self._by_name.get(_key(declared) or (), [])
        return next((node for n, node in nodes if n > own and node.get("body")), declared)


def _first_with_body(nodes: Sequence[tuple[int, Node]]) -> tuple[int, Node]:
    return next((entry for entry in nodes if entry[1].get("body")), nodes[0])


def _key(node: Node) -> tuple[str, ...] | None:
    kind = node.get("nodeType")
    if kind == FUNCTION:
        return (FUNCTION, kind_of(node), str(node.get("name")), *parameter_types(node))
    return (MODIFIER, str(node.get("name"))) if kind == MODIFIER else None
