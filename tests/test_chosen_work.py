"""Work whose amount a stranger chooses: its budget, and the test that tries to exceed it."""

import ast
import tomllib
from functools import cache
from importlib import import_module

import pytest

from tests.support import extension_tests
from tests.support.serving import ROOT

pytestmark = pytest.mark.check

LAYERS = tomllib.loads((ROOT / "tests/chosen_work.toml").read_text(encoding="utf-8"))


def is_there(entry):
    """Whether neither the work nor its test is of an extension that is deleted."""
    _, (_, budget, test) = entry
    modules = "scan." + budget.partition(":")[0], test.partition(".py")[0].replace("/", ".")
    return all(map(extension_tests.is_there, modules))


@cache
def functions(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


WORK = [entry for layer in LAYERS.values() for entry in layer.items() if is_there(entry)]


@pytest.mark.parametrize(("work", "entry"), WORK, ids=[work for work, _ in WORK])
def test_work_that_strangers_choose_has_a_budget_and_a_test(work, entry):
    _, budget, test = entry
    module, _, name = budget.partition(": ")
    assert vars(import_module(f"scan.{module}"))[name] > 0, work
    file, _, function = test.partition("::")
    assert function in functions(file), work
