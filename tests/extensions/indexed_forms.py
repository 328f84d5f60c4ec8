"""Chains of other forms in an index."""

from contextlib import contextmanager

from scan.extensions.demo.tests.replaying import served
from tests.support.indexing import Indexing

COVERED_TYPES = {*range(5), 0x7B, 0x7D, 0x7E}


# Of chains whose blocks are taken though the encodings of their types are not known.
NAMED_TYPES = {0x7F, *range(0x64, 0x79), 0x71, 0xFE, 0xFF}


@contextmanager
def indexed(chain, postgres, template):
    has_bytes = not {*chain.encodings} <= COVERED_TYPES | NAMED_TYPES  # or it is refused
    with served(chain, has_bytes=has_bytes) as node, postgres.cloned(template) as url:
        yield Indexing(url, node.url).run_until(chain.head), node
