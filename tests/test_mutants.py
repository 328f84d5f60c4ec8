"""What `make mutants` changes: see tests/mutants.py."""

import pytest

from tests.mutants import mutants

pytestmark = pytest.mark.check


@pytest.mark.parametrize(
    ("place", "text", "changed"),
    [
        ("a.py", 'x = a < 1  # <\ny = "<"\n', ["a <= 1", "a < 2"]),
        ("a.py", "x = not a and é + b\n", ["=  a and", "not a or é", "é - b"]),
        ("a.py", "def f(*, a: int = -1) -> None: ...\n", ["a: int = +1", "a: int = -2"]),
        (
            "a.sql",
            "SELECT max(a) FROM t WHERE b <> '=' AND c = %(d)s -- =",
            ["min(a)", "b = '=' AND", "'=' OR c", "c <> %(d)s -- ="],
        ),
    ],
)
def test_one_operator_word_or_number_is_changed_at_a_time(
    place: str, text: str, changed: list[str]
) -> None:
    found = [mutant.text for mutant in mutants(place, text)]
    assert len(found) == len(changed)
    assert all(part in mutant for part, mutant in zip(changed, found, strict=True))
