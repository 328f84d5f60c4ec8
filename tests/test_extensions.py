"""Each extension can be taken away, and an operator can switch it off."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from scan import registry
from tests.support.serving import ROOT

COPIED = ("app.py", "schema.sql", "gunicorn.conf.py", "scan", "sql", "migrations", "demo", "docs")
# The application, its document, its statements and schema, all without a database.
PUT_TOGETHER = """
import app
from scan.database.migrations import read_schema
from scan.database.statements import load_statements
from scan.settings import Settings
application = app.create_app(Settings())
document = application.extensions.get("scan.document", lambda: {"paths": ()})()
statements = load_statements()
text = read_schema() + str(document) + "".join(s.text for s in statements.values())
paths = [rule.rule for rule in application.url_map.iter_rules()]
details = [statements[f"queries/{name}_get"].text for name in ("blocks", "transactions")]
print(len(paths), len(document["paths"]), *details)
"""


def put_together(folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PUT_TOGETHER],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)} | environ,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    return folder


def gone_without(names: Iterable[str]) -> frozenset[str]:
    """Those extensions, and all that need one of them."""
    gone = set(names)
    for name, extension in registry.installed().items():
        if gone.intersection(extension.needs):
            gone.add(name)
    return frozenset(gone)


def removals() -> list[frozenset[str]]:
    """Sets of extensions to take away: of each two, of which the first does not need the second, at
    least one of the sets leaves the first and takes the second; the first sets do so for most."""
    names, chance = sorted(registry.installed()), random.Random(7)
    pairs = {(a, b) for b in names for a in set(names) - gone_without([b])}
    chosen: list[frozenset[str]] = []

    def separated(gone: frozenset[str]) -> set[tuple[str, str]]:
        return {(a, b) for a, b in pairs if a not in gone and b in gone}

    while pairs:
        tried = [gone_without(chance.sample(names, chance.randint(3, 15))) for _ in range(100)]
        chosen.append(max(tried, key=lambda gone: len(separated(gone))))
        pairs -= separated(chosen[-1])
    return chosen


QUICK = 4  # sets that separate two pairs of three; tests/test_rooms.py has the imports of all
REMOVALS = [
    pytest.param(gone, marks=[pytest.mark.long] if n >= QUICK else [], id=f"{n}")
    for n, gone in enumerate(removals())
]


@pytest.mark.parametrize("gone", REMOVALS)
def test_the_core_and_the_others_work_without_extensions(gone, tree):
    moved = tree / "gone"
    moved.mkdir()
    try:
        for folder in gone:
            shutil.move(tree / "scan" / "extensions" / folder, moved / folder)
        result = put_together(tree)
        assert result.returncode == 0, (sorted(gone), result.stderr)
    finally:
        for folder in gone:
            shutil.move(moved / folder, tree / "scan" / "extensions" / folder)
        moved.rmdir()


def test_without_any_extension_the_core_is_left(tree):
    folder = tree / "scan" / "extensions"
    kept = folder.rename(tree / "kept")
    folder.mkdir()
    (folder / "__init__.py").touch()
    try:
        without = put_together(tree)
    finally:
        shutil.rmtree(folder)
        kept.rename(folder)
    assert without.returncode == 0, without.stderr
    assert without.stdout == put_together(tree, SCAN_EXTENSIONS="none").stdout


def test_an_unknown_extension_stops_the_start():
    result = put_together(ROOT, SCAN_EXTENSIONS="user_operations,nothing,")
    assert result.returncode != 0
    assert "SCAN_EXTENSIONS" in result.stderr and "no extension is called nothing" in result.stderr


def test_a_chain_whose_form_is_off_is_not_indexed():
    program = (
        "from scan.ethereum.forms.matching import require_form;"
        "require_form(1); print('Ethereum'); require_form(10)"
    )
    environ = os.environ | {"SCAN_EXTENSIONS": "none"}
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environ, capture_output=True, text=True
    )
    assert result.stdout == "Ethereum\n"
    assert "the form of chain 10 is of the extension op_stack, which is off" in result.stderr
