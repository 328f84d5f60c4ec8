"""The routes of an application: which one a path has, its methods, and which one is near."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from werkzeug.routing import Map, Rule

from scan.cached_values import cached_property
from scan.http.interfaces import API

LEAST_LIKENESS = 0.7
LONGEST_PATH = 150  # comparing takes the product of both lengths

_VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")


class MatchedRule(Rule):
    """A route that builds no URLs: compiling the functions for that takes 30 ms of each start."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., Any]:
        return _refuse


def _refuse(rule: Rule, **values: object) -> tuple[str, str]:
    raise NotImplementedError(f"no URL is built from the route {rule.rule}")


class Routes:
    """The routes of an application, all of which are there when the first one is looked for."""

    def __init__(self, rules: Map, views: Mapping[str, Callable[..., Any]]) -> None:
        self._rules = rules
        self._adapter = rules.bind("")
        self.views = views

    @cached_property
    def _fixed(self) -> Mapping[tuple[str, str], Rule]:
        """Those of paths without arguments, by path and method: matching takes 9 us."""
        return {
            (rule.rule, method): rule
            for rule in self._rules.iter_rules()
            if not rule.arguments
            for method in rule.methods or ()
        }

    def find(self, path: str, method: str) -> tuple[Rule, Mapping[str, Any]]:
        """Return the route and its arguments; raises HTTPException or RoutingException."""
        rule = self._fixed.get((path, method))
        if rule is not None:
            return rule, {}
        matched: tuple[Rule, Mapping[str, Any]]
        matched = self._adapter.match(path, method, return_rule=True)
        return matched

    def allowed_methods(self, path: str) -> Iterable[str]:
        return self._adapter.allowed_methods(path)

    def nearest(self, path: str) -> str | None:
        """Return the path that was probably meant by an unknown one, of the API and of what is
        beside it, with its variables as :name; pages are for people, who follow links."""
        if len(path) > LONGEST_PATH:
            return None
        rules = self._rules.iter_rules()
        paths = [rule.rule for rule in rules if not rule.endpoint.startswith("pages_")]
        likeness, nearest = max((_likeness(path, other), other) for other in paths)
        return _VARIABLE.sub(r":\1", nearest) if likeness >= LEAST_LIKENESS else None


def _likeness(path: str, rule: str) -> float:
    """Return a likeness from 0 to 1; the prefix and the values of variables do not count."""
    segments = path.removeprefix(API).rstrip("/").split("/")
    rule_segments = rule.removeprefix(API).split("/")
    for index in range(1, min(len(segments), len(rule_segments))):
        if _VARIABLE.fullmatch(rule_segments[-index]):
            segments[-index] = rule_segments[-index] = ":"
    matcher = difflib.SequenceMatcher(None, "/".join(segments), "/".join(rule_segments))
    return matcher.ratio() if matcher.real_quick_ratio() >= LEAST_LIKENESS else 0.0
