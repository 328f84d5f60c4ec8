"""Hooks: what extensions bring is what a contract says, and what is misspelt is named."""

import ast
import os
import sys
from functools import cache

import pytest

from tests.support import extensions_document, hooks_document
from tests.support.copied_tree import tree
from tests.support.serving import ROOT, completed

__all__ = ["tree"]
CONTRACTS = {contract.name: contract for contract in hooks_document.contracts()}
MODULES = [path for path in (ROOT / "scan/extensions").rglob("*.py") if "tests" not in path.parts]


@cache
def parts():
    """The modules of extensions that bind HOOKS, each with the objects that it makes."""
    return {
        path: node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for path in MODULES
        if "HOOKS" in (text := path.read_text(encoding="utf-8"))  # others need not be parsed
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HOOKS"
    }


def made_by(node):
    return ast.unparse(node.func).split(".")[-1]


@pytest.mark.check
def test_a_part_stands_in_the_module_of_its_contract():
    """In another module nothing would read it."""
    made = {(path, made_by(node)) for path, nodes in parts().items() for node in nodes}
    # What an extension adds to one that is deleted has no contract.
    known = {(path, CONTRACTS[name]) for path, name in made if name in CONTRACTS}
    assert not [(path, c.module) for path, c in known if path.stem not in (c.module, c.chapter)]
    assert len(known) == len(made) or extensions_document.taken_away()


@pytest.mark.check
def test_a_module_of_a_contract_s_name_is_a_part():
    named = {name for c in CONTRACTS.values() for name in (c.module, c.chapter)}
    assert {path for path in MODULES if path.stem in named} - parts().keys() == set()


READ = "from scan import registry; from scan.{} import {} as part; registry.parts(part)"
PAGES, DERIVED = READ.format("pages.hooks", "Pages"), READ.format("indexer.hooks", "Derived")
BROKEN = {
    "unknown": ("views.py", "menu=(", "menue=(", PAGES, "it has no hook menue; did you mean menu?"),
    "missing": ("derived.py", "derive=derive,\n", "", DERIVED, "missing 1 required keyword-only"),
    "unbound": ("views.py", "HOOKS = ", "HOOK = ", PAGES, "HOOKS is no Pages"),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("file", "old", "new", "program", "message"), BROKEN.values(), ids=BROKEN)
def test_a_part_that_breaks_its_contract_is_named(tree, file, old, new, program, message):
    path = tree / "scan" / "extensions" / "markets" / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    env = os.environ | {"PYTHONPATH": str(tree)}
    done = completed([sys.executable, "-c", program], cwd=tree, env=env)
    path.write_text(text, encoding="utf-8")
    *_, last = done.stderr.splitlines()
    assert last.startswith("scan.errors.SettingError: SCAN_EXTENSIONS")
    assert f"{file} of the extension markets is wrong: " in last and message in last
