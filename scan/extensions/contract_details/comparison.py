"""Contracts that are compared with others: all those of the same code, the oldest first, and the
sources of two verified ones, whose files are in pairs with the lines in which they differ. Files
may be of strangers, and comparing lines takes quadratic time or more: the steps are counted.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import Match, SequenceMatcher
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import NamedTuple

from scan.errors import InvalidParameter, NotFound
from scan.hex import to_hex
from scan.queries import contracts
from scan.queries.cursors import ADDRESS, ORDINAL
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

MAX_STEPS = 5_000_000  # of all files, in less than 0.5 s
MAX_ROWS = 2_000  # of all files
CONTEXT_LINES = 3
MAX_LINE = 300  # characters of a line that are compared and shown

STATUSES = CHANGED, REMOVED, ADDED, EQUAL = "changed", "removed", "added", "equal"


class Row(NamedTuple):
    """A line of one file beside that of the other, with their numbers from 1; None where one of
    them has none."""

    number: int | None
    text: str | None
    other_number: int | None
    other_text: str | None

    @property
    def is_equal(self) -> bool:
        return self.number is not None and self.text == self.other_text


class FilePair(NamedTuple):
    """A file, its counterpart, and parts of both around lines that differ. `parts` is None where
    the files differ in too much to be compared."""

    path: str | None
    other_path: str | None
    status: str
    parts: Sequence[Sequence[Row]] | None = ()

    def unified(self) -> str | None:
        """Return the differences in the form of `diff -u`."""
        if self.parts is None:
            return None
        return "".join(line for part in self.parts for line in _unified(part))


class _TooDifferent(Exception):
    pass


class _Matcher(SequenceMatcher[str]):
    """A matcher that counts its steps down, in `left`."""

    def __init__(self, lines: Sequence[str], other: Sequence[str], left: int) -> None:
        self.left, self._length = left, len(lines)
        super().__init__(None, lines, other)
        places: Mapping[str, Sequence[int]] = self.b2j  # type: ignore[attr-defined]
        self._most = max(map(len, places.values()), default=0)

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        last = self._length if ahi is None else ahi
        self.left -= (last - alo) * (1 + self._most)
        if self.left < 0:
            raise _TooDifferent
        return super().find_longest_match(alo, ahi, blo, bhi)


class Source(NamedTuple):
    """The files of a contract by their paths; its own is at `main_path`."""

    files: Mapping[str, str]
    main_path: str


# By what files belong together, the surest first; nothing by an empty text.
KEYS: Sequence[Callable[[Source, str], str]] = (
    lambda _, path: path,
    lambda source, path: source.files[path],
    lambda source, path: "own" if path == source.main_path else "",
    lambda _, path: PurePosixPath(path).name,
)


def compare(source: Source, other: Source) -> list[FilePair]:
    """Return the files of two sources in pairs, those that differ first."""
    pairs = _pairs(source, other)
    left, rows = MAX_STEPS, MAX_ROWS
    compared: list[FilePair] = []
    for path, other_path in pairs.items():
        text, other_text = source.files[path], other.files[other_path]
        if text == other_text:
            compared.append(FilePair(path, other_path, EQUAL))
            continue
        parts = None
        if rows >= 0:
            parts, left = _parts(_lines(text), _lines(other_text), left)
            rows -= sum(map(len, parts or ()))
        compared.append(FilePair(path, other_path, CHANGED, parts if rows >= 0 else None))
    paired = {*pairs.values()}
    compared += [FilePair(path, None, REMOVED) for path in source.files if path not in pairs]
    compared += [FilePair(None, path, ADDED) for path in other.files if path not in paired]
    return sorted(compared, key=lambda pair: STATUSES.index(pair.status))


def _pairs(source: Source, other: Source) -> dict[str, str]:
    """Return paths of files that belong together: those at the same path, with the same content,
    the contracts' own, and those of the same name."""
    pairs: dict[str, str] = {}
    paired: set[str] = set()
    for key in KEYS:
        waiting: dict[str, str] = {}
        for path in other.files:
            if path not in paired and (of := key(other, path)):
                waiting.setdefault(of, path)
        for path in source.files:
            of = key(source, path)
            if path not in pairs and of in waiting:
                pairs[path] = waiting.pop(of)
                paired.add(pairs[path])
    return pairs


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r")[:MAX_LINE] for line in text.split("\n")]


def _parts(
    lines: Sequence[str], other: Sequence[str], left: int
) -> tuple[list[list[Row]] | None, int]:
    """Return the parts of two files around lines that differ, None where that takes too many steps,
    and the steps that are left."""
    matcher = _Matcher(lines, other, left)
    try:
        groups = [*matcher.get_grouped_opcodes(CONTEXT_LINES)]
    except _TooDifferent:
        return None, max(matcher.left, 0)
    parts = [[row for _, *ends in group for row in _rows(lines, other, *ends)] for group in groups]
    return parts, matcher.left


def _rows(
    lines: Sequence[str], other: Sequence[str], start: int, end: int, first: int, last: int
) -> Iterator[Row]:
    own, others = enumerate(lines[start:end], start + 1), enumerate(other[first:last], first + 1)
    for line, other_line in zip_longest(own, others, fillvalue=(None, None)):
        yield Row(*line, *other_line)


def _unified(part: Sequence[Row]) -> Iterator[str]:
    numbers = [row.number for row in part if row.number is not None]
    others = [row.other_number for row in part if row.other_number is not None]
    yield f"@@ -{_range(numbers)} +{_range(others)} @@\n"
    added: list[str] = []
    for row in part:
        if row.is_equal:
            yield from added
            added = []
            yield f" {row.text}\n"
            continue
        if row.text is not None:
            yield f"-{row.text}\n"
        if row.other_text is not None:
            added.append(f"+{row.other_text}\n")
    yield from added


def _range(numbers: Sequence[int]) -> str:
    return f"{numbers[0] if numbers else 0},{len(numbers)}"


def file_pairs(reader: Reader, address: bytes, other: bytes) -> list[FilePair]:
    """Return the files of two contracts in pairs; raises NotFound for one that is not verified."""
    reader.hold_processor()
    source, other_source = _source(reader, address), _source(reader, other)
    reader.do_not_cache()  # large sources would evict everything else
    return compare(source, other_source)


def _source(reader: Reader, address: bytes) -> Source:
    contract, _ = contracts.get_with_proxy(reader, address, {"sources"})
    if contract.sources is None:
        raise NotFound(f"The contract at {to_hex(address)} is not verified.")
    files = json.loads(contract.sources)
    return Source({path: str(file["content"]) for path, file in files.items()}, contract.path)


MOST_COUNTED = 50_000


class SameCodeBounds:
    """The bound of one list."""

    counted = MOST_COUNTED


def page(reader: Reader, address: bytes, window: Window) -> Page:
    """Return a page of the contracts with the code at an address, that itself among them; the total
    is None above MOST_COUNTED.

    Raises NotFound where no contract is indexed, InvalidParameter for an offset beyond
    MOST_COUNTED, which would read as many rows; a cursor works at any depth.
    """
    filters = {"address": address.hex()}
    traversal = window.traversal("same_code", filters, (ORDINAL, ADDRESS), has_blocks=False)
    most = reader.sources.get(SameCodeBounds).counted
    if window.offset >= most:
        message = f"page must be within the first {most:,} contracts; a cursor goes on."
        raise InvalidParameter(message, field="page")
    after_block, after_address = traversal.position(2)
    is_contract, *row = reader.row(
        "queries/contracts_list_by_code",
        address=address,
        limit=window.limit,
        offset=window.offset,
        most_counted=most,
        after_block=after_block,
        after_address=after_address,
    )
    if not is_contract:
        raise NotFound("No contract is indexed at this address.", field="address")
    return Page.keyed(traversal, row)
