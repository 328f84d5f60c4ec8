"""A node of the demo chain, and an index of it."""

import pytest

from scan.extensions.demo.demo_node import start
from tests.support.database import name_in, read_only
from tests.support.folders import run_folder
from tests.support.indexing import Indexing
from tests.support.kept_answers import kept_answers
from tests.support.serving import ROOT

DEMO = ROOT / "demo" / "chain.jsonl.gz"


@pytest.fixture(scope="session")
def demo_node(tmp_path_factory):
    """A node of each worker's own; all of them answer alike."""
    node = start(DEMO)
    with kept_answers(node.url, run_folder(tmp_path_factory) / "demo-answers"):
        yield node
    node.stop()


@pytest.fixture(scope="session")
def demo_template(postgres, template, demo_node):
    """The name of a database with the demo chain."""
    with postgres.cloned(template) as url:
        Indexing(url, demo_node.url).run_until(demo_node.recording.head)
        yield name_in(url)


@pytest.fixture(scope="session")
def demo(postgres, demo_template, demo_node):
    """A copy of that database, which can only be read."""
    with postgres.cloned(demo_template) as url, read_only(url):
        yield Indexing(url, demo_node.url)
