"""Each extension can be taken away, and an operator can switch it off."""

import os
import random
import re
import shutil
import sys
from contextlib import contextmanager

import pytest

from scan import registry
from tests.support.copied_tree import NODE_MODULES, tree
from tests.support.extension_tests import FOLDER, imported
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


def run(tree, *arguments, timeout_s=120, **environ):
    env = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"} | environ
    return completed([sys.executable, *arguments], cwd=tree, env=env, timeout=timeout_s)


def gone_without(names):
    """Those extensions, and all that need one of them."""
    gone = set(names)
    for name, extension in registry.installed().items():
        if gone.intersection(extension.needs):
            gone.add(name)
    return frozenset(gone)


NAMES, CHANCE = sorted(registry.installed()), random.Random(7)
SEVERAL = [gone_without(CHANCE.sample(NAMES, len(NAMES) // 4)) for _ in range(4)]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "gone",
    [
        SEVERAL[0],
        *([pytest.param(gone_without([name]), marks=pytest.mark.long, id=name) for name in NAMES]),
    ],
)
def test_the_core_and_the_others_work_without_extensions(gone, tree):
    with deleted(tree, gone):
        result = run(tree, "-c", PUT_TOGETHER)
        command = run(tree, "-m", "scan", "--help")
        tests = run(tree, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only")
    assert result.returncode == 0, (sorted(gone), result.stderr)
    assert (command.returncode, command.stderr) == (0, ""), sorted(gone)
    assert tests.returncode == 0, (sorted(gone), tests.stdout[-3000:])


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("gone", SEVERAL)
def test_the_tests_that_are_left_pass_without_extensions(gone, tree):
    with deleted(tree, gone):
        tests = ("-m", "pytest", "-p", "no:cacheprovider", "-m", "check")
        done = run(tree, *tests, timeout_s=1500)
    assert done.returncode == 0, (sorted(gone), done.stdout[-3000:])


def test_a_missing_need_is_named_by_every_command(tree):
    with deleted(tree, ["items"]):
        done = run(tree, "-m", "scan", "--help")
    assert done.returncode == 2
    assert "the extension token_lists needs items, whose folder is missing" in done.stderr


def test_without_any_extension_the_core_is_left(tree):
    folder = tree / "scan" / "extensions"
    moved = folder.rename(tree / "kept")
    folder.mkdir()
    (folder / "__init__.py").touch()
    try:
        without = run(tree, "-c", PUT_TOGETHER)
    finally:
        shutil.rmtree(folder)
        moved.rename(folder)
    assert without.returncode == 0, without.stderr
    assert without.stdout == run(tree, "-c", PUT_TOGETHER, SCAN_EXTENSIONS="none").stdout


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
    done = run(tree, "-c", program)
    path.write_text(text, encoding="utf-8")
    *_, last = done.stderr.splitlines()
    assert last.startswith("scan.errors.SettingError: SCAN_EXTENSIONS")
    assert f"{file} of the extension markets is wrong: " in last and message in last
