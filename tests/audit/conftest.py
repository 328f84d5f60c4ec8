"""The scenario's index, once for these tests, and copies of it to be spoilt."""

from dataclasses import replace

import pytest

from tests.support.database import name_in
from tests.support.indexing import Indexing


@pytest.fixture(scope="package")
def finished(postgres, template, scenario):
    """The scenario's index, with nobody connected to it."""
    with postgres.cloned(template) as url:
        indexing = Indexing(url, scenario.anvil.url, logs="all").run_until(scenario.anvil.head())
        yield indexing.settings


@pytest.fixture
def copied(finished, clone):
    """A copy of it, to be spoilt."""
    return replace(finished, database_url=clone(name_in(finished.database_url)))
