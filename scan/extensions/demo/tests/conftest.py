"""A node of the demo chain, and an index of it."""

import pytest

from scan.extensions.demo.demo_node import RECORDING, start
from tests.support import database, folders, indexing
from tests.support.kept_answers import kept_answers


@pytest.fixture(scope="session")
def demo_node(tmp_path_factory):
    """A node of each worker's own; all of them answer alike."""
    node = start(RECORDING)
    with kept_answers(node.url, folders.run_folder(tmp_path_factory) / "demo-answers"):
        yield node
    node.stop()


@pytest.fixture(scope="session")
def demo_template(postgres, template, demo_node):
    """The name of a database with the demo chain."""
    with postgres.cloned(template) as url:
        indexing.Indexing(url, demo_node.url).run_until(demo_node.recording.head)
        yield database.name_in(url)
