"""Tests of extensions whose folders are there, with a browser; a server as it is run, for tools
that verify through the APIs of other explorers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scan import registry
from tests.support.page_fixtures import browser, explorer_url, hostile, page  # noqa: F401  # fixtures
from tests.support.explorer import Explorer
from tests.support.extension_tests import own_extension, used_by
from tests.support.foundry import Foundry, Served, project, served_over
from tests.support.receiver import Authority


def pytest_ignore_collect(collection_path):
    """Leave out tests that use an extension which is deleted, as its own tests do."""
    if collection_path.name.startswith(("_", "conftest")):
        return None
    if collection_path.is_dir():
        used = {own_extension(collection_path)}
    else:
        used = used_by(collection_path) if collection_path.suffix == ".py" else set()
    return True if used - registry.installed().keys() else None


@pytest.fixture(scope="module")
def served(own_explorer: Explorer, solc_dir: Path) -> Iterator[Served]:
    generous = dict.fromkeys(
        ("SCAN_RATE_LIMIT_ANONYMOUS", "SCAN_RATE_LIMIT_ADDRESS"), "10000/minute"
    )
    with served_over(own_explorer, solc_dir, **generous) as found:
        yield found


@pytest.fixture
def limited(own_explorer: Explorer, solc_dir: Path) -> Iterator[Served]:
    """With the limits that it has by default."""
    with served_over(own_explorer, solc_dir) as found:
        yield found


@pytest.fixture
def foundry(tmp_path: Path, solc_dir: Path, authority: Authority) -> Iterator[Foundry]:
    with project(tmp_path, solc_dir, authority) as foundry:
        yield foundry
