"""Answers of services, as reviewed files in folders `expected` have them.

A file is a subject of the test file beside its folder, whose test gives a client, and by names the
hashes and addresses that stand in requests and answers as {name}. Each request is followed by its
answer, and may be preceded by lines that begin with #:

    GET /api/v1/transactions/{refused} > error.kind, error.location.line
    ["revert", 12]

What follows ` > ` is what is shown of the answer: members of JSON, or elements of a page by tag,
`.class` or `#id`. POST has its JSON after the path. A status other than
200 is the answer's first line. `make expected` asks anew and writes the answers; whoever commits
them has compared them with the rules that they follow from.
"""

import difflib
import itertools
import json
import os
import re
from collections import namedtuple
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.support import extensions_document

WRITING = "EXPECTED"  # `write` in the environment
WIDTH = 100
REQUEST = re.compile(r"(GET|POST) ((?:\{[^}]*\}|[^\s{])+)(?: ([\[{].*?))?(?: > (.*))?")
DRAWN = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # a UUID, which differs from run to run
WITHOUT_END = {"br", "hr", "img", "input", "link", "meta", "path", "source", "use", "wbr"}
IN_LINES = set("div dl form h1 h2 h3 li ol option p select table tr ul".split())
BETWEEN = dict.fromkeys(("td", "th"), " | ") | dict.fromkeys(("dt", "dd"), " ")
SAYING = ("id", "href", "name", "value", "data-full", "selected", "open", "aria-current")


class Asked(namedtuple("Asked", "client names")):
    """Who answers, and what stands in requests and answers as a {name}."""

    def fill(self, text):
        return re.sub(r"\{([^{}\"]+)\}", lambda name: self.names.get(name[1], name[0]), text)

    def named(self, text):
        """Names in place of what they stand for, of its short form on pages, and of its digits."""
        names = {value: f"{{{name}}}" for name, value in self.names.items()}
        names |= {f"{v[:8]}…{v[-4:]}": f"{name[:-1]}…}}" for v, name in names.items()}
        names |= {value[2:].lower(): f"{{{name}}}" for name, value in self.names.items()}
        longest = sorted(map(re.escape, names), key=len, reverse=True)
        text = re.sub("|".join(longest) or "$^", lambda value: names[value[0]], text)
        return re.sub(DRAWN, "{drawn}", text)

    def answer(self, request):
        method, path, body, shown = REQUEST.fullmatch(request).groups()
        given = {"json": json.loads(self.fill(body))} if body else {}
        response = self.client.open(self.fill(path), method=method, **given)
        lines = [] if response.status_code == 200 else [str(response.status_code)]
        chosen = [part.strip() for part in shown.split(",")] if shown else []
        text = self.named(response.text.replace("\r\n", "\n").lstrip("\ufeff"))
        if not response.is_json:
            text = "\n".join(elements(text, chosen)) if chosen else text
        elif chosen:
            values = [member(json.loads(text), part.split(".")) for part in chosen]
            text = written(values[0] if len(values) == 1 else values)
        else:
            text = written(json.loads(text))
        return re.sub(r"\n\n+", "\n", "\n".join([*lines, text])).rstrip()


def member(value, path):
    """What is below a path of names; in lists of numbers, or of a {name} that an element has as a
    value. Of other lists it is that of each element, or their length."""
    for at, name in enumerate(path):
        if name == "length":
            return len(value)
        if isinstance(value, list) and name.startswith("{"):
            value = next((element for element in value if name in element.values()), None)
            continue
        if isinstance(value, list) and not name.isdigit():
            return [member(element, path[at:]) for element in value]
        try:
            value = value[int(name) if isinstance(value, list) else name]
        except (KeyError, IndexError, TypeError):
            return "(absent)"
    return value


def written(value, indent=""):
    """JSON in the answer's own order: what has room in a line stands in one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + len(indent) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    deeper, is_object = f"{indent}  ", isinstance(value, dict)
    members = value.items() if is_object else ((None, element) for element in value)
    lines = [
        f"{deeper}{json.dumps(key) + ': ' if is_object else ''}{written(part, deeper)}"
        for key, part in members
    ]
    first, last = "{}" if is_object else "[]"
    return ",\n".join([f"{first}\n{lines[0]}", *lines[1:]]) + f"\n{indent}{last}"


class _Elements(HTMLParser):
    """The text of the outermost elements of a page that have a tag, a class or an id, with tags
    that have an attribute which says something."""

    def __init__(self, html, chosen):
        super().__init__()
        self.chosen, self.open, self.parts, self.found = chosen, [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        of = {key: value or "" for key, value in attributes}
        marks = {f".{name}" for name in of.get("class", "").split()} | {f"#{of.get('id')}", tag}
        if self.open or marks & {*self.chosen}:
            keys = () if self.is_silent() else SAYING
            said = "".join(f' {key}="{of[key]}"' for key in keys if key in of)
            self.parts.append("\n" * (tag in IN_LINES) + (f"<{tag}{said}>" if said else ""))
            self.parts.append(BETWEEN.get(tag, ""))
            if tag not in WITHOUT_END:
                self.open.append((tag, f"</{tag}>" if said and tag != "option" else ""))

    def handle_endtag(self, tag):
        while tag in [opened for opened, _ in self.open]:
            ended, text = self.open.pop()
            self.parts.append(text)
            if ended == tag:
                break
        if self.parts and not self.open:
            lines = (" ".join(line.split()) for line in "".join(self.parts).split("\n"))
            self.found.append("\n".join(filter(None, lines)))
            self.parts = []

    def is_silent(self):
        return {"svg", "button", "script"} & {tag for tag, _ in self.open}

    def handle_data(self, data):
        if self.open and not self.is_silent():
            text = data.replace("&", "&amp;").replace("<", "&lt;")
            self.parts.append(re.sub(r"\s+", " ", text))


def elements(html, chosen):
    """Those of a page's own part, without the head and foot that all pages have."""
    main = re.search(r"<main.*</main>", html, re.DOTALL)
    return _Elements(main[0] if main else html, chosen).found or ["(none)"]


def compare(test_file, client, names, subject=""):
    """Ask what `expected/<subject>.txt` beside a test file asks, of its name if no other is given:
    the answers are those in it, or are written into it."""
    if taken_away := extensions_document.taken_away():
        pytest.skip(f"the answers are of all extensions, with {taken_away}")
    test_file = Path(test_file)
    file = test_file.parent / "expected" / f"{subject or test_file.stem.removeprefix('test_')}.txt"
    text, asked, blocks = file.read_text(encoding="utf-8"), Asked(client, names), []
    for block in text.rstrip("\n").split("\n\n"):
        lines = block.split("\n")
        comments = [*itertools.takewhile(lambda line: line.startswith("#"), lines)]
        asking = lines[len(comments) :][:1]
        blocks.append("\n".join([*comments, *asking, *map(asked.answer, asking)]))
    now = "\n\n".join(blocks) + "\n"
    if os.environ.get(WRITING) == "write":
        file.write_text(now, encoding="utf-8")
    changed = "\n".join(difflib.unified_diff(text.split("\n"), now.split("\n"), lineterm=""))
    assert now == file.read_text(encoding="utf-8"), (
        f"{file} has other answers; `make expected` writes these:\n{changed}"
    )
