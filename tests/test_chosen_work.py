"""Work whose amount a stranger chooses: its budget, and the test that tries to exceed it."""

import ast
import tomllib
from functools import cache
from importlib import import_module

import pytest

from tests.support import extension_tests
from tests.support.serving import ROOT

pytestmark = pytest.mark.check

WORK = [
    entry
    for layer in tomllib.loads(
        (ROOT / "tests/chosen_work.toml").read_text(encoding="utf-8")
    ).values()
    for entry in layer.items()
]


@cache
def functions(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("work", "entry"), WORK, ids=[work for work, _ in WORK])
def test_work_that_strangers_choose_has_a_budget_and_a_test(work, entry):
    _, budget, test = entry
    module, _, name = budget.partition(": ")
    if extension_tests.is_there(f"scan.{module}"):
        assert vars(import_module(f"scan.{module}"))[name] > 0, work
        file, _, function = test.partition("::")
        assert function in functions(file), work
