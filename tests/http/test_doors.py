"""Bounds in bounds.md: every route belongs to a door, and bodies meet its bounds."""

import fnmatch
import re
from pathlib import Path

import pytest

from scan import registry
from tests.support import extensions_document
from tests.support.entry_points import application

__all__ = ["application"]

pytestmark = pytest.mark.check


def test_every_route_has_one_door_and_every_door_a_route(application):
    """A route's door is the one that names its path, or the longest beginning of it."""
    lines = Path(__file__).with_name("bounds.md").read_text().splitlines()
    table = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    head, *rows = [[cell.strip() for cell in row] for row in table if not set(row[0]) <= set("-")]
    assert len(rows) >= 12
    assert [row[0] for row in rows if len(row) != len(head) or not all(row)] == []
    routes = [
        f"{method} " + re.sub(r"<(?:\w+:)?(\w+)>", r":\1", rule.rule)
        for rule in application.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    ]
    pattern = re.compile(r"(?:GET|POST|PATCH|DELETE|PUT) /[^\s,]*")
    named = [
        (len(route), route, door)
        for door, listed, *_ in rows
        for route in pattern.findall(listed)
        if " with " not in listed
    ]
    for route in routes:
        doors = sorted(of for of in named if fnmatch.fnmatchcase(route, of[1]))
        assert doors, route
        assert [length for length, *_ in doors].count(doors[-1][0]) == 1, (route, doors)
    # A door is the core's, or of the extension in brackets.
    installed = {*registry.installed()}
    of_installed = [row[1] for row in rows if {*re.findall(r"\((\w+)\)$", row[0])} <= installed]
    for route in pattern.findall(" ".join(of_installed)):
        assert fnmatch.filter(routes, route) or extensions_document.taken_away(), route


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
