"""The project's tree in files of a test's own."""

import shutil
from pathlib import Path

import pytest

from tests.support.serving import ROOT

NODE_MODULES = Path("tests/support/node/node_modules")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The whole tree but for what is installed in it, in files of its own; with its bytecode, or
    the first Python that is started there would compile all of it."""
    folder = tmp_path_factory.mktemp("tree") / "scan"
    installed = (".git", ".venv", ".*_cache", ".hypothesis", "*.egg-info", "node_modules", "built")
    unfinished = "*.pyc.*"  # which another worker renames once it is written
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*installed, unfinished, "var"))
    (folder / NODE_MODULES).symlink_to(ROOT / NODE_MODULES)
    return folder
