"""Tests of extensions whose folders are there, with a browser; a server as it is run, for tools
that verify through the APIs of other explorers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scan import registry
from tests.support import explorer, extension_tests, receiver
from tests.support.foundry import Foundry, Served, project, served_over


def pytest_ignore_collect(collection_path):
    """Leave out tests that use an extension which is deleted, as its own tests do."""
    is_of_tests = collection_path.match("test_*.py") and "extensions" in collection_path.parts
    if not is_of_tests:
        return None
    return True if extension_tests.used_by(collection_path) - registry.installed().keys() else None


@pytest.fixture(scope="module")
def served(own_explorer: explorer.Explorer, solc_dir: Path) -> Iterator[Served]:
    generous = dict.fromkeys(
        ("SCAN_RATE_LIMIT_ANONYMOUS", "SCAN_RATE_LIMIT_ADDRESS"), "10000/minute"
    )
    with served_over(own_explorer, solc_dir, **generous) as found:
        yield found


@pytest.fixture
def limited(own_explorer: explorer.Explorer, solc_dir: Path) -> Iterator[Served]:
    """With the limits that it has by default."""
    with served_over(own_explorer, solc_dir) as found:
        yield found


@pytest.fixture
def foundry(tmp_path: Path, solc_dir: Path, authority: receiver.Authority) -> Iterator[Foundry]:
    with project(tmp_path, solc_dir, authority) as foundry:
        yield foundry
