"""Nodes that replay made chains: `-m scan.extensions.demo.tests.replaying NAME` is one."""

import sys
import threading
from contextlib import contextmanager

from scan.extensions.demo.demo_node import DemoNode, Recording
from tests.support.chain_forms.forms import FORMS
from tests.support.faulty_node import FaultyNode


@contextmanager
def served(chain, fault=None, **lines):
    """A node of a made chain; `fault` may alter what it answers."""
    recording = DemoNode(Recording(chain.lines(**lines)))
    with FaultyNode(recording.url, fault) as node:
        yield node
    recording.stop()


if __name__ == "__main__":
    with served(FORMS[sys.argv[1]]()) as node:
        print(node.url, flush=True)
        threading.Event().wait()
