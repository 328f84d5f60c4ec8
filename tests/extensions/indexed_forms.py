"""Chains of other forms in an index."""

from contextlib import contextmanager

from scan.extensions.demo.tests.replaying import served
from tests.support.indexing import Indexing


@contextmanager
def indexed(chain, postgres, template):
    with served(chain) as node, postgres.cloned(template) as url:
        yield Indexing(url, node.url).run_until(chain.head), node
