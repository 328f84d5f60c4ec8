"""Finds the path of the API that was probably meant by an unknown one."""

import difflib
import re
from collections.abc import Iterable

from scan.http.interfaces import API

LEAST_LIKENESS = 0.7
LONGEST_PATH = 150  # comparing takes the product of both lengths

_VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")


def nearest_path(path: str, rules: Iterable[str]) -> str | None:
    """Return the nearest rule with its variables as :name, or None if none is near."""
    if len(path) > LONGEST_PATH:
        return None
    likeness, rule = max((_likeness(path, rule), rule) for rule in rules)
    return _VARIABLE.sub(r":\1", rule) if likeness >= LEAST_LIKENESS else None


def _likeness(path: str, rule: str) -> float:
    """Return a likeness from 0 to 1; the prefix and the values of variables do not count."""
    segments = path.removeprefix(API).rstrip("/").split("/")
    rule_segments = rule.removeprefix(API).split("/")
    for index in range(1, min(len(segments), len(rule_segments))):
        if _VARIABLE.fullmatch(rule_segments[-index]):
            segments[-index] = rule_segments[-index] = ":"
    matcher = difflib.SequenceMatcher(None, "/".join(segments), "/".join(rule_segments))
    return matcher.ratio() if matcher.real_quick_ratio() >= LEAST_LIKENESS else 0.0
