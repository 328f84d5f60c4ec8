"""Source files of a verified contract on its page: excerpts, a tree, a search."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate, islice
from typing import Any, NamedTuple

from markupsafe import Markup

from scan import parameters
from scan.errors import NotFound
from scan.extensions.contract_details.source_highlighting import highlighted_lines
from scan.pages.formatting import file_anchor, visible, visible_block
from scan.verification.languages import of_path

# The most of a file shown alone: a page with a source of 300,000 lines took 0.9 s.
MAX_SHOWN_LINES = 5_000
MAX_SHOWN_CHARACTERS = 250_000
# The most of all files on the tab's first page, which has 80 kB with styles and scripts.
FIRST_PAGE_BYTES = 12_000
LINE_BYTES = 25  # of the element around each line
FILE_BYTES = 600  # of the elements around a file
MAX_FOLDERS = 8  # within each other; deeper ones are part of the file's name
MAX_FIND = 100  # characters
MAX_MATCHES = 50  # lines that are listed
EXCERPT = 60  # characters on each side


class Shown(NamedTuple):
    """The choice of a request: one file by its path, and a text to find."""

    file: str = ""
    find: str = ""


class SourceFile(NamedTuple):
    """A source file: `lines` are the first of its `line_count` as HTML, none where the page leaves
    the file out; the ids of its lines begin with `anchor`."""

    anchor: str
    path: str
    lines: Sequence[Markup]
    line_count: int
    matches: frozenset[int] = frozenset()


class MatchingLine(NamedTuple):
    """A line with the text, by its number from 1, and an excerpt as HTML."""

    file: SourceFile
    number: int
    excerpt: Markup


class Folder(NamedTuple):
    """A folder of sources: `files` with the last part of their paths."""

    folders: dict[str, "Folder"]
    files: list[tuple[str, SourceFile]]

    def add(self, segments: Sequence[str], file: SourceFile) -> None:
        if len(segments) == 1:
            self.files.append((segments[0], file))
        else:
            self.folders.setdefault(segments[0], Folder({}, [])).add(segments[1:], file)


class SourceFiles(NamedTuple):
    """The files of a contract, its own first; `chosen` is the one that is shown alone, and
    `matches` the first lines that have the text, of `match_count`."""

    files: Sequence[SourceFile]
    chosen: SourceFile | None
    find: str
    matches: Sequence[MatchingLine]
    match_count: int

    @property
    def shown(self) -> Sequence[SourceFile]:
        return [self.chosen] if self.chosen else [file for file in self.files if file.lines]

    @property
    def tree(self) -> Folder:
        tree = Folder({}, [])
        for file in self.files:
            tree.add(file.path.split("/", MAX_FOLDERS), file)
        return tree


def shown_files(sources_json: str | None, main_path: str, shown: Shown | None) -> SourceFiles:
    """Return the files with the lines that a page shows of them. Raises NotFound for the path of no
    file, InvalidParameter for a text to find that is too long."""
    sources = json.loads(sources_json or "{}")
    path_shown, text = shown or Shown()
    parameters.text(text, "find", most=MAX_FIND)
    if path_shown:
        file_of(sources, path_shown)
    files: list[SourceFile] = []
    matches: list[MatchingLine] = []
    match_count, bytes_left = 0, FIRST_PAGE_BYTES
    for path in in_order(sources, main_path):
        content = str(sources[path]["content"])
        file = SourceFile(file_anchor(len(files)), path, (), 1 + content.count("\n"))
        numbers = dict(_lines_with(text, content)) if text else {}
        match_count += len(numbers)
        kept = islice(numbers.items(), MAX_MATCHES - len(matches))
        matches += [MatchingLine(file, number, excerpt) for number, excerpt in kept]
        lines: Sequence[Markup] = ()
        if path == path_shown:
            lines = highlighted_lines(_first_part(content), of_path(path).name)
        elif not path_shown and bytes_left > 0:
            coloured = highlighted_lines(_first_part(content), of_path(path).name)
            lines = _first_lines(coloured, bytes_left)
            bytes_left -= sum(map(len, lines)) + LINE_BYTES * len(lines) if lines else bytes_left
            bytes_left -= FILE_BYTES + 5 * len(path)  # its links have the path
        files.append(file._replace(lines=lines, matches=frozenset(numbers)))
    chosen = next((file for file in files if file.path == path_shown), None)
    return SourceFiles(files, chosen, text, matches, match_count)


def in_order(sources: Mapping[str, Any], main_path: str) -> list[str]:
    """Return the paths of files in their order on the page: the contract's own first."""
    return sorted(sources, key=lambda path: (path != main_path, path))


def file_of(sources: Mapping[str, Any], path: str) -> str:
    """Return a complete source file; raises NotFound."""
    if path not in sources:
        raise NotFound("No verified contract at this address has this file.")
    return str(sources[path]["content"])


def _first_part(content: str) -> str:
    """Return the part of a file that a page may show, with invisible characters made visible."""
    lines = content[:MAX_SHOWN_CHARACTERS].split("\n", MAX_SHOWN_LINES)[:MAX_SHOWN_LINES]
    return visible_block("\n".join(lines))


def _first_lines(lines: Sequence[Markup], bytes_left: int) -> Sequence[Markup]:
    sizes = accumulate(len(line) + LINE_BYTES for line in lines)
    return lines[: bisect_right([*sizes], bytes_left)]


def _lines_with(text: str, content: str) -> Iterator[tuple[int, Markup]]:
    """Yield the numbers of lines that have a text in any case, with excerpts."""
    pattern = re.compile(re.escape(text), re.IGNORECASE)
    for number, line in enumerate(content.split("\n"), 1):
        if match := pattern.search(line):
            start, end = match.span()
            before, after = line[max(0, start - EXCERPT) : start], line[end : end + EXCERPT]
            excerpt = (escape(visible(part)) for part in (before.lstrip(), match[0], after))
            yield number, Markup("{}<mark>{}</mark>{}".format(*excerpt))
