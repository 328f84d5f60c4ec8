"""Where code is in its sources, by the compiler's source maps, and the lines and functions there.

A map has the form of Solidity's documentation, "Source Mappings": for each instruction the start
and length in bytes of the text that it comes from, and the file. A compiler may be wrong or old,
and its text is hostile: sizes are bounded.
"""

import math
import re
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scan.verification.bytecode_comparison import operand_size

MAX_MAP_BYTES = 4 * 1024 * 1024  # as text; 24 KiB of code have 400 kB
MAX_LINE = 300  # characters shown of a line
CONTEXT_LINES = 2  # shown before and after a line
JUMPI, RETURN, REVERT = 0x57, 0xF3, 0xFD
MSTORE, MCOPY, RETURNDATACOPY = 0x52, 0x5E, 0x3E
CALLS = (0xF0, 0xF1, 0xF2, 0xF4, 0xF5, 0xFA)  # and creations

# The compiler ends a comment at each of its ends of lines. What is not ended is taken up to there:
# a search that begins anew at each of a million quotes does not end.
_HIDDEN = re.compile(
    rb"""//[^\n\v\f\r\xe2]*(?:\xe2(?!\x80[\xa8\xa9])[^\n\v\f\r\xe2]*)*
    |/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?""",
    re.DOTALL | re.VERBOSE,
)
_TOKEN = re.compile(
    rb"\b(?:function|modifier)\s+(?P<name>[\w$]+)|\b(?P<unnamed>constructor|receive|fallback)\s*\("
    rb"|(?P<mark>[{};])"
)
_VYPER_FUNCTION = re.compile(rb"^def\s+([A-Za-z_]\w*)", re.MULTILINE)


class Span(NamedTuple):
    """A part of a file, by the file's number in the compilation; in bytes."""

    start: int
    length: int
    file: int


class SourceFunction(NamedTuple):
    """A function, modifier or constructor, from its declaration to its end, in bytes."""

    start: int
    end: int
    name: str


class SourceLine(NamedTuple):
    """A line of a source, numbered from 1, as are its columns, in characters. `context` are the
    lines around it, with their numbers."""

    line: int
    column: int
    text: str
    context: Sequence[tuple[int, str]]
    function: str | None


def packed(source_map: object) -> bytes | None:
    """Return a source map as it is stored; None for one that is too large, or no text."""
    text = source_map.encode() if isinstance(source_map, str) else b""
    return zlib.compress(text, 6) if 0 < len(text) <= MAX_MAP_BYTES else None


def unpacked(stored: bytes) -> str:
    return zlib.decompressobj().decompress(stored, MAX_MAP_BYTES).decode("ascii", "replace")


def spans_at(code: bytes, source_map: str) -> dict[int, Span]:
    """Return the spans of instructions by their offsets."""
    return dict(zip(offsets_in(code), _spans_of(source_map), strict=False))


def offsets_in(code: bytes) -> Iterator[int]:
    """Yield the offsets of a code's instructions."""
    position = 0
    while position < len(code):
        yield position
        position += 1 + operand_size(code, position)


def _spans_of(source_map: str) -> Iterator[Span]:
    """Yield the span of each instruction. What an entry leaves out is as in the one before."""
    current = [0, 0, -1]
    for entry in source_map.split(";"):
        for index, text in enumerate(entry.split(":")[:3]):
            if text:
                try:
                    current[index] = int(text[:12])
                except ValueError:
                    return
        yield Span(*current)


_VARIABLE = re.compile(rb"(?!(?:raise|return|pass|break|continue)\b)[A-Za-z_]\w*")
# What is not ended is taken up to the end of its line, or of the file: no search begins anew.
VYPER_STRING = rb'"""[\s\S]*?(?:"""|\Z)|"(?:\\.|[^"\\\n])*+"?|\x27(?:\\.|[^\x27\\\n])*+\x27?'
_VYPER_LITERAL = re.compile(rb"(?P<string>%s)|#[^\n]*+" % VYPER_STRING)
_ANNOTATION = re.compile(rb"^\s*+\w++:[^=\n]*+=")
_BLOCK = re.compile(rb"\s*+(if|elif|else|for)\b")
_NAME = re.compile(rb"(?<!\.)\b[A-Za-z_]\w*+")
DECLARED_AND_USED = 2
_MAY_FAIL = re.compile(rb"\b(?:assert|raise)\b|[\w)\]]\s*+\[|\(|[-+*/%]")


class SourceText:
    """The text of a source file: `encoded` in bytes, and `code`, the same without comments, and
    without what stands in quotes."""

    def __init__(self, content: str, *, is_vyper: bool) -> None:
        self._lines = content.split("\n")
        # Solidity's maps count bytes, and Vyper's characters, of which each is a byte here.
        self._encoding = "latin-1" if is_vyper else "utf-8"
        self.encoded = content.encode(self._encoding, "replace")
        self._line_starts = [0, *(end.end() for end in re.finditer(b"\n", self.encoded))]
        self.code = self.encoded if is_vyper else _HIDDEN.sub(_blank, self.encoded)
        functions = _vyper_functions if is_vyper else _functions
        self.functions = sorted(functions(self.code))
        self._changes = _changes(self.functions)
        self.is_vyper = is_vyper
        self._names: dict[int, Counter[bytes]] = {}  # by the functions' starts

    def is_shared(self, span: Span) -> bool:
        """Return whether a span is a variable of Vyper that its function uses several times: all
        uses have the place of one of them."""
        end, function = span.start + span.length, self.function_at(span)
        if not self.is_vyper or not _VARIABLE.fullmatch(self.encoded, span.start, end):
            return False
        if function is None:
            return True
        if function.start not in self._names:
            text = self.encoded[function.start : function.end]
            self._names[function.start] = Counter(_NAME.findall(text))
        return self._names[function.start][self.encoded[span.start : end]] > DECLARED_AND_USED

    def may_refuse(self, span: Span) -> bool:
        """Return whether the lines of a span of Vyper have an operation that may fail without a
        reason: comparisons, names and literals cannot. Of a loop the place is also that of code
        inside."""
        start = self._line_starts[(self.line_number(span) or 1) - 1]
        is_block = _BLOCK.match(self.encoded, start)
        end = self.encoded.find(b"\n", span.start + (0 if is_block else span.length))
        if is_block and is_block[1] == b"for":
            return False
        code = self.encoded[start : end if end >= 0 else None]
        code = _VYPER_LITERAL.sub(lambda literal: b'""' if literal["string"] else b"", code)
        if b'""' in code:  # of a refusal with a text the condition alone
            code = re.sub(rb"\b(?:assert|raise)\b", b"", code)
        return _MAY_FAIL.search(_ANNOTATION.sub(b"", code)) is not None

    def function_at(self, span: Span) -> SourceFunction | None:
        """Return the function in which a span begins."""
        offsets, functions = self._changes
        before = bisect_right(offsets, span.start)
        return functions[before - 1] if before else None

    def line_number(self, span: Span) -> int | None:
        """Return the number of the line in which a span begins; None where the file ends before."""
        if not 0 <= span.start < len(self.encoded):
            return None
        return bisect_right(self._line_starts, span.start)

    def line_at(self, span: Span) -> SourceLine | None:
        """Return the line in which a span begins; None where the file ends before."""
        line = self.line_number(span)
        if line is None:
            return None
        before = self.encoded[self._line_starts[line - 1] : span.start]
        first = max(1, line - CONTEXT_LINES)
        around = self._lines[first - 1 : line + CONTEXT_LINES]
        function = self.function_at(span)
        return SourceLine(
            line=line,
            column=1 + len(before.decode(self._encoding, "replace")),
            text=self._lines[line - 1].strip()[:MAX_LINE],
            context=[
                (number, text.rstrip("\r")[:MAX_LINE])
                for number, text in enumerate(around, start=first)
            ],
            function=function.name if function else None,
        )


def _blank(hidden: re.Match[bytes]) -> bytes:
    """Return spaces for a comment, and for a text in its quotes."""
    mark = b" " if hidden[0].startswith(b"/") else b'"'
    return b"%b%b%b" % (mark, b" " * (len(hidden[0]) - 2), mark[: len(hidden[0]) - 1])


def _changes(functions: Sequence[SourceFunction]) -> tuple[list[int], list[SourceFunction | None]]:
    """Return the offsets at which another function is the innermost one, and which it is then:
    Yul's functions stand inside of Solidity's. A file of 1 MiB may have 40,000, and a place is
    looked up for each step."""
    offsets: list[int] = []
    innermost: list[SourceFunction | None] = []
    around: list[SourceFunction | None] = [None]

    def end_before(offset: float) -> None:
        while (ended := around[-1]) is not None and ended.end < offset:
            around.pop()
            offsets.append(ended.end + 1)
            innermost.append(around[-1])

    for function in functions:
        end_before(function.start)
        offsets.append(function.start)
        innermost.append(function)
        around.append(function)
    end_before(math.inf)
    return offsets, innermost


def _functions(encoded: bytes) -> Iterator[SourceFunction]:
    blocks: list[SourceFunction | None] = []  # that are open: of functions, None for others
    declared: SourceFunction | None = None  # whose block has not begun
    for token in _TOKEN.finditer(encoded):
        mark = token["mark"]
        if name := token["name"] or token["unnamed"]:
            declared = SourceFunction(token.start(), 0, name.decode("utf-8", "replace"))
        elif mark == b"{":
            blocks.append(declared)
            declared = None
        elif mark == b"}" and blocks and (ended := blocks.pop()):
            yield ended._replace(end=token.start())
        elif mark == b";" and declared:
            yield declared._replace(end=token.start())
            declared = None


def _vyper_functions(encoded: bytes) -> Iterator[SourceFunction]:
    functions = [*_VYPER_FUNCTION.finditer(encoded)]
    ends = [*(function.start() - 1 for function in functions[1:]), len(encoded)]
    for function, end in zip(functions, ends, strict=False):
        yield SourceFunction(function.start(), end, function[1].decode())
