"""Rows of lists of extensions have ids that links lead to."""

import pytest

from scan import registry
from tests.support.ids_of_rows import require_ids_of_rows

LISTS = (
    ("items", "/token/{item}?tab=items", "item"),
    ("addresses_by_balance", "/accounts", "address"),
    ("markets", "/dex", "pool"),
    ("history", "/address/{maker}?tab=history", "entry"),
    ("history", "/address/{maker}/transfers/sums", "sum"),
    ("approvals", "/address/{maker}?tab=approvals", "approval"),
    ("block_records", "/earnings", "earned"),
)


@pytest.mark.parametrize(
    ("path", "kind"), [rest for name, *rest in LISTS if name in registry.installed()]
)
def test_every_row_of_a_list_has_an_id_of_its_own(client, scenario, path, kind):
    item = next(t for t in scenario.truth.token_transfers if t["tokenType"] == "BEP721")
    maker = scenario.truth.dex_trades[0]["maker"]
    response = client.get(path.format(item=item["tokenAddress"], maker=maker))
    assert response.status_code == 200
    require_ids_of_rows(response.text, kind)


@pytest.mark.parametrize(
    "path",
    [
        "/txs",
        "/token/{token}",
        pytest.param(
            "/nft/{token}/{id}",
            marks=pytest.mark.skipif("items" not in registry.installed(), reason="without them"),
        ),
        "/tokens",
    ],
)
def test_lists_that_begin_at_no_row_are_not_opened_at_one(client, scenario, path):
    """scan.js asks a list for a row that has moved where it says so alone."""
    item = next(t for t in scenario.truth.token_transfers if t["tokenType"] == "BEP721")
    path = path.format(token=item["tokenAddress"], id=item["tokenId"])
    takes_rows = "must be the id of a row" in client.get(f"{path}?row=tx-").text
    assert ("data-row-links" in client.get(path).text) == takes_rows
