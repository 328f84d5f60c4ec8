"""Nodes that replay made chains."""

from contextlib import contextmanager

from scan.extensions.demo.demo_node import DemoNode, Recording
from tests.support.faulty_node import FaultyNode


@contextmanager
def served(chain, fault=None, **lines):
    """A node of a made chain; `fault` may alter what it answers."""
    recording = DemoNode(Recording(chain.lines(**lines)))
    with FaultyNode(recording.url, fault) as node:
        yield node
    recording.stop()
