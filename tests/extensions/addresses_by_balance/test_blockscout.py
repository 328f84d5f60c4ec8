"""Addresses by balance in Blockscout's form."""

import pytest
from flask.testing import FlaskClient

from scan.extensions.addresses_by_balance import blockscout
from tests.conftest import Played
from tests.extensions.blockscout.test_responses import Asking
from tests.support.truth import Truth


def test_addresses_are_listed_by_balance(
    ask: Asking,
    client: FlaskClient,
    scenario: Played,
    truth: Truth,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By what the node says of each; cursors end on rows, however few a page has."""
    monkeypatch.setattr(blockscout, "ROWS", 7)
    by_address = {
        address: int(scenario.anvil.call("eth_getBalance", address, "latest"), 16)
        for address in truth.addresses
    }
    rich = sorted(((wei, a) for a, wei in by_address.items() if wei >= 10**18), reverse=True)
    assert 14 < len(rich) < len(by_address)
    rows = ask.rows("/addresses", sort="balance", order="desc")
    assert [(int(row["coin_balance"]), row["hash"].lower()) for row in rows] == rich
    assert [row["transactions_count"] for row in rows] == [
        str(truth.addresses[address]["txCount"]) for _, address in rich
    ]
    at = {"fetched_coin_balance": rows[9]["coin_balance"], "hash": rows[9]["hash"]}
    assert ask("/addresses", **at)["items"] == rows[10:17]
    assert ask("/addresses", fetched_coin_balance=10**18, hash="0x" + 40 * "0")["items"] == []
    for refused in ({"sort": "transactions_count"}, {"order": "asc"}, {"hash": "0x1"}):
        assert client.get("/api/v2/addresses", query_string=refused).status_code == 422
