"""Two sources side by side: what differs, in pairs of files, within bounds."""

import random
import subprocess
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from scan.extensions.contract_details import comparison
from scan.extensions.contract_details.comparison import MAX_LINE, MAX_ROWS, Source, compare
from tests.support import WAIT_S, expected
from tests.support.explorer import standard_input

BASE = "pragma solidity ^0.8.0; abstract contract Base { uint256 public base; }"
FIRST = Path(__file__).with_name("Box.sol").read_text()
SECOND = FIRST.replace("contract Box", "contract Crate").replace("value = to;", "value = to + 1;")


@pytest.mark.check
def test_files_are_paired_by_what_they_are():
    first = Source({"a/Box.sol": FIRST, "lib/Base.sol": BASE, "x/Same.sol": "1", "Gone.sol": "2"},
                   "a/Box.sol")  # fmt: skip
    second = Source({"b/Crate.sol": SECOND, "src/Base.sol": BASE, "y/Same.sol": "3", "New.sol": ""},
                    "b/Crate.sol")  # fmt: skip
    pairs = compare(first, second)
    assert {(pair.path, pair.other_path, pair.status) for pair in pairs} == {
        ("a/Box.sol", "b/Crate.sol", "changed"),
        ("lib/Base.sol", "src/Base.sol", "equal"),
        ("x/Same.sol", "y/Same.sol", "changed"),
        ("Gone.sol", None, "removed"),
        (None, "New.sol", "added"),
    }
    assert [pair.status for pair in pairs] == "changed changed removed added equal".split()


@pytest.mark.check
@pytest.mark.parametrize("seed", range(20))
def test_changes_are_a_patch(seed, tmp_path):
    """git makes the other file of the one."""
    choices = random.Random(seed)
    lines = [choices.choice(["a", "b", "}", f"{n}"]) for n in range(choices.randint(1, 300))]
    changed = list(lines)
    for _ in range(choices.randint(1, 30)):
        at = choices.randint(0, len(changed))
        changed[at : at + choices.randint(0, 3)] = ["new"] * choices.randint(0, 3)
    one, other = "\n".join([*lines, "end"]), "\n".join([*changed, "end"])
    [pair] = compare(Source({"f": one}, "f"), Source({"f": other}, "f"))
    assert pair.status == "changed"
    (tmp_path / "f").write_text(one + "\n")
    given = f"--- f\n+++ f\n{pair.unified()}"
    options = {"cwd": tmp_path, "check": True, "timeout": WAIT_S}
    subprocess.run(["git", "apply", "-p0"], input=given.encode(), **options)
    assert (tmp_path / "f").read_text() == other + "\n"


@pytest.mark.check
def test_files_that_take_too_many_steps(monkeypatch):
    calls = []
    original = SequenceMatcher.find_longest_match

    def counted(self, alo, ahi, blo, bhi):
        calls.append(ahi - alo)
        return original(self, alo, ahi, blo, bhi)

    monkeypatch.setattr(SequenceMatcher, "find_longest_match", counted)
    words = [f"{n % 190}" for n in range(199)] * 400
    one, other = (
        Source({str(n): "\n".join([*text, str(n)]) for n in range(20)}, "0")
        for text in (words, words[::-1])
    )
    pairs = compare(one, other)
    assert any(pair.parts is None and pair.unified() is None for pair in pairs)
    assert sum(calls) <= comparison.MAX_STEPS


@pytest.mark.check
def test_many_and_long_lines():
    one = "\n".join(f"{n} {'x' * 2 * MAX_LINE}" for n in range(MAX_ROWS))
    [pair] = compare(Source({"f": one}, "f"), Source({"f": one.replace("x", "y")}, "f"))
    assert pair.parts is not None and sum(map(len, pair.parts)) == MAX_ROWS
    assert max(len(row.text or "") for part in pair.parts for row in part) == MAX_LINE
    [pair] = compare(Source({"f": one + "\nz"}, "f"), Source({"f": one.replace("x", "y")}, "f"))
    assert pair.parts is None


def test_two_verified_contracts_are_compared_as_expected(explorer):
    first, second = (
        explorer.verified(standard_input({p: text, "Base.sol": BASE}), "0.8.28", f"{p}:{p[:-4]}")
        for text, p in ((FIRST, "Box.sol"), (SECOND, "Crate.sol"))
    )
    names = {"Box": first, "Crate": second, "unverified": explorer.place("6001600155")}
    expected.compare(__file__, explorer.client, names)
    answer = explorer.client.get(f"/address/{first}/compare?with={second}")
    assert answer.location == f"/address/{first}/compare/{second}"
