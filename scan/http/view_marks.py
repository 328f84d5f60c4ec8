"""Marks of views, by whose paths a request is treated before Flask chooses the view."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from werkzeug.routing import Map

_V = TypeVar("_V", bound=Callable[..., Any])
_ATTRIBUTE = "scan_mark"  # of a view


class Mark(Enum):
    UNLIMITED = "its requests are not rate limited"
    NEEDS_TOKEN = "its form has a token, which no other site knows: any site may send it"


def marked(mark: Mark) -> Callable[[_V], _V]:
    """Decorate a view with a mark."""

    def decorate(view: _V) -> _V:
        setattr(view, _ATTRIBUTE, mark)
        return view

    return decorate


def paths_marked(mark: Mark, rules: Map, views: Mapping[str, Callable[..., Any]]) -> frozenset[str]:
    """Return the paths of the views of an application that have a mark."""
    return frozenset(
        rule.rule
        for rule in rules.iter_rules()
        if getattr(views[rule.endpoint], _ATTRIBUTE, None) is mark
    )
