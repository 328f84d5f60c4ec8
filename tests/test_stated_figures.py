"""The figures of the guides are promises: a bound that changes has to change there, too. What the
bounds do is shown by the tests of what they bound."""

import tomllib
from importlib import import_module

import pytest

from tests.support import extension_tests, extensions_document
from tests.support.serving import ROOT

pytestmark = pytest.mark.check

STATED = tomllib.loads((ROOT / "tests/support/stated_figures.toml").read_text(encoding="utf-8"))


def holds(source, stated):
    """Whether `module: expression` has the value, or a file has all of the texts, or neither is
    there since its extension is deleted."""
    module, _, expression = source.partition(": ")
    if not extension_tests.is_there(f"scan.{module}" if expression else source.replace("/", ".")):
        return True
    if not expression:
        content = (ROOT / source).read_text(encoding="utf-8")
        return all(text in content for text in stated)
    try:
        value = eval(expression, dict(vars(import_module(f"scan.{module}"))))
    except ModuleNotFoundError:  # what it adds to another one, which is deleted
        return bool(extensions_document.taken_away())
    return bool(stated == ([*value] if isinstance(value, tuple) else value))


# Evaluated when this is imported: while tests run, some bounds are wider.
WRONG = {
    guide: [s for sources in stated.values() for s in sources if not holds(s, sources[s])]
    for guide, stated in STATED.items()
}


# A guide may be deleted with its extension.
@pytest.mark.parametrize("guide", [guide for guide in STATED if (ROOT / "docs" / guide).exists()])
def test_a_guide_states_what_holds(guide):
    text = " ".join((ROOT / "docs" / guide).read_text(encoding="utf-8").split())
    assert [phrase for phrase in STATED[guide] if phrase not in text] == []
    assert WRONG[guide] == []
