"""Prerequisites of views beside the database: while one is missing, the loop refuses their requests
at once, instead of having a thread find out."""

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from werkzeug.exceptions import HTTPException
from werkzeug.routing.exceptions import RoutingException

from scan.errors import Unavailable
from scan.ethereum.request_node import NodeGateway
from scan.http.request_state import RequestState
from scan.http.routing import Routes
from scan.rate_limits.concurrency import WaitingThreads

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


class Prerequisites:
    """The prerequisites of the views of one application."""

    def __init__(
        self, routes: Routes, gateway: NodeGateway, waiting_threads: WaitingThreads
    ) -> None:
        self._routes = routes
        self._gateway = gateway
        self._waiting_threads = waiting_threads

    def refusal(self, state: RequestState) -> Unavailable | None:
        """Return the error with which a thread would refuse the request now, else None: nearly
        always, since no thread waits."""
        if not self._waiting_threads.taken or state.interface is None:
            return None
        refusal_of_node = self._gateway.refusal(state.client)
        refusal_of_wait = self._waiting_threads.refusal_for_long(state.client)
        if refusal_of_node is None and refusal_of_wait is None:
            return None
        prerequisite = self._prerequisite(state)
        if prerequisite is Prerequisite.NODE:
            return refusal_of_node
        return refusal_of_wait if prerequisite is Prerequisite.LONG_WAIT else None

    def _prerequisite(self, state: RequestState) -> Prerequisite | None:
        try:
            rule, _ = self._routes.find(state.path, state.method)
        except (HTTPException, RoutingException):
            return None
        state.route = rule.rule
        return prerequisite_of(
            self._routes.views[rule.endpoint], state.environ.get("QUERY_STRING", "")
        )
