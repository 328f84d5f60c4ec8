"""Bounds in bounds.md: every route belongs to a door, and bodies meet its bounds."""

import re
from pathlib import Path

import pytest

from scan import registry
from tests.support import extensions_document
from tests.support.entry_points import application

__all__ = ["application"]

pytestmark = pytest.mark.check

DOCUMENT = Path(__file__).with_name("bounds.md")
ROUTE = re.compile(r"(GET|POST|PATCH|DELETE|PUT) (/[^\s,]*)")


def table():
    section = DOCUMENT.read_text()
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if not set(row[0]) <= set("-")]


def routes(application):
    """Methods and paths, with arguments as in the document."""
    return [
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r":\1", rule.rule))
        for rule in application.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    ]


def doors_of(method, path):
    """The doors that name a route: by its path, or by the longest beginning that a door has."""
    of_length = {}
    for name, listed, *_ in table()[1:]:
        for its_method, its_path in ROUTE.findall(listed) if " with " not in listed else ():
            prefix = its_path.removesuffix("*")
            matches = path.startswith(prefix) if prefix != its_path else path == its_path
            if its_method == method and matches:
                of_length.setdefault(len(its_path), []).append(name)
    return of_length[max(of_length)] if of_length else []


def test_every_route_has_one_door_and_every_door_a_route(application):
    head, *rows = table()
    assert len(rows) >= 12
    assert [row[0] for row in rows if len(row) != len(head) or not all(row)] == []
    existing = routes(application)
    doors = {route: doors_of(*route) for route in existing}
    assert {route: names for route, names in doors.items() if len(names) != 1} == {}
    for listed in (listed for name, listed, *_ in rows if is_installed(name)):
        for method, path in ROUTE.findall(listed):
            prefix = path.removesuffix("*")
            assert (
                any(
                    other == method and (at.startswith(prefix) if prefix != path else at == path)
                    for other, at in existing
                )
                or extensions_document.taken_away()
            ), (method, path)


def is_installed(door):
    """Whether a door is the core's, or its extension is there."""
    extension = re.search(r"\((\w+)\)$", door)
    return not extension or extension[1] in registry.installed()


@pytest.mark.parametrize("name", ["x" * 300, "%00", "..", "%2e%2e%2f" * 90, "%F0%9F%A6%84" * 80])
def test_no_name_in_a_path_is_an_internal_error(application, name):
    """Such as one that is longer than a file's name may be."""
    client = application.test_client()
    paths = {
        re.sub(r"<(?:\w+:)?\w+>", name, rule.rule)
        for rule in application.url_map.iter_rules()
        if rule.arguments and "GET" in (rule.methods or ())
    }
    statuses = {path: client.get(path).status_code for path in paths}
    assert {path for path, status in statuses.items() if status == 500} == set()
