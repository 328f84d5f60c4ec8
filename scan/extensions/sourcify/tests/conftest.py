"""A contract that is verified."""

import pytest

from scan.extensions.sourcify.tests.submissions import deployed, ended, standard_request, submit
from tests.support.explorer import Explorer


@pytest.fixture(scope="module")
def stored(explorer: Explorer) -> str:
    """A contract verified through this interface."""
    address = deployed(explorer)
    job = ended(explorer, submit(explorer, address, standard_request()))
    assert job["contract"]["match"] == "exact_match", job
    return address
