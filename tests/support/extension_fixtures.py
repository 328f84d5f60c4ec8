"""Tests of extensions whose folders are there, with a browser; a server as it is run, for tools
that verify through the APIs of other explorers."""

import pytest

from scan import registry
from tests.support import extension_tests
from tests.support.database import execute, read_only
from tests.support.foundry import project, served_over
from tests.support.indexing import Indexing


def pytest_ignore_collect(collection_path):
    """Leave out tests that use an extension which is deleted, as its own tests do."""
    if not (collection_path.match("test_*.py") and "extensions" in collection_path.parts):
        return None
    return True if extension_tests.used_by(collection_path) - registry.installed().keys() else None


@pytest.fixture(scope="session")
def indexed_without_bodies(postgres, indexed_template, scenario):
    """The scenario's index as it is with SCAN_BODIES=off."""
    with postgres.cloned(indexed_template) as url:
        execute(url, "DELETE FROM block_bodies; DELETE FROM bodies_from")
        with read_only(url):
            yield Indexing(url, scenario.anvil.url)


@pytest.fixture(scope="module")
def served(own_explorer, solc_dir):
    generous = dict.fromkeys(
        ("SCAN_RATE_LIMIT_ANONYMOUS", "SCAN_RATE_LIMIT_ADDRESS"), "10000/minute"
    )
    with served_over(own_explorer, solc_dir, **generous) as server:
        yield server


@pytest.fixture
def limited(own_explorer, solc_dir):
    """With the limits that it has by default."""
    with served_over(own_explorer, solc_dir) as server:
        yield server


@pytest.fixture
def foundry(tmp_path, solc_dir, authority):
    with project(tmp_path, solc_dir, authority) as foundry:
        yield foundry
