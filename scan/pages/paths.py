"""The paths of pages, as the rules of the application's views have them."""

from collections.abc import Iterable
from typing import NamedTuple

from flask import Blueprint, Flask

from scan.http.view_marks import Mark, paths_marked


class PagePaths(NamedTuple):
    """`single` are of one page each, `prefixes` begin the paths of pages for one of many things,
    and to `with_token` any site may send a form."""

    single: frozenset[str]
    prefixes: frozenset[str]
    with_token: frozenset[str]

    def has(self, path: str) -> bool:
        return path in self.single or path in self.prefixes


def page_paths(app: Flask, blueprints: Iterable[Blueprint]) -> PagePaths:
    """Return the paths of the pages of an application, which are those of `blueprints`."""
    names = {blueprint.name for blueprint in blueprints}
    rules = (r for r in app.url_map.iter_rules() if r.endpoint.partition(".")[0] in names)
    parts = [rule.rule.partition("<") for rule in rules]
    return PagePaths(
        frozenset(path.rstrip("/") for path, argument, _ in parts if not argument),
        frozenset(path.rstrip("/") for path, argument, _ in parts if argument),
        paths_marked(Mark.NEEDS_TOKEN, app.url_map, app.view_functions),
    )
