"""A node of the demo chain, and an index of it."""

from collections.abc import Iterator

import pytest

from scan.extensions.demo.demo_node import DemoNode, start
from tests.support.database import Postgres, name_in, read_only
from tests.support.folders import run_folder
from tests.support.indexing import Indexing
from tests.support.kept_answers import kept_answers
from tests.support.serving import ROOT

DEMO = ROOT / "demo" / "chain.jsonl.gz"


@pytest.fixture(scope="session")
def demo_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoNode]:
    """A node of each worker's own; all of them answer alike."""
    node = start(DEMO)
    with kept_answers(node.url, run_folder(tmp_path_factory) / "demo-answers"):
        yield node
    node.stop()


@pytest.fixture(scope="session")
def demo_template(postgres: Postgres, template: str, demo_node: DemoNode) -> Iterator[str]:
    """The name of a database with the demo chain."""
    with postgres.cloned(template) as url:
        Indexing(url, demo_node.url).run_until(demo_node.recording.head)
        yield name_in(url)


@pytest.fixture(scope="session")
def demo(postgres: Postgres, demo_template: str, demo_node: DemoNode) -> Iterator[Indexing]:
    """A copy of that database, which can only be read."""
    with postgres.cloned(demo_template) as url, read_only(url):
        yield Indexing(url, demo_node.url)
