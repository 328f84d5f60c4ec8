"""What compilers say of verified contracts besides their ABIs, stored when they are verified: where
the code, and the code that creates it, is in the sources, and the layout of the storage.

Places are by the compiler's source maps, in the form of Solidity's documentation, "Source
Mappings": for each instruction the start and length in bytes of the text that it comes from, the
file, and whether it jumps into or out of a function. A compiler may be wrong or old, and its text
is hostile: sizes are bounded.

Creation code is found again in front of constructor arguments by a hash in which what compilations
of one source may differ in is zero: addresses of libraries, and the hashes in metadata. Where
libraries are linked, only the compiler says; a search takes all operands of PUSH20 for their
addresses, and what it finds is compared with the compiler's places.
"""

import hashlib
import math
import re
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

import orjson

from scan.database.connection import Database
from scan.extensions.explanations.storage import compiler_layouts
from scan.verification.bytecode_comparison import (
    ADDRESS_BYTES,
    HASH_PREFIXES,
    PUSH20,
    ByteRange,
    LinkedCode,
    linked_code,
    mask,
    operand_size,
)
from scan.verification.contract_match import Match
from scan.verification.hooks import CompilerFindings, Store
from scan.verification.submission_compilations import Compilations

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


MAX_CODE_BYTES = 256 * 1024  # of what is searched for; five times EIP-3860's
MAX_ARGUMENT_BYTES = 8192
WORD_BYTES = 32
MAX_LINKS = 1000
MAX_COMPARED_BYTES = 16 * 1024 * 1024  # of creations, for one request: 0.2 s at most

# A run of instructions, with the operand of the PUSH20 that ends it: 48 KiB take 1 ms.
_INSTRUCTIONS = re.compile(
    rb"((?:[^\x60-\x7f]|%s)*+)(?:\x73(.{0,20}))?"
    % b"|".join(
        b"\\x%02x.{0,%d}" % (PUSH20 + size - 20, size) for size in range(1, 33) if size != 20
    ),
    re.DOTALL,
)
_HASH = re.compile(b"(%s)(.{0,32})" % b"|".join(map(re.escape, HASH_PREFIXES)), re.DOTALL)


class CreationCode(NamedTuple):
    """Compiled creation code: its size, the hash by which it is searched for, the hash of it with
    zeros where libraries are linked, and these places."""

    size: int
    search_hash: bytes
    masked_hash: bytes
    links: Sequence[ByteRange]

    def is_in(self, creation: bytes) -> bool:
        """Return whether this code is what a creation begins with."""
        code = creation[: self.size]
        return len(code) == self.size and _masked_hash(code, self.links) == self.masked_hash


class CreationComparison:
    """Compares creations with stored codes: at most MAX_COMPARED_BYTES, hashed once for all codes
    with the same places of libraries. What is beyond is not compared."""

    def __init__(self) -> None:
        self._bytes = 0
        self._hashes: dict[tuple[bytes, int, str], bytes | None] = {}

    def is_in(self, creation: bytes, size: int, masked_hash: bytes, links: str) -> bool:
        """Return whether a creation begins with a code that has this size and hash; `links` are its
        places of libraries as JSON."""
        key = creation, size, links
        if key not in self._hashes:
            code, self._hashes[key] = creation[:size], None
            self._bytes += len(code)
            if self._bytes <= MAX_COMPARED_BYTES:
                places = [ByteRange(*link) for link in orjson.loads(links)]
                self._hashes[key] = _masked_hash(code, places)
        return self._hashes[key] == masked_hash


def creation_code_of(compiled: LinkedCode) -> CreationCode | None:
    """Return what creation code is found by; None of code that is too large, or none at all."""
    code = compiled.code
    links = [place for places in compiled.links.values() for place in places]
    if not 0 < len(code) <= MAX_CODE_BYTES or len(links) > MAX_LINKS:
        return None
    if not all(start >= 0 and start + ADDRESS_BYTES == end <= len(code) for start, end in links):
        return None
    search_hash = hashlib.sha256(_without_operands(code)).digest()
    return CreationCode(len(code), search_hash, _masked_hash(code, links), links)


def search_hashes(creation: bytes) -> Mapping[bytes, int]:
    """Return the search hashes of all code that a creation may begin with, with their sizes: it
    ends with arguments of at most MAX_ARGUMENT_BYTES, which are whole words."""
    if len(creation) > MAX_CODE_BYTES + MAX_ARGUMENT_BYTES:
        return {}
    code = _without_operands(creation)
    first = max(len(code) % WORD_BYTES, len(code) - MAX_ARGUMENT_BYTES)
    digest, hashes = hashlib.sha256(code[:first]), {}
    for size in range(first, len(code) + 1, WORD_BYTES):
        hashes[digest.digest()] = size
        digest.update(code[size : size + WORD_BYTES])
    return hashes


def _masked_hash(code: bytes, links: Sequence[ByteRange]) -> bytes:
    return hashlib.sha256(_without_hashes(mask(code, links))).digest()


def _without_operands(code: bytes) -> bytes:
    """Return code with zeros in operands of PUSH20, and in hashes of metadata. A part of the code
    from its beginning is the same part of the result."""
    return _without_hashes(
        _INSTRUCTIONS.sub(
            lambda run: run[1] + (b"" if run[2] is None else bytes([PUSH20]) + bytes(len(run[2]))),
            code,
        )
    )


def _without_hashes(code: bytes) -> bytes:
    return _HASH.sub(lambda match: match[1] + bytes(len(match[2])), code)


def read(compilations: Compilations, match: Match) -> Store:
    """Return what stores a match's findings. The layout of the storage takes a compilation more."""
    raw_layout = match.contract.output.get("storageLayout")
    named_layout = compiler_layouts.add_names(raw_layout, compilations, match)
    layout = compiler_layouts.packed(named_layout) or compiler_layouts.packed(raw_layout)
    return partial(_store, match, layout)


def _store(
    match: Match, layout: bytes | None, database: Database, address: bytes, code_hash: bytes
) -> bool:
    """Store the findings in the place of what was known of the code, and return whether they have a
    source map."""
    evm, files = match.contract.output["evm"], orjson.dumps([*match.contract.files.items()])
    values = {"address": address, "code_hash": code_hash}
    mapped = values | {"files": files.decode()}
    source_map = packed(evm["deployedBytecode"].get("sourceMap"))
    creation = creation_code_of(linked_code(evm["bytecode"]))
    creation_map = packed(evm["bytecode"].get("sourceMap"))
    with database.transaction() as tx:
        tx.execute("verification/findings_delete", **values)
        if layout is not None:
            tx.execute("verification/storage_layouts_put", **values, layout=layout)
        if source_map is not None:
            tx.execute("verification/source_maps_put", **mapped, source_map=source_map)
        if creation is not None and creation_map is not None:
            tx.execute(
                "verification/creation_maps_put",
                **mapped,
                code_size=creation.size,
                search_hash=creation.search_hash,
                masked_hash=creation.masked_hash,
                links=orjson.dumps([[*link] for link in creation.links]).decode(),
                source_map=creation_map,
            )
    return source_map is not None


HOOKS = CompilerFindings(version=1, read=read)
