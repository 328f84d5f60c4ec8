"""URLs of other explorers' pages lead to ours, and nowhere else."""

import re
from urllib.parse import quote

import pytest

from scan.extensions.web.interface import TARGETS

WITH_ARGUMENTS = {path for path in TARGETS if "<" in path}


def test_every_target_is_a_page(client, scenario):
    truth = scenario.truth
    item = next(t for t in truth.token_transfers if t["tokenId"] is not None)
    values = {
        "address": item["tokenAddress"],
        "token_id": item["tokenId"],
        "block": str(truth.blocks[0]["number"]),
        "transaction": truth.transactions[0]["hash"],
        "tab": "internal-transactions",
    }
    for path in (path for path in TARGETS if "<operation>" not in path):
        filled = re.sub(r"<(\w+)>", lambda match: values[match[1]], path)
        moved = client.get(f"{filled}?q=token&tab=logs")
        assert moved.status_code == 301, path
        page = client.get(moved.headers["Location"], headers={"Accept": "text/html"})
        assert page.status_code == 200, (path, moved.headers["Location"])


@pytest.mark.parametrize(
    "value",
    ("//evil.example", "https://evil.example", "\\evil.example", "..", "a\r\nSet-Cookie: x=1"),
)
def test_no_target_is_elsewhere(client, value):
    locations = {}
    for path in TARGETS:
        filled = re.sub(r"<\w+>", quote(value, safe=""), path)
        response = client.get(filled, query_string={"q": value, "a": value, "next": value})
        assert response.status_code in (301, 404), path
        locations[path] = response.headers.get("Location")
    # A slash, for one, is no part of an argument.
    assert {path for path, location in locations.items() if location is None} <= WITH_ARGUMENTS
    for path, location in locations.items() - {(path, None) for path in WITH_ARGUMENTS}:
        assert location.startswith(TARGETS[path].partition("{")[0]), (path, location)
        assert not location.startswith("//") and "\n" not in location


@pytest.mark.parametrize("value", ["x", "-1", "0x12", "9" * 80, "0x" + 39 * "1" + "g", "%00"])
def test_what_no_target_can_be_is_not_found(client, value):
    for path in WITH_ARGUMENTS:
        filled = re.sub(r"<\w+>", value, path)
        assert client.get(filled, headers={"Accept": "text/html"}).status_code == 404, filled


def test_tabs_have_blockscouts_names_too(client, scenario):
    """Those that lead to none of a page's tabs are refused."""
    of_transaction = "index token_transfers internal logs raw_trace state"
    sent, person = scenario.truth.transactions[0], next(iter(scenario.truth.addresses))
    for path, tabs in (
        (f"/address/{person}", "internal_txns txs"),
        (f"/tx/{sent['hash']}", of_transaction),
    ):
        answers = {tab: client.get(f"{path}?tab={tab}").status_code for tab in tabs.split()}
        assert answers == dict.fromkeys(tabs.split(), 200)
        for wrong in ("nothing", "", "transactions%00", "write_contract_x"):
            assert client.get(f"{path}?tab={wrong}").status_code == 400, (path, wrong)
