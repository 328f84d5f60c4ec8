"""Prerequisites of views beside the database: while one is missing, the middleware refuses their
requests in the loop, or has them wait there, instead of having a thread find out."""

from collections.abc import Callable
from contextlib import ExitStack
from enum import Enum
from functools import wraps
from typing import Any, TypeVar, cast

from flask import request

from scan.http.requests import client_address
from scan.http.services import services
from scan.rate_limits.turns import QueuedPlaces

_V = TypeVar("_V", bound=Callable[..., Any])
_ATTRIBUTE = "scan_prerequisite"  # of a view


class Prerequisite(Enum):
    NODE = "an answer of the node"
    NODE_FIELDS = "an answer of the node, without which some fields are null"
    LONG_WAIT = "a place to wait in for long, as for a compiler"


Of = Prerequisite | None | Callable[[str], Prerequisite | None]


def requires(prerequisite: Of, before: type[QueuedPlaces] | None = None) -> Callable[[_V], _V]:
    """Decorate a view with its prerequisite, or with a function that returns it for a query. One
    that needs the node has its turn at it before it begins, and before that one at the places of
    the service `before`."""

    def decorate(view: _V) -> _V:
        @wraps(view)
        def in_turn(*args: Any, **kwargs: Any) -> Any:
            needed = prerequisite_of(in_turn, request.environ["QUERY_STRING"])
            needs_node = needed in (Prerequisite.NODE, Prerequisite.NODE_FIELDS)
            with ExitStack() as held:
                if needs_node and before is not None:
                    first = services().sources.get(before)
                    held.enter_context(first.place_in_turn(client_address()))
                if needs_node:
                    place = services().waiting_threads.place_in_turn(client_address())
                    held.enter_context(place)
                return view(*args, **kwargs)

        setattr(in_turn, _ATTRIBUTE, prerequisite)
        return cast(_V, in_turn)

    return decorate


def prerequisite_of(view: object, query: str = "") -> Prerequisite | None:
    """Return the prerequisite that a view, or another object, was decorated with."""
    prerequisite: Of = getattr(view, _ATTRIBUTE, None)
    return prerequisite(query) if callable(prerequisite) else prerequisite
