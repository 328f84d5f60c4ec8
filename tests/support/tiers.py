"""Which tests a run has: those without a mark are of `make test`, those marked `thorough` of
`make test-rest` and `make test-all`, and those marked `long` of `make test-long` alone.

What takes long in `make test` is to be marked: `make test ARGS=--durations=30` names it.
"""

import re
from functools import cache

from _pytest.mark.expression import Expression

from tests.support.serving import ROOT

TIERS = ("test", "thorough", "long")  # the marks, but for the first
MARK = re.compile(r"\bmark\.(thorough|long)\b")
MARK_OF_FILE = re.compile(r"^pytestmark = .*\bmark\.(thorough|long)\b", re.M)


def test_files(root=ROOT):
    return sorted(
        path.relative_to(root).as_posix()
        for folder in ("tests", "scan/extensions")
        for path in (root / folder).rglob("test_*.py")
        if "node_modules" not in path.parts
    )


@cache
def tiers_of_file(path):
    """The tiers whose tests a file may have, by the marks in its text."""
    text = path.read_text(encoding="utf-8")
    marks = {*MARK.findall(text)}
    return marks if MARK_OF_FILE.search(text) else {TIERS[0], *marks}


def tiers_of_run(markexpr):
    """Those which -m chooses, of tests that have no other mark."""
    if not markexpr:
        return {*TIERS}
    chosen = Expression.compile(markexpr)
    return {tier for tier in TIERS if chosen.evaluate(lambda name, of=tier, **_: name == of)}
