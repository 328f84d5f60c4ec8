"""The statements of sources that may refuse a call, by their text, and the functions that a call
may run, by their names.

Source maps of optimized code have one of the places that equal code comes from. What a statement
says is the evidence besides: the text in quotes, the name of an error, that of a called function,
an operator. Functions of a name are one here, whichever of them a call runs: so a statement counts
that it may run, and perhaps some that it does not.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from scan.cached_values import cached_property
from scan.extensions.compiled_sources.source_maps import (
    VYPER_STRING,
    SourceFunction,
    SourceText,
    Span,
)

MAX_ALIKE = 50  # statements that are compared with a reason

_TOKEN = re.compile(
    rb"\b(?:(?P<check>require|assert|revert)\s*+|revert\s++(?P<error>[\w.$]++)\s*+)\("
    rb"|(?P<mark>[(),;])"
)
_ERROR = re.compile(rb"([\w.$]++)\s*+\(.*\)", re.DOTALL)
_ERROR_DECLARED = re.compile(rb"\berror\s++([\w$]++)")
_CONSTANT = re.compile(rb"\bconstant\s++([\w$]++)\s*+=\s*+(\" *+\")\s*+;")
_NO_BYTES = re.compile(rb"0|0x0+")
_NUMBER = re.compile(rb"\s*+(?:0x[0-9a-fA-F]++|\d++)\s*+")
_WORD = re.compile(rb"([(\[{])|([)\]}])|[A-Za-z_$][\w$]*+")
_NAME = re.compile(rb"[A-Za-z_$][\w$]*+")
_POINTER = re.compile(rb"\bfunction\s*\(")
_POINTED = re.compile(rb"([A-Za-z_$][\w$]*+)\s*+(?!\()")
_RENAMED = re.compile(rb"([A-Za-z_$][\w$]*+)\s++as\b")
CONSTRUCTOR, ASSERTION = "constructor", b"assert"
_VYPER_TOKEN = re.compile(
    rb"(?P<string>%s)|(?P<comment>#[^\n]*+)|(?P<open>[(\[{])|(?P<close>[)\]}])"
    rb"|(?P<end>\n|\Z)|(?P<refusal>\b(?:assert|raise)\b)" % VYPER_STRING
)
# What fails with a panic; other panics have no form of their own.
PANICS = {
    1: rb"\bassert\s*\(",
    0x11: rb"[-+*/]",
    0x12: rb"[/%]|\b(?:add|mul)mod\b",
    0x31: rb"\bpop\b",
    0x32: rb"\[\s*+[^\]\s]",
}


class Statement(NamedTuple):
    """The part of a file up to an operation, which stands at `at`; of a refusal all of it, with its
    words: a text in quotes, the name of an error before a parenthesis, or nothing; None where they
    are computed. `is_stored`: assembly has stored them, as many bytes as a number says."""

    span: Span
    at: int
    words: bytes | None = None
    is_stored: bool = False


def _refusals_in(text: SourceText, number: int) -> Iterator[Statement]:
    """Yield the refusals in a file of this number."""
    opened: list[tuple[int, bytes, int, bool]] = []  # of calls: the start of the last argument
    for token in _TOKEN.finditer(text.code):
        mark = token["mark"]
        if mark == b";":
            opened.clear()
        elif mark == b"," and opened:
            opened[-1] = *opened[-1][:2], token.end(), True
        elif mark == b")" and opened:
            start, name, argument, is_further = opened.pop()
            if name:
                words = _words(text, name, argument, token.start(), is_further=is_further)
                size = is_further and _NUMBER.fullmatch(text.code, argument, token.start())
                span = Span(start, token.end() - start, number)
                yield Statement(span, start, words, name == b"revert" and bool(size))
        elif mark in (None, b"("):
            name = (token["check"] or token["error"] + b"(") if mark is None else b""
            opened.append((token.start(), name, token.end(), False))


def _refusals_in_vyper(text: SourceText, number: int) -> Iterator[Statement]:
    """Yield the refusals in a file of Vyper, with the last text in each."""
    start, depth, words = -1, 0, b""
    for token in _VYPER_TOKEN.finditer(text.code):
        match token.lastgroup:
            case "refusal" if start < 0:
                start, depth, words = token.start(), 0, b""
            case "string":
                words = b'"%s"' % token[0].strip(b"\"'")
            case "open" | "close":
                depth += 1 if token.lastgroup == "open" else -1
            case "end" if start >= 0 and depth <= 0:
                yield Statement(Span(start, token.start() - start, number), start, words)
                start = -1


def _words(
    text: SourceText, name: bytes, start: int, end: int, *, is_further: bool
) -> bytes | None:
    """Return the words of a refusal with its last argument from `start` to `end`, `is_further` if
    that is not the only one: a text, the name of an error, or else that of a variable."""
    argument = text.code[start:end].strip().removeprefix(b"unicode")
    if name.endswith(b"("):
        return name.rpartition(b".")[2]
    if name == ASSERTION:
        return name
    if not argument or (name == b"require" and not is_further):
        return b""
    if name == b"revert" and is_further:
        return b"" if _NO_BYTES.fullmatch(argument) else None
    if argument.count(b'"') == 2 and not argument.strip(b'" '):
        return _quoted(text.encoded[start:end])
    error = _ERROR.fullmatch(argument)
    name = (error[1] if error else argument).rpartition(b".")[2]
    return name + b"(" if error else name if _NAME.fullmatch(name) else None


def _quoted(literal: bytes) -> bytes | None:
    """Return a literal in double quotes; None of one with escapes."""
    literal = literal.strip().removeprefix(b"unicode")
    return None if b"\\" in literal else b'"%s"' % literal[1:-1]


def called_name(expression: bytes) -> bytes:
    """Return the name of what an expression calls, or else its last one: the last that stands in no
    parentheses."""
    depth, name = 0, b""
    for token in _WORD.finditer(expression):
        depth += bool(token[1]) - bool(token[2])
        if depth == 0 and not token[2]:
            name = token[0]
    return name


class ContractText:
    """The files of a contract, by their numbers in its source map, but for those parts that are
    other contracts."""

    def __init__(self, texts: Mapping[int, SourceText], others: Sequence[Span] = ()) -> None:
        self._texts, self._others = texts, others
        self._functions: defaultdict[str, list[tuple[int, SourceFunction]]] = defaultdict(list)
        for number, text in texts.items():
            for function in text.functions:
                if not self._is_other(Span(function.start, 0, number)):
                    self._functions[function.name].append((number, function))
        has_pointers = any(_POINTER.search(text.code) for text in texts.values())
        form = _POINTED if has_pointers else _RENAMED
        named = (map(bytes.decode, form.findall(text.code)) for text in texts.values())
        # Functions that run without a call of their name, as operators, and what pointers are to.
        self._uncalled = {*chain.from_iterable(named)} & self._functions.keys()

    def _is_other(self, span: Span) -> bool:
        inside = (of for of in self._others if of.file == span.file)
        return any(of.start <= span.start < of.start + of.length for of in inside)

    def run_by(self, names: Sequence[str]) -> Collection[str]:
        """Return the names of the functions that the first function with one of these names may
        run, beginning with its own; nothing where there is none. A creation may run those that are
        named outside of functions, too."""
        run = dict.fromkeys([name for name in names if name in self._functions][:1])
        if not run:
            return ()
        codes = [self._outside] if CONSTRUCTOR in run else []
        run |= dict.fromkeys(self._uncalled)
        waiting = [*run]
        for name in waiting:
            for number, function in self._functions[name]:
                codes.append(self._texts[number].code[function.start : function.end])
            for code in codes:
                new = {*map(bytes.decode, _NAME.findall(code))} & self._functions.keys()
                new -= run.keys()
                run |= dict.fromkeys(new)
                waiting += new
            codes.clear()
        return run

    @property
    def _outside(self) -> bytes:
        """The code outside of all functions."""
        parts = []
        for text in self._texts.values():
            at = 0
            for function in text.functions:
                parts.append(text.code[at : function.start])
                at = max(at, function.end)
        return b" ".join(parts)

    @cached_property
    def _refusals(self) -> Sequence[tuple[str, Statement]]:
        """The refusals in functions, each with the function's name."""
        errors, constants = set[bytes](), dict[bytes, bytes | None]()
        for text in self._texts.values():
            errors |= {name + b"(" for name in _ERROR_DECLARED.findall(text.code)}
            for match in _CONSTANT.finditer(text.code):
                is_other = match[1] in constants
                literal = _quoted(text.encoded[match.start(2) : match.end(2)])
                constants[match[1]] = None if is_other else literal

        def resolved(words: bytes | None) -> bytes | None:
            if not words or words.startswith(b'"') or words == ASSERTION or words in errors:
                return words
            return constants.get(words)

        return [
            (function.name, refusal._replace(words=resolved(refusal.words)))
            for number, text in self._texts.items()
            for refusal in (_refusals_in_vyper if text.is_vyper else _refusals_in)(text, number)
            if not self._is_other(refusal.span) and (function := text.function_at(refusal.span))
        ]

    def refusals(self, run: Collection[str]) -> list[Statement]:
        """Return the refusals in functions of these names."""
        return [refusal for name, refusal in self._refusals if name in run]

    def statements(self, run: Collection[str], form: bytes) -> Sequence[Statement]:
        """Return where the text of functions of these names has a form; nothing of more than
        MAX_ALIKE places."""
        found: dict[Statement, None] = {}
        for number, function in chain.from_iterable(self._functions.get(name, ()) for name in run):
            code = self._texts[number].code
            for match in re.compile(form).finditer(code, function.start, function.end):
                at = match.start()
                start = max(code.rfind(end, function.start, at) for end in (b";", b"{", b"}")) + 1
                span = Span(start, match.end() - start, number)
                found[Statement(span, at)] = None
                if len(found) > MAX_ALIKE:
                    return ()
        return [*found]
