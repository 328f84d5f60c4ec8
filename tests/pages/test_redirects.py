"""URLs of other explorers' pages lead to ours, and nowhere else."""

import re
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from scan.pages.redirects import TARGETS
from tests.conftest import Played

HOSTILE = ("//evil.example", "https://evil.example", "\\evil.example", "..", "a\r\nSet-Cookie: x=1")


def test_every_target_is_a_page(client: FlaskClient, scenario: Played) -> None:
    truth = scenario.truth
    item = next(t for t in truth.token_transfers if t["tokenId"] is not None)
    values = {
        "address": item["tokenAddress"],
        "token_id": item["tokenId"],
        "block": str(truth.blocks[0]["number"]),
        "transaction": truth.transactions[0]["hash"],
        "tab": "internal-transactions",
    }
    for path in TARGETS:
        if "<operation>" in path:
            continue
        filled = re.sub(r"<(\w+)>", lambda match: values[match[1]], path)
        moved = client.get(f"{filled}?q=token&tab=logs")
        assert moved.status_code == 301, path
        page = client.get(moved.headers["Location"], headers={"Accept": "text/html"})
        assert page.status_code == 200, (path, moved.headers["Location"])


@pytest.mark.parametrize("value", HOSTILE)
def test_no_target_is_elsewhere(client: FlaskClient, value: str) -> None:
    for path, target in TARGETS.items():
        filled = re.sub(r"<\w+>", quote(value, safe=""), path)
        response = client.get(filled, query_string={"q": value, "a": value, "next": value})
        if response.status_code == 404:  # a slash is no part of an argument
            continue
        location = response.headers["Location"]
        assert location.startswith(target.partition("{")[0]), (path, location)
        assert not location.startswith("//") and "\n" not in location


def test_tabs_have_blockscouts_names_too(client: FlaskClient, scenario: Played) -> None:
    person = next(iter(scenario.truth.addresses))
    for theirs, ours in (("internal_txns", "internal"), ("txs", "transactions")):
        one = client.get(f"/address/{person}?tab={theirs}", headers={"Accept": "text/html"})
        other = client.get(f"/address/{person}?tab={ours}", headers={"Accept": "text/html"})
        assert one.status_code == other.status_code == 200
    assert client.get(f"/address/{person}?tab=nothing").status_code == 400
