"""The statements of functions that may refuse a call, by the compiler's syntax trees, and which of
them agree with the reason of a failure.

Source maps of optimized code have one of the places that equal code comes from. What a statement
refuses with, where it says so, is the evidence besides: the data that it returns, as far as its
literals and the selector of its error determine it; for the compiler's own checks the number of the
panic, or nothing; for calls of other contracts, what these have returned.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, starmap
from typing import Any, NamedTuple

from scan.contracts.abi_decoding import index_abi
from scan.ethereum.node_errors import REVERT
from scan.verification.contract_interface import Declared, Node

MAX_STATEMENTS = 5_000  # of a contract's functions; comparing them with a reason takes 5 ms
MAX_CONSTANTS = 10  # that a constant is defined by
MAX_PATTERN = 1_000  # characters: of a longer text the beginning

# Kinds of statements, and in each what the pattern is: the data as hex, "?" for digits that are not
# known; the beginning of it.
SAID = "said"  # a refusal with these words
COMPUTED = "computed"  # one with words that are not known
CHECKED = "checked"  # a check of the compiler's
ENTERED = "entered"  # such checks of coin and arguments, as _entry() has them
CALLED = "called"  # a call that passes a failure on: the selector, NEW, or nothing
INVALID = "invalid"  # the invalid opcode

NEW = "new"
ERROR = "08c379a0"
PANIC = "4e487b71"
_ARITHMETIC, _DIVISION, _CONVERSION, _POP, _ELEMENT, _MEMORY, POINTER = (
    f"{PANIC}{code:064x}" for code in (0x11, 0x12, 0x21, 0x31, 0x32, 0x41, 0x51)
)
_ASSERTION = f"{PANIC}{1:064x}"
_CHECKS_OF_CALLS = {
    "abidecode": "",
    "arraypop": _POP,
    "arraypush": _MEMORY,
    "bytearraypush": _MEMORY,
    "objectcreation": _MEMORY,
    "addmod": _DIVISION,
    "mulmod": _DIVISION,
}
_WORDS = tuple(  # types that take a word before what is of dynamic size
    "t_uint t_int t_address t_bool t_bytes t_string t_enum t_contract t_userDefined".split()
)


class Refusal(NamedTuple):
    """A statement that may refuse, by its start and length in bytes."""

    start: int
    length: int
    kind: str
    pattern: str


class Declarations:
    """What statements refer to: errors, constants and functions. `has_panics`: arithmetic is
    checked, and checks of the compiler's are panics, as from solc 0.8 on. `has_texts`: the compiler
    was not set to leave them out."""

    def __init__(
        self,
        declared: Sequence[Declared],
        output: Mapping[str, Any],
        *,
        has_panics: bool,
        has_texts: bool,
    ) -> None:
        self.nodes = {node["id"]: node for _, _, node in declared if "id" in node}
        self.has_panics, self.has_texts = has_panics, has_texts
        of_files = (of.values() for of in (output.get("contracts") or {}).values())
        entries = chain.from_iterable(of.get("abi") or () for of in chain.from_iterable(of_files))
        errors = index_abi(entry for entry in entries if entry.get("type") == "error").errors
        self._by_name: dict[str, set[str]] = {}  # trees of old releases lack the selector
        for selector, named in errors.items():
            for entry in named:
                self._by_name.setdefault(entry.name, set()).add(selector.hex())

    def selector_of(self, named: Node) -> str:
        """Return the selector of the error, or of the function, that an expression names; "" where
        it is not known."""
        node = self.nodes.get(named.get("referencedDeclaration"), {})
        selectors = self._by_name.get(str(node.get("name")), set())
        of_error = next(iter(selectors)) if len(selectors) == 1 else ""
        return str(node.get("functionSelector") or node.get("errorSelector") or of_error)

    def literal_of(self, node: Node) -> Node | None:
        """Return the literal of an expression, also that of a constant."""
        for _ in range(MAX_CONSTANTS):
            if node.get("nodeType") == "Literal":
                return node
            declared = self.nodes.get(node.get("referencedDeclaration"), {})
            if not declared.get("constant") or not isinstance(declared.get("value"), dict):
                return None
            node = declared["value"]
        return None


def refusals_of(function: Node, declarations: Declarations) -> list[Refusal]:
    """Return the statements of a function, modifier or variable that may refuse."""
    start, length = span(function)
    if body := function.get("body"):
        length = span(body)[0] - start
    refusals = [Refusal(start, length, ENTERED, _entry(function))]
    waiting: list[tuple[Any, bool]] = [(function, declarations.has_panics)]
    while waiting:
        node, is_checked = waiting.pop()
        if isinstance(node, list):
            waiting.extend((inner, is_checked) for inner in node)
        elif isinstance(node, dict):
            is_checked = is_checked and node.get("nodeType") != "UncheckedBlock"
            for kind, pattern in _refusals_of(node, declarations, is_checked=is_checked):
                if pattern.startswith(PANIC) and not declarations.has_panics:
                    kind = INVALID
                refusals.append(Refusal(*span(node), kind, pattern[:MAX_PATTERN]))
            if node.get("nodeType") == "YulBlock":
                refusals += _of_block(node)
            waiting.extend((inner, is_checked) for inner in node.values())
    return refusals


def span(node: Node) -> tuple[int, int]:
    """Return the start and the length of a node in bytes."""
    start, length, _ = map(int, str(node["src"]).split(":"))
    return start, length


def created_in(tree: Node) -> Iterator[int]:
    """Yield the ids of the contracts that a tree creates."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if node.get("nodeType") == "NewExpression":
                yield node["typeName"].get("referencedDeclaration")
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _type(node: Node) -> str:
    return str((node.get("typeDescriptions") or {}).get("typeIdentifier"))


def _entry(function: Node) -> str:
    """Return whether a function takes coin, and the bits of its arguments, of one that decodes any:
    "*" of those that have further rules."""
    pattern = str(function.get("stateMutability"))
    if function.get("nodeType") == "VariableDeclaration":
        is_plain = _type(function).startswith(
            ("t_uint", "t_int", "t_address", "t_bool", "t_contract")
        )
        return pattern if is_plain else f"{pattern} *"
    if function.get("kind") in ("receive", "fallback"):
        return pattern
    types = [_type(p) for p in (function.get("parameters") or {}).get("parameters") or ()]
    return " ".join([pattern, *map(_bits, types)])


def _bits(type_: str) -> str:
    if type_.startswith("t_uint"):
        return type_.removeprefix("t_uint")
    if type_.startswith(("t_address", "t_contract")):
        return "160"
    return {"t_int256": "256", "t_bytes32": "256", "t_bool": "1"}.get(type_, "*")


def _refusals_of(
    node: Node, declarations: Declarations, *, is_checked: bool
) -> Iterator[tuple[str, str]]:
    """Yield in which ways a node itself may refuse."""
    kind = node.get("nodeType")
    if kind == "FunctionCall":
        yield from _of_call(node, declarations)
    elif kind == "RevertStatement":
        yield _of_error(node["errorCall"], declarations)
    elif kind in ("BinaryOperation", "Assignment", "UnaryOperation"):
        yield from _of_operator(node, declarations, is_checked=is_checked)
    elif kind == "IndexAccess":
        if _type(node["baseExpression"]).startswith(("t_array", "t_bytes")):
            yield CHECKED, _ELEMENT
        if "_calldata" in _type(node["baseExpression"]):
            yield CHECKED, ""
    elif kind == "MemberAccess" and node.get("memberName") != "length":
        if "_calldata" in _type(node["expression"]):
            yield CHECKED, ""
    elif kind == "IndexRangeAccess":
        yield CHECKED, ""
    elif kind == "InlineAssembly" and "AST" not in node:  # before 0.6
        yield from ((COMPUTED, ""), (INVALID, ""))
    elif kind == "YulFunctionCall" and node["functionName"]["name"] == "invalid":
        yield INVALID, ""


def _of_block(block: Node) -> Iterator[Refusal]:
    """Yield the reverts in a block of assembly, with the words that it stores before."""
    memory: dict[int, str] = {}
    for statement in block.get("statements") or ():
        call = statement.get("expression") or {}
        name = (call.get("functionName") or {}).get("name")
        numbers = [_yul_number(argument) for argument in call.get("arguments") or ()]
        match name, numbers:
            case "mstore", [int(start), value]:
                word = "?" * 64 if value is None else f"{value:064x}"
                memory |= {start + n: word[2 * n : 2 * n + 2] for n in range(32)}
            case "revert", [_, 0]:
                yield Refusal(*span(call), SAID, "")
            case "revert", [int(start), int(size)] if size <= MAX_PATTERN // 2:
                pattern = "".join(memory.get(start + n, "??") for n in range(size))
                yield Refusal(*span(call), COMPUTED if "?" in pattern[:8] else SAID, pattern)
            case "revert", _:
                yield Refusal(*span(call), COMPUTED, "")
            case _ if statement["nodeType"] != "YulVariableDeclaration":
                memory = {}


def _yul_number(node: Node) -> int | None:
    if node.get("nodeType") != "YulLiteral":
        return None
    if node.get("kind") == "string":
        digits = node.get("hexValue") or str(node.get("value")).encode().hex()
        return int(f"{digits:0<64}"[:64], 16)
    return int(str(node["value"]), 0) if node.get("kind") == "number" else None


def _of_call(node: Node, declarations: Declarations) -> Iterator[tuple[str, str]]:
    called = node["expression"]
    while called.get("nodeType") == "FunctionCallOptions":
        called = called["expression"]
    type_, arguments = _type(called), [*(node.get("arguments") or ())]
    name = re.split(r"[_$]", type_.removeprefix("t_function_"))[0]
    if name in ("require", "revert"):
        words = arguments[1:] if name == "require" else arguments
        yield _of_words(words[0], declarations) if words else (SAID, "")
    elif name == "assert":
        yield (SAID, _ASSERTION) if declarations.has_panics else (INVALID, "")
    elif name in ("external", "delegatecall"):
        yield CALLED, declarations.selector_of(called)
    elif name == "creation":
        yield CALLED, NEW
    elif name == "transfer":
        yield CALLED, ""
    elif name in _CHECKS_OF_CALLS:
        yield CHECKED, _CHECKS_OF_CALLS[name]
    elif name == "internal":
        declared = declarations.nodes.get(called.get("referencedDeclaration"), {})
        if declared.get("nodeType") != "FunctionDefinition":
            yield CHECKED, POINTER
    elif type_.startswith("t_type$_t_enum") and not _type(arguments[0]).startswith("t_enum"):
        yield CHECKED, _CONVERSION


def _of_words(words: Node, declarations: Declarations) -> tuple[str, str]:
    if _type(words).startswith("t_error"):
        return _of_error(words, declarations)
    literal = declarations.literal_of(words)
    if not declarations.has_texts:
        return SAID, ""
    if literal is None or "hexValue" not in literal:
        return COMPUTED, ERROR
    digits = str(literal["hexValue"])
    padded = digits + "0" * (-len(digits) % 64)
    return SAID, f"{ERROR}{32:064x}{len(digits) // 2:064x}{padded}"


def _of_error(call: Node, declarations: Declarations) -> tuple[str, str]:
    """Return the selector of an error, and its arguments up to the first of an unknown size."""
    called = call["expression"]
    pattern = declarations.selector_of(called)
    if not pattern:
        return COMPUTED, ""
    error = declarations.nodes.get(called.get("referencedDeclaration"), {})
    parameters = error["parameters"]["parameters"] if error and not call.get("names") else ()
    for parameter, argument in zip(parameters, call["arguments"] or (), strict=False):
        type_, literal = _type(parameter), declarations.literal_of(argument)
        if not type_.startswith(_WORDS):
            break
        number = _number(literal) if type_.startswith(("t_uint", "t_int")) else None
        pattern += "?" * 64 if number is None else f"{number:064x}"
    return SAID, pattern


def _number(literal: Node | None) -> int | None:
    text = str(((literal or {}).get("typeDescriptions") or {}).get("typeString"))
    digits = text.removeprefix("int_const ")
    return int(digits) if digits.isdecimal() else None


def _of_operator(
    node: Node, declarations: Declarations, *, is_checked: bool
) -> Iterator[tuple[str, str]]:
    operator, right = str(node["operator"]), node.get("rightExpression")
    if node["nodeType"] == "Assignment":
        operator, right = operator.removesuffix("="), node["rightHandSide"]
        type_ = _type(node["leftHandSide"])
    elif node["nodeType"] == "UnaryOperation":
        type_ = _type(node["subExpression"])
    else:
        type_ = str((node.get("commonType") or {}).get("typeIdentifier"))
    is_signed = type_.startswith("t_int")
    if node.get("function") is not None or not (is_signed or type_.startswith("t_uint")):
        return
    if operator in ("/", "%") and not _number(declarations.literal_of(right or {})):
        yield CHECKED, _DIVISION
    is_one = operator in ("+", "*", "**", "++", "--") or (operator == "-" and (right or is_signed))
    if is_checked and (is_one or (operator == "/" and is_signed)):
        yield CHECKED, _ARITHMETIC


class Failure(NamedTuple):
    """How a call failed: the kind, the data that it returned, the coin and the input that came with
    it, without the code of a creation. `inner` is the last call that it made, where that failed
    with the same data: its selector, or NEW; None where there is none. `is_literal`: the code that
    refused has the selector, or the text, itself. `is_passed_on`: it copied what a call returned;
    None where the code is not known."""

    kind: str = ""
    data: bytes = b""
    value: int = 0
    input: bytes = b""
    inner: str | None = None
    is_literal: bool = False
    is_passed_on: bool | None = None


class Candidate(NamedTuple):
    """A statement that agrees with a failure. `is_certain`: it always refuses so. `is_check`: that
    is a check of the compiler's. `function` is the number of its function."""

    function: int
    refusal: Refusal
    is_certain: bool
    is_check: bool


def agreeing(
    stored: Sequence[Sequence[Sequence[Any]]], functions: Sequence[int], failure: Failure
) -> list[Candidate]:
    """Return the statements of functions, the called one first, that may have refused so; those of
    which the words are not known only where the code that refused had no words itself, or no other
    statement agrees."""
    candidates: list[Candidate] = []
    for number in functions:
        for refusal in starmap(Refusal, stored[number]):
            is_first = number == functions[0]
            if (agrees := _agrees(refusal, failure, is_first=is_first)) is not None:
                candidates.append(Candidate(number, refusal, *agrees))
    if not failure.data and failure.value:
        entered = [c for c in candidates if c.refusal.kind == ENTERED]
        if entered and not entered[0].refusal.pattern.startswith("payable"):
            return entered
    is_own = failure.is_literal or (failure.inner is None and not failure.data)
    if is_own and any(c.is_certain for c in candidates):
        return [c for c in candidates if c.is_certain or "?" in c.refusal.pattern]
    return candidates


def _agrees(refusal: Refusal, failure: Failure, *, is_first: bool) -> tuple[bool, bool] | None:
    """Return whether a statement always refuses so, and by a check of the compiler's; None where it
    does not."""
    kind, pattern, data = refusal.kind, refusal.pattern, failure.data
    if kind == INVALID or failure.kind != REVERT:
        is_same = kind == INVALID and failure.kind == "invalid_opcode"
        return (True, bool(pattern)) if is_same else None
    is_inner = failure.inner is not None and pattern in ("", failure.inner)
    is_unmade = failure.inner is None and not data  # as where the coin does not suffice
    if kind == CALLED and failure.is_passed_on is not False and (is_inner or is_unmade):
        return True, failure.is_passed_on is None and not is_inner
    if failure.is_passed_on and (kind != COMPUTED or pattern):
        return None
    if kind == CALLED:  # a contract without code, or what it returned is malformed
        return None if data else (True, True)
    if kind == ENTERED:
        return (True, True) if is_first and not data and _refuses_entry(pattern, failure) else None
    is_whole = kind == COMPUTED and pattern.startswith("?")
    if is_whole and 2 * len(data) != len(pattern):
        return None
    digits = data[:MAX_PATTERN].hex()[: len(pattern)]
    is_like = len(digits) == len(pattern) and all(
        "?" in (a, b) or a == b for a, b in zip(pattern, digits, strict=True)
    )
    if not is_like or (data and not pattern and kind != COMPUTED):
        return None
    return kind != COMPUTED, kind == CHECKED


def _refuses_entry(pattern: str, failure: Failure) -> bool:
    mutability, *bits = pattern.split()
    words = [failure.input[at : at + 32] for at in range(4, 4 + 32 * len(bits), 32)]
    return (mutability != "payable" and failure.value > 0) or any(
        bit == "*" or len(word) < 32 or int.from_bytes(word) >> int(bit)
        for bit, word in zip(bits, words, strict=True)
    )
