"""The size of the project goes only downwards: tests/size.toml has the most lines of code.

A capability takes away as many lines as it adds. Where it cannot, its commit says why and raises
the figure by hand; a commit that ends below one lowers it: `python -m tests.test_size`.
"""

import re
import tomllib
from functools import cache

import pytest

from tests.support import extensions_document
from tests.support.serving import ROOT

FIGURES = ROOT / "tests" / "size.toml"
# At the start of a module, or after the line that ends the head of a class or function.
DOCSTRING = re.compile(
    r"(\A(?:[ \t]*(?:#[^\n]*)?\n)*|:(?:  #[^\n]*)?\n(?:[ \t]*\n)*)"
    r'[ \t]*r?"""(?:[^"\\]|\\.|"(?!""))*"""',
    re.S,
)
CODE = re.compile(r"^[ \t]*[^\s#]", re.M)


def _code(paths):
    """Lines without blanks, comments and docstrings."""
    texts = (path.read_text(encoding="utf-8") for path in paths)
    return sum(len(CODE.findall(DOCSTRING.sub(r"\1", text))) for text in texts)


@cache
def sizes():
    """Return what tests/size.toml has: lines of code."""
    parts = {path: path.relative_to(ROOT).parts for path in (ROOT / "scan").rglob("*.py")}
    scan = [path for path in parts if not {"resources", "tests"} & {*parts[path]}]
    core = [path for path in scan if "extensions" not in parts[path]]
    tests = [path for path in parts if "tests" in parts[path]]
    tests += [p for p in (ROOT / "tests").rglob("*.py") if "node_modules" not in p.parts]
    statements = [ROOT / "schema.sql", *(ROOT / "sql").rglob("*.sql*")]
    statements += [*(ROOT / "scan" / "extensions").rglob("*.sql*")]
    return {
        "scan": _code(scan),
        "core": _code(core),
        "sql": sum(
            bool(re.match(r"\s*(?!--)\S", line))
            for path in statements
            for line in path.read_text(encoding="utf-8").splitlines()
        ),
        "tests": _code(tests),
    }


@pytest.mark.check
def test_the_project_does_not_grow():
    most = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
    larger = {name: size for name, size in sizes().items() if size > most[name]}
    assert not larger, f"larger than {FIGURES.name}: {larger}; take lines away, or say why not"


@pytest.mark.check
def test_the_figures_follow_the_code_downwards():
    most = tomllib.loads(FIGURES.read_text(encoding="utf-8"))
    slack = 100  # lines by which a figure may stand above the code
    lower = {name: size for name, size in sizes().items() if most[name] - size > slack}
    assert extensions_document.taken_away() or not lower, f"lower those of {FIGURES.name}: {lower}"


if __name__ == "__main__":
    FIGURES.write_text("".join(f"{name} = {size}\n" for name, size in sizes().items()))
