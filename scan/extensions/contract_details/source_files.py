"""The source files of a verified contract: on its page, with excerpts, a tree and a search;
and as a download, standard JSON or a ZIP archive with safe paths.
"""

import io
import json
import re
import zipfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate, islice
from typing import Any, NamedTuple

import orjson
from markupsafe import Markup

from scan import parameters
from scan.errors import NotFound
from scan.extensions.contract_details.source_highlighting import highlighted_lines
from scan.pages.formatting import file_anchor, visible, visible_block
from scan.queries import contracts
from scan.queries.reader import Reader
from scan.verification.languages import language_of_path
from scan.verification.languages import standard_input as input_of

# The most of a file shown alone: a page with a source of 300,000 lines took 0.9 s.
MAX_SHOWN_LINES = 5_000
MAX_SHOWN_CHARACTERS = 250_000
# The most of all files on the tab's first page, which has 80 kB with styles and scripts.
FIRST_PAGE_BYTES = 12_000
NEARLY_WHOLE = 1.5  # a file of so many times the bytes that are left is not cut
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
        if path == path_shown or (not path_shown and bytes_left > 0):
            lines = highlighted_lines(_first_part(content), language_of_path(path).name)
        if lines and not path_shown:
            sizes = [*accumulate(len(line) + LINE_BYTES for line in lines)]
            if sizes[-1] > bytes_left * NEARLY_WHOLE:
                lines = lines[: bisect_right(sizes, bytes_left)]
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


def _lines_with(text: str, content: str) -> Iterator[tuple[int, Markup]]:
    """Yield the numbers of lines that have a text in any case, with excerpts."""
    pattern = re.compile(re.escape(text), re.IGNORECASE)
    for number, line in enumerate(content.split("\n"), 1):
        if match := pattern.search(line):
            start, end = match.span()
            before, after = line[max(0, start - EXCERPT) : start], line[end : end + EXCERPT]
            excerpt = (escape(visible(part)) for part in (before.lstrip(), match[0], after))
            yield number, Markup("{}<mark>{}</mark>{}".format(*excerpt))


STANDARD_INPUT = "standard-input.json"
MAX_PATH = 200
MAX_PART = 100
TIME = (1980, 1, 1, 0, 0, 0)  # of all files, so that equal sources make equal archives

# Characters that Windows takes for a drive or a stream, control characters, changes of direction.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\u202a-\u202e\u2066-\u2069]")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.I)


def get(reader: Reader, address: bytes) -> contracts.Contract:
    """Return a contract with its sources and settings; raises NotFound."""
    reader.do_not_cache()  # large ones would evict everything else
    contract, _ = contracts.get_with_proxy(reader, address, {"sources", "settings"})
    if not contract.has_source:
        raise NotFound(contract.not_verified, field="address")
    return contract


def standard_input(contract: contracts.Contract) -> bytes:
    """Return the compiler's standard JSON input; its settings are those of the metadata."""
    sources = orjson.Fragment(contract.sources or "{}")
    return orjson.dumps(input_of(contract.path, sources, json.loads(contract.settings or "{}")))


def archive(contract: contracts.Contract) -> bytes:
    """Return a ZIP archive of the sources by safe paths, and of the standard JSON input."""
    content = io.BytesIO()
    sources = json.loads(contract.sources or "{}")
    folders = {folder for path in sources for folder in _folders(safe_path(path))}
    names = {STANDARD_INPUT, *folders}
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(zipfile.ZipInfo(STANDARD_INPUT, TIME), standard_input(contract))
        for path, source in sources.items():
            name = _unused(safe_path(path), names)
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, str(source["content"]))
    return content.getvalue()


def safe_path(path: str) -> str:
    """Return a relative path that stays below the folder it is unpacked in, on any system."""
    segments = [_safe_part(part) for part in re.split(r"[/\\]", path) if part not in ("", ".")]
    safe = "/".join(segments)[-MAX_PATH:].lstrip("/") or "source"
    return f"_{safe}" if safe.casefold().startswith(f"{STANDARD_INPUT}/") else safe


def _folders(path: str) -> Iterator[str]:
    """Return the folders of a path, in lower case; no file may have such a name."""
    segments = path.casefold().split("/")
    return ("/".join(segments[:length]) for length in range(1, len(segments)))


def _safe_part(part: str) -> str:
    clean = _UNSAFE.sub("_", part.encode("utf-8", "replace").decode())[:MAX_PART].rstrip(" .")
    return f"_{clean}" if not clean or _DEVICE.fullmatch(clean) else clean


def _unused(name: str, names: set[str]) -> str:
    """Return a name that no file or folder has, not even in another letter case, which some file
    systems ignore, and add it to `names`."""
    stem, dot, suffix = name.rpartition(".")
    stem, suffix = (stem, dot + suffix) if stem else (name, "")
    number, unused = 1, name
    while unused.casefold() in names:
        number += 1
        unused = f"{stem}_{number}{suffix}"
    names.add(unused.casefold())
    return unused
