"""Prerequisites of views beside the database: while one is missing, the middleware refuses their
requests in the loop, instead of having a thread find out.
"""

from collections.abc import Callable
from enum import Enum

from scan.http import view_marks
from scan.http.view_marks import View

_ATTRIBUTE = "scan_prerequisite"  # of a view


class Prerequisite(Enum):
    NODE = "an answer of the node"
    NODE_FIELDS = "an answer of the node, without which some fields are null"
    LONG_WAIT = "a place to wait in for long, as for a compiler"


Of = Prerequisite | None | Callable[[str], Prerequisite | None]


def requires(prerequisite: Of) -> Callable[[View], View]:
    """Decorate a view with its prerequisite, or with a function that returns it for a query. The
    view waits for its turn where it first needs the node, as caches may have what it needs."""
    return view_marks.attributed(_ATTRIBUTE, prerequisite)


def prerequisite_of(view: object, query: str = "") -> Prerequisite | None:
    """Return the prerequisite that a view, or another object, was decorated with."""
    prerequisite: Of = getattr(view, _ATTRIBUTE, None)
    return prerequisite(query) if callable(prerequisite) else prerequisite
