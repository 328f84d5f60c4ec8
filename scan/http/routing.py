"""Routes that match paths; no URL is built from one."""

from collections.abc import Callable
from typing import Any

from werkzeug.routing import Rule


class MatchedRule(Rule):
    """A route that builds no URLs: compiling the functions for that takes 30 ms of each start."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., Any]:
        return _refuse


def _refuse(rule: Rule, **values: object) -> tuple[str, str]:
    raise NotImplementedError(f"no URL is built from the route {rule.rule}")
