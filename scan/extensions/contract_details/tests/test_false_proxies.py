"""Pages of a verified contract that names an account without code as its implementation."""

import pytest

from tests.support.many_functions import PROXY, SLOT, verified


@pytest.mark.parametrize(
    ("name", "named"), [("Nowhere", "0x" + 38 * "0" + "e7"), ("Precompiled", "0x" + 39 * "0" + "4")]
)
def test_every_page_of_it_is_shown(explorer, name, named):
    tabs = ("contract", "transactions", "internal", "transfers", "tokens", "events")
    source = PROXY.replace("contract Proxy", f"contract {name}")
    address = verified(explorer, source, name, named[2:].rjust(64, "0") + SLOT)
    client = explorer.client
    page = client.get(f"/address/{address}?tab=contract")
    assert page.status_code == 200 and name in page.text
    paths = [f"/address/{address}?tab={tab}" for tab in tabs]
    paths += [f"/address/{address}{of}" for of in ("", "/code", "/abi", "/storage")]
    paths += [f"/api/v1/contracts/{address}", f"/api/v2/smart-contracts/{address}"]
    statuses = {path: client.get(path).status_code for path in paths}
    assert {path: status for path, status in statuses.items() if status >= 500} == {}
