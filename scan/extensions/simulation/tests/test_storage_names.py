"""The variables that a simulated call would change, by their names."""

import pytest

from scan.extensions.transaction_details.tests.storage import conftest


@pytest.fixture(scope="module")
def kept(explorer):
    return conftest.deploy(explorer, {conftest.PATH: conftest.KEPT}, conftest.PATH, "Kept")


def names_of(kept, signature, *values):
    call = {"to": kept.address, "data": conftest.calldata(signature, *values)}
    [outcome] = kept.explorer.client.post("/api/v1/simulate", json={"calls": [call]}).json["calls"]
    [account] = [a for a in outcome["accounts"] if a["address"] == kept.address]
    return [[v["name"] for v in slot["variables"]] for slot in account["storage"]]


def test_what_a_call_would_change(kept):
    assert names_of(kept, "flip()") == [["packed.flag"]]
    page = kept.explorer.client.get(
        "/simulate", query_string={"to": kept.address, "data": conftest.calldata("flip()")}
    )
    assert "packed.flag" in page.text


def test_keys_that_it_would_compute(kept):
    names = names_of(kept, "computed(uint256)", 700)
    assert len(names) == 3
    assert ['byName["no argument"]'] in names
