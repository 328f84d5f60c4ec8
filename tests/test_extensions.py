"""Each extension can be taken away, and an operator can switch it off."""

import os
import random
import re
import shutil
import sys
from contextlib import contextmanager
from functools import cache

import pytest

from scan import registry
from tests.support.copied_tree import NODE_MODULES, tree
from tests.support.extension_tests import FOLDER, files_of_tests, imported, own_extension, used_by
from tests.support.hooks_document import readers_of_modules
from tests.support.serving import ROOT, completed

__all__ = ["tree"]

# The application, its document, its statements and schema, all without a database.
PUT_TOGETHER = """
import app
from scan.database.migrations import read_schema
from scan.database.statements import read_statement, texts
from scan.settings import Settings
application = app.create_app(Settings())
document = application.extensions.get("scan.document", lambda: {"paths": ()})()
text = read_schema() + str(document) + "".join(read_statement(name).text for name in texts())
paths = [rule.rule for rule in application.url_map.iter_rules()]
details = [read_statement(f"queries/{name}_get").text for name in ("blocks", "transactions")]
print(len(paths), len(document["paths"]), *details)
"""


def put_together(folder, **environ):
    env = os.environ | {"PYTHONPATH": str(folder)} | environ
    return completed([sys.executable, "-c", PUT_TOGETHER], cwd=folder, env=env)


@contextmanager
def deleted(tree, names):
    """Moves the folders of extensions away, and back at the end."""
    folder, moved = tree / "scan" / "extensions", tree / "deleted"
    moved.mkdir()
    try:
        for name in names:
            shutil.move(folder / name, moved / name)
        yield
    finally:
        for path in moved.iterdir():
            shutil.move(path, folder / path.name)
        moved.rmdir()


def run(tree, *arguments, timeout_s=120):
    env = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return completed([sys.executable, *arguments], cwd=tree, env=env, timeout=timeout_s)


def gone_without(names):
    """Those extensions, and all that need one of them."""
    gone = set(names)
    for name, extension in registry.installed().items():
        if gone.intersection(extension.needs):
            gone.add(name)
    return frozenset(gone)


def removals():
    """Sets of extensions to take away: of each two, of which the first does not need the second, at
    least one of the sets leaves the first and takes the second; the first sets do so for most."""
    names, chance = sorted(registry.installed()), random.Random(7)
    pairs = {(a, b) for b in names for a in set(names) - gone_without([b])}
    chosen = []

    def separated(gone):
        return {(a, b) for a, b in pairs if a not in gone and b in gone}

    while pairs:
        sizes = min(3, len(names) // 2), min(15, len(names))  # fewer where some are deleted
        tried = [gone_without(chance.sample(names, chance.randint(*sizes))) for _ in range(100)]
        chosen.append(max(tried, key=lambda gone: len(separated(gone))))
        pairs -= separated(chosen[-1])
    return chosen


SETS = removals()
QUICK = 2  # sets that separate most pairs; tests/test_rooms.py has the imports of all
REMOVALS = [
    pytest.param(gone, marks=[pytest.mark.long] if n >= QUICK else [], id=f"{n}")
    for n, gone in enumerate(SETS)
]


@pytest.mark.thorough
@pytest.mark.parametrize("gone", REMOVALS)
def test_the_core_and_the_others_work_without_extensions(gone, tree):
    with deleted(tree, gone):
        result = put_together(tree)
        command = run(tree, "-m", "scan", "--help")
    assert result.returncode == 0, (sorted(gone), result.stderr)
    assert (command.returncode, command.stderr) == (0, ""), sorted(gone)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(registry.installed()))
def test_the_command_works_without_an_extension(name, tree):
    with deleted(tree, gone_without([name])):
        done = run(tree, "-m", "scan", "--help")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(registry.installed()))
def test_all_tests_that_are_left_are_collected_without_an_extension(name, tree):
    with deleted(tree, gone_without([name])):
        done = run(tree, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only")
    assert done.returncode == 0, done.stdout[-3000:]


FEW_REMOVALS = [pytest.param(gone, id=f"{n}") for n, gone in enumerate(SETS[:4])]


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("gone", FEW_REMOVALS)
def test_the_tests_that_are_left_pass_without_extensions(gone, tree):
    with deleted(tree, gone):
        tests = ("-m", "pytest", "-p", "no:cacheprovider", "-m", "check")
        done = run(tree, *tests, timeout_s=1500)
    assert done.returncode == 0, (sorted(gone), done.stdout[-3000:])


@pytest.mark.check
def test_tests_of_the_core_import_no_extension():
    outside = (path for path in (ROOT / "tests").rglob("*.py") if FOLDER not in path.parents)
    offenders = {
        f"{path.relative_to(ROOT)}: {module}"
        for path in outside
        if NODE_MODULES.parent not in path.relative_to(ROOT).parents
        and "extensions" in path.read_text(encoding="utf-8")  # or it need not be parsed
        for module in imported(path)
        if re.match(r"(scan|tests)\.extensions\.", module)
    }
    assert offenders == set()


@pytest.mark.check
def test_tests_of_an_extension_use_what_it_needs_alone():
    """And an extension that it adds something to, where they name it. Those of several stand beside
    the folders; those of what is not there are not collected."""
    used = {path: used_by(path) for path in files_of_tests() if own_extension(path)}
    collected = {path for path in used if used[path] <= registry.installed().keys()}
    assert collected or not registry.installed()
    others = {path: used[path] - may_be_used(own_extension(path), used[path]) for path in collected}
    assert {path: names for path, names in others.items() if names} == {}


def may_be_used(own, used):
    """What an extension's own tests may use of what they do use."""
    return needed_by({own, *added_to(own) & used})


@pytest.mark.check
def test_a_file_of_tests_is_taken_for_no_extension():
    """None that has its name is there: what imports it would never be collected."""
    taken = {str(path): name for path in files_of_tests() for name in used_by(path)}
    files = {path.stem for path in FOLDER.glob("*.py")}
    assert {path for path, name in taken.items() if name in files} == set()


cached_readers = cache(readers_of_modules)


@cache
def added_to(own):
    """The extensions for which it has hooks, or statements that these run."""
    readers, folder = cached_readers(), ROOT / "scan" / "extensions" / own
    of_hooks = {readers[path.stem] for path in folder.rglob("*.py") if path.stem in readers}
    added = of_hooks | ({"backfill"} if [*folder.rglob("sql/bulk")] else set())
    return added & registry.installed().keys()


def needed_by(names):
    """Those extensions, and all that they need."""
    needed = {need for name in names for need in registry.installed()[name].needs}
    return names if needed <= names else needed_by(names | needed)


def test_without_any_extension_the_core_is_left(tree):
    folder = tree / "scan" / "extensions"
    moved = folder.rename(tree / "kept")
    folder.mkdir()
    (folder / "__init__.py").touch()
    try:
        without = put_together(tree)
    finally:
        shutil.rmtree(folder)
        moved.rename(folder)
    assert without.returncode == 0, without.stderr
    assert without.stdout == put_together(tree, SCAN_EXTENSIONS="none").stdout


def test_an_unknown_extension_stops_the_start():
    result = put_together(ROOT, SCAN_EXTENSIONS="user_operations,nothing,")
    assert result.returncode != 0
    assert "SCAN_EXTENSIONS" in result.stderr and "no extension is called nothing" in result.stderr
