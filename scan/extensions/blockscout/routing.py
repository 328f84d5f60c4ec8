"""Blueprints whose paths may end in a slash, as some of Blockscout's do."""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Blueprint

_V = TypeVar("_V", bound=Callable[..., Any])


class Routes(Blueprint):
    def path(self, path: str) -> Callable[[_V], _V]:
        """Return a decorator of the view for GET requests of a path."""
        return self.get(path, strict_slashes=False)


def routes(name: str) -> Routes:
    return Routes(f"blockscout_{name}", __name__)
