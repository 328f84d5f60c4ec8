"""A contract that is verified."""

import pytest

from scan.extensions.sourcify.tests.submissions import deployed, ended, standard_request, submit


@pytest.fixture(scope="module")
def stored(explorer):
    """A contract verified through this interface."""
    address = deployed(explorer)
    job = ended(explorer, submit(explorer, address, standard_request()))
    assert job["contract"]["match"] == "exact_match", job
    return address
