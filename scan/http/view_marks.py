"""Marks of views, by whose paths a request is treated before Flask chooses the view."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from werkzeug.routing import Map

View = TypeVar("View", bound=Callable[..., Any])
_MARKS_ATTRIBUTE = "scan_mark"  # of a view


class Mark(Enum):
    UNLIMITED = "its requests are not rate limited"
    NEEDS_TOKEN = "its form has a token, which no other site knows: any site may send it"


def attributed(name: str, value: object) -> Callable[[View], View]:
    """Decorate a view with an attribute, by which its requests are treated."""

    def decorate(view: View) -> View:
        setattr(view, name, value)
        return view

    return decorate


def marked(mark: Mark) -> Callable[[View], View]:
    return attributed(_MARKS_ATTRIBUTE, mark)


def paths_marked(mark: Mark, rules: Map, views: Mapping[str, Callable[..., Any]]) -> frozenset[str]:
    """Return the paths of the views of an application that have a mark."""
    return frozenset(
        rule.rule
        for rule in rules.iter_rules()
        if getattr(views[rule.endpoint], _MARKS_ATTRIBUTE, None) is mark
    )
