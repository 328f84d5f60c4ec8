"""Prerequisites of views beside the database: while one is missing, the middleware refuses their
requests in the loop, instead of having a thread find out."""

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

_V = TypeVar("_V", bound=Callable[..., Any])
_ATTRIBUTE = "scan_prerequisite"  # of a view


class Prerequisite(Enum):
    NODE = "an answer of the node"
    LONG_WAIT = "a place to wait in for long, as for a compiler"


Of = Prerequisite | None | Callable[[str], Prerequisite | None]


def requires(prerequisite: Of) -> Callable[[_V], _V]:
    """Decorate a view with its prerequisite, or with a function that returns it for a query."""

    def decorate(view: _V) -> _V:
        setattr(view, _ATTRIBUTE, prerequisite)
        return view

    return decorate


def prerequisite_of(view: object, query: str = "") -> Prerequisite | None:
    """Return the prerequisite that a view, or another object, was decorated with."""
    prerequisite: Of = getattr(view, _ATTRIBUTE, None)
    return prerequisite(query) if callable(prerequisite) else prerequisite
