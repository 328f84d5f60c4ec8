"""Marks of views: by whose paths a request is treated before Flask chooses the view, and their
prerequisites beside the database: while one is missing, the middleware refuses their requests in
the loop, instead of having a thread find out.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from werkzeug.routing import Map

View = TypeVar("View", bound=Callable[..., Any])
_MARK, _PREREQUISITE = "scan_mark", "scan_prerequisite"  # attributes of views


class Mark(Enum):
    UNLIMITED = "its requests are not rate limited"
    NEEDS_TOKEN = "its form has a token, which no other site knows: any site may send it"


class Prerequisite(Enum):
    NODE = "an answer of the node"
    NODE_FIELDS = "an answer of the node, without which some fields are null"
    LONG_WAIT = "a place to wait in for long, as for a compiler"


Of = Prerequisite | None | Callable[[str], Prerequisite | None]


def marked(mark: Mark) -> Callable[[View], View]:
    return _attributed(_MARK, mark)


def requires(prerequisite: Of) -> Callable[[View], View]:
    """Decorate a view with its prerequisite, or with a function that returns it for a query. The
    view waits for its turn where it first needs the node, as caches may have what it needs."""
    return _attributed(_PREREQUISITE, prerequisite)


def _attributed(name: str, value: object) -> Callable[[View], View]:
    def decorate(view: View) -> View:
        setattr(view, name, value)
        return view

    return decorate


def paths_marked(mark: Mark, rules: Map, views: Mapping[str, Callable[..., Any]]) -> frozenset[str]:
    """Return the paths of the views of an application that have a mark."""
    return frozenset(
        rule.rule
        for rule in rules.iter_rules()
        if getattr(views[rule.endpoint], _MARK, None) is mark
    )


def prerequisite_of(view: object, query: str = "") -> Prerequisite | None:
    """Return the prerequisite that a view, or another object, was decorated with."""
    prerequisite: Of = getattr(view, _PREREQUISITE, None)
    return prerequisite(query) if callable(prerequisite) else prerequisite
