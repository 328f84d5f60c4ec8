"""A node of the test's own whose answers it may alter."""

import pytest

from tests.support.faulty_node import FaultyNode


@pytest.fixture
def node(anvil):
    with FaultyNode(anvil.url) as proxy:
        yield proxy
