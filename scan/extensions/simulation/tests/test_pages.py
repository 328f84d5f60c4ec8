"""The page /simulate: what a call would do, and why it would fail."""

import pytest

from scan.extensions.simulation.tests.test_simulation import SPENDER, token_call, transfer

POOR = "0x" + 20 * "77"


def test_the_form_alone_asks_no_node(client):
    page = client.get("/simulate")
    assert page.status_code == 200 and "Outcome" not in page.text
    assert 'href="/simulate"' in client.get("/").text


def test_a_link_shows_what_the_call_would_do(client, scenario):
    holder, token, moving = token_call(scenario)
    page = client.get("/simulate", query_string=moving)
    assert page.status_code == 200, page.text
    assert "would succeed" in page.text and "transfer(address,uint256)" in page.text
    for part in ("Transfers", "Calls", "State changes", f"/address/{SPENDER}", f"/token/{token}"):
        assert part in page.text, part
    call = {**moving, "data": transfer(SPENDER, 2**256 - 1)}
    failing = client.get("/simulate", query_string=call)
    assert "would fail" in failing.text and holder in failing.text.lower()


def test_value_is_in_coins(client, scenario):
    one, two = scenario.anvil.accounts[:2]
    page = client.get("/simulate", query_string={"from": one, "to": two, "value": "0.25"})
    assert "would succeed" in page.text and "0.25" in page.text
    page = client.get("/simulate", query_string={"from": POOR, "to": two, "value": "1"})
    assert "would fail" in page.text


NO_CALLS = [
    ({"to": "0x12"}, 400, "to must be 0x followed by 40 hex digits."),
    ({"from": POOR}, 400, "must have to, or data"),
    ({"to": POOR, "value": "1e999999"}, 400, "value must be a number of coins"),
    ({"to": POOR, "value": "nan"}, 400, "value must be a number of coins"),
    ({"to": POOR, "value": "-1"}, 400, "value must be"),
    ({"to": POOR, "value": "0.0000000000000000001"}, 400, "at most 18 decimals"),
    ({"to": POOR, "gas": "1" * 40}, 400, "gas must be"),
    ({"to": POOR, "block": "99999999"}, 404, "not indexed"),
    ({"to": POOR, "data": "0x<b>"}, 400, "data must be 0x and pairs of hex digits"),
]


@pytest.mark.parametrize(("fields", "status", "words"), NO_CALLS)
def test_what_is_no_call_is_said_above_the_form(client, fields, status, words):
    page = client.get("/simulate", query_string=fields)
    assert page.status_code == status, page.text
    assert words in page.text and "<b>" not in page.text and "Outcome" not in page.text
