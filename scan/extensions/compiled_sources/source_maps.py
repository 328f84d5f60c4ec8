"""Where code is in its sources, by the compiler's source maps, and the lines and functions there.

A map has the form of Solidity's documentation, "Source Mappings": for each instruction the start
and length in bytes of the text that it comes from, the file, and whether it jumps into or out of a
function. A compiler may be wrong or old, and its text is hostile: sizes are bounded.
"""

import math
import re
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from scan.verification.bytecode_comparison import operand_size

MAX_MAP_BYTES = 4 * 1024 * 1024  # as text; 24 KiB of code have 400 kB
MAX_LINE = 300  # characters shown of a line
CONTEXT_LINES = 2  # shown before and after a line
JUMP, JUMPI, RETURN, REVERT = 0x56, 0x57, 0xF3, 0xFD
MSTORE, MCOPY, RETURNDATACOPY = 0x52, 0x5E, 0x3E
CALLS = (0xF0, 0xF1, 0xF2, 0xF4, 0xF5, 0xFA)  # and creations

_CHECK = re.compile(rb"(?:require|assert)\s{0,100}\(")
_CALL = re.compile(rb"(?:static|delegate)?call(?:code)?\s{0,100}\(")
_STATEMENT = re.compile(rb"[^;]++")
_REFUSAL = re.compile(rb"\b(?:require|assert|revert)\b")
_WORDS = re.compile(rb"\"[^\"]*+\"|\b[A-Z]\w*+(?=\()")
# The compiler ends a comment at each of its ends of lines. What is not ended is taken up to there:
# a search that begins anew at each of a million quotes does not end.
_TOKEN = re.compile(
    rb"""//[^\n\v\f\r\xe2]*(?:\xe2(?!\x80[\xa8\xa9])[^\n\v\f\r\xe2]*)*
    |/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?
    |\b(?:function|modifier)\s+(?P<name>[\w$]+)|\b(?P<unnamed>constructor|receive|fallback)\s*\(
    |(?P<mark>[{};])""",
    re.DOTALL | re.VERBOSE,
)
_VYPER_FUNCTION = re.compile(rb"^def\s+([A-Za-z_]\w*)", re.MULTILINE)


class Span(NamedTuple):
    """A part of a file, by the file's number in the compilation; in bytes. `jump` is "i" of a jump
    into a function, "o" of one out of it, "-" of others."""

    start: int
    length: int
    file: int
    jump: str = "-"


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


def spans_at(code: bytes, source_map: str, offsets: Sequence[int]) -> list[Span | None]:
    """Return the span of the instruction at each of these offsets."""
    numbers = _instructions_at(code, offsets)
    last = max(numbers.values(), default=-1)
    spans = [span for _, span in zip(range(last + 1), _spans_of(source_map), strict=False)]
    by_offset = {o: spans[number] for o, number in numbers.items() if number < len(spans)}
    return [by_offset.get(offset) for offset in offsets]


def offsets_in(code: bytes) -> Iterator[int]:
    """Yield the offsets of a code's instructions."""
    position = 0
    while position < len(code):
        yield position
        position += 1 + operand_size(code, position)


def _spans_of(source_map: str) -> Iterator[Span]:
    """Yield the span of each instruction. What an entry leaves out is as in the one before."""
    current, jump = [0, 0, -1], "-"
    for entry in source_map.split(";"):
        fields = entry.split(":")
        for index, text in enumerate(fields[:3]):
            if text:
                try:
                    current[index] = int(text[:12])
                except ValueError:
                    return
        jump = fields[3] if len(fields) > 3 and fields[3] else jump
        start, length, file = current
        yield Span(start, length, file, jump)


def _instructions_at(code: bytes, offsets: Sequence[int]) -> Mapping[int, int]:
    """Return the number of the instruction at each of these offsets; none inside of operands."""
    wanted, last = set(offsets), max(offsets, default=-1)
    numbered = enumerate(takewhile(lambda position: position <= last, offsets_in(code)))
    return {position: number for number, position in numbered if position in wanted}


_VARIABLE = re.compile(rb"(?!(?:raise|return|pass|break|continue)\b)[A-Za-z_]\w*")
# What is not ended is taken up to the end of its line, or of the file: no search begins anew.
_VYPER_STRING = rb'"""[\s\S]*?(?:"""|\Z)|"(?:\\.|[^"\\\n])*+"?|\x27(?:\\.|[^\x27\\\n])*+\x27?'
_VYPER_TOKEN = re.compile(
    rb"(?P<string>%s)|(?P<comment>#[^\n]*+)|(?P<open>[(\[{])|(?P<close>[)\]}])"
    rb"|(?P<end>\n|\Z)|(?P<refusal>\b(?P<word>assert|raise)\b)" % _VYPER_STRING
)
_VYPER_LITERAL = re.compile(rb"(?P<string>%s)|#[^\n]*+" % _VYPER_STRING)
_ANNOTATION = re.compile(rb"^\s*+\w++:[^=\n]*+=")
_BLOCK = re.compile(rb"\s*+(if|elif|else|for)\b")
_NAME = re.compile(rb"(?<!\.)\b[A-Za-z_]\w*+")
DECLARED_AND_USED = 2
_MAY_FAIL = re.compile(rb"\b(?:assert|raise)\b|[\w)\]]\s*+\[|\(|[-+*/%]")


class SourceText:
    """The text of a source file."""

    def __init__(self, content: str, *, is_vyper: bool) -> None:
        self._lines = content.split("\n")
        # Solidity's maps count bytes, and Vyper's characters, of which each is a byte here.
        self._encoding = "latin-1" if is_vyper else "utf-8"
        self._encoded = content.encode(self._encoding, "replace")
        self._line_starts = [0, *(end.end() for end in re.finditer(b"\n", self._encoded))]
        functions = _vyper_functions if is_vyper else _functions
        self._functions = sorted(functions(self._encoded))
        self._changes = _changes(self._functions)
        self._is_vyper = is_vyper
        self._names: dict[int, Counter[bytes]] = {}  # by the functions' starts

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return len(self._encoded)

    def is_check(self, span: Span) -> bool:
        """Return whether a span is that of a condition that has to hold."""
        return _CHECK.match(self._encoded, span.start) is not None

    def is_call(self, span: Span) -> bool:
        """Return whether a span is that of a call in assembly."""
        return _CALL.match(self._encoded, span.start) is not None

    def words_at(self, span: Span) -> bytes:
        """Return the words of the statement of Solidity at a span, which may revert: the text in
        quotes, or the error's name."""
        for statement in () if self._is_vyper else _STATEMENT.finditer(self._encoded):
            if statement.start() <= span.start < statement.end():
                refusal = _REFUSAL.search(statement[0])
                words = _WORDS.findall(statement[0], refusal.end()) if refusal else ()
                return words[-1] if words else b""
        return b""

    def is_shared(self, span: Span) -> bool:
        """Return whether a span is a variable of Vyper that its function uses several times: all
        uses have the place of one of them."""
        end = span.start + span.length
        if not self._is_vyper or not _VARIABLE.fullmatch(self._encoded, span.start, end):
            return False
        function = self.function_at(span)
        if function is None:
            return True
        if function.start not in self._names:
            text = self._encoded[function.start : function.end]
            self._names[function.start] = Counter(_NAME.findall(text))
        return self._names[function.start][self._encoded[span.start : end]] > DECLARED_AND_USED

    def refusals_of(self, text: str) -> list[Span]:
        """Return the statements of Vyper that refuse with a text, in no file."""
        statements, start, words = [], -1, b""
        depth = 0
        for token in _VYPER_TOKEN.finditer(self._encoded):
            match token.lastgroup:
                case "refusal" if start < 0:
                    start, depth, words = token.end() - len(token["word"]), 0, b""
                case "string":
                    words = token[0]
                case "open":
                    depth += 1
                case "close":
                    depth -= 1
                case "end" if start >= 0 and depth <= 0:
                    if words.strip(b"\"'").decode("latin-1") == text:
                        statements.append(Span(start, token.start() - start, -1))
                    start = -1
        return statements

    def may_refuse(self, span: Span) -> bool:
        """Return whether the lines of a span of Vyper have an operation that may fail without a
        reason: comparisons, names and literals cannot. Of a loop the place is also that of code
        inside."""
        start = self._line_starts[(self.line_number(span) or 1) - 1]
        is_block = _BLOCK.match(self._encoded, start)
        end = self._encoded.find(b"\n", span.start + (0 if is_block else span.length))
        if is_block and is_block[1] == b"for":
            return False
        code = self._encoded[start : end if end >= 0 else None]
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
        if not 0 <= span.start < len(self._encoded):
            return None
        return bisect_right(self._line_starts, span.start)

    def line(self, number: int) -> str:
        """Return a line, without spaces around it, and cut."""
        return self._lines[number - 1].strip()[:MAX_LINE]

    def line_at(self, span: Span) -> SourceLine | None:
        """Return the line in which a span begins; None where the file ends before."""
        line = self.line_number(span)
        if line is None:
            return None
        before = self._encoded[self._line_starts[line - 1] : span.start]
        first = max(1, line - CONTEXT_LINES)
        around = self._lines[first - 1 : line + CONTEXT_LINES]
        function = self.function_at(span)
        return SourceLine(
            line=line,
            column=1 + len(before.decode(self._encoding, "replace")),
            text=self.line(line),
            context=[
                (number, text.rstrip("\r")[:MAX_LINE])
                for number, text in enumerate(around, start=first)
            ],
            function=function.name if function else None,
        )


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
