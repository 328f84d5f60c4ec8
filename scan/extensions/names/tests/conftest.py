"""A chain with ENS, indexed, which the tests of a file share and may add names to."""

import pytest

from scan.extensions.names.name_services import Choice, Interface
from scan.extensions.names.tests.ens_chain import EnsChain
from scan.extensions.names.tests.names_of_chain import served, service_of
from tests.support import faulty_node
from tests.support.indexing import Indexing


@pytest.fixture(scope="module")
def ens(shared_anvil):
    return EnsChain(shared_anvil)


@pytest.fixture(scope="module")
def indexing(shared_database_url, ens):
    anvil = ens.anvil
    with Indexing(shared_database_url, anvil.url, until=anvil.head()) as indexing:
        yield indexing


@pytest.fixture(scope="module")
def services(indexing, ens):
    """The service as it reads names by either interface, with a node that may fail."""
    with faulty_node.FaultyNode(ens.anvil.url) as node:
        yield {
            interface: served(ens, indexing, node, Choice(service_of(interface, ens)))
            for interface in Interface
        }


@pytest.fixture(params=[*Interface])
def named(request, services):
    """Applications begin each test as new ones; the node does without its fault."""
    yield services[request.param]
    services[request.param].node.fault = None


@pytest.fixture
def universal(services):
    yield services[Interface.UNIVERSAL]
    services[Interface.UNIVERSAL].node.fault = None
