"""What Blockscout's own frontend sends, and the fields that its components read without a guard."""

import pytest

from scan.extensions.blockscout.tests.asking import most
from scan.extensions.blockscout.transaction_lists import ListBounds
from tests.support import expected, indexing


def test_gas_prices_are_objects_for_clients_that_say_so(client):
    """Whichever form is asked for first, and is cached."""
    gas_price = {
        "base_fee", "fiat_price", "price", "priority_fee", "priority_fee_wei", "time", "wei",
    }  # fmt: skip
    speeds = {"slow", "average", "fast"}
    whole = {"updated-gas-oracle": "true"}
    for _ in range(2):
        stats, plain = (client.get("/api/v2/stats", headers=h).json for h in (whole, {}))
        prices = stats["gas_prices"]
        assert prices.keys() == plain["gas_prices"].keys() == speeds
        assert {*map(type, plain["gas_prices"].values())} == {float}
        for price in prices.values():
            assert price.keys() == gas_price
            assert int(price["wei"]) >= int(price["priority_fee_wei"])
            assert price["price"] == pytest.approx(int(price["wei"]) / 10**9)
            assert price["base_fee"] + price["priority_fee"] == pytest.approx(price["price"])
        blocks = {name: p["time"] / stats["average_block_time"] for name, p in prices.items()}
        assert blocks == pytest.approx({"slow": 5, "average": 3, "fast": 1}, rel=0.01)
    line = client.get("/stats-service/api/v1/lines/averageGasPrice").json
    assert line["info"]["units"] == "Gwei" and any(float(p["value"]) for p in line["chart"])


def test_a_limit_ends_in_milliseconds_from_now_and_has_no_captcha(client):
    limits = client.get("/api/v2/blocks").headers
    assert 0 < int(limits["X-RateLimit-Reset"]) < 3_600_000
    assert limits["bypass-429-option"] == "no_bypass"
    assert "Bypass-429-Option" in limits["Access-Control-Expose-Headers"]
    ours = client.get("/api/v1/blocks").headers
    assert int(ours["X-RateLimit-Reset"]) > 10**9 and "bypass-429-option" not in ours


def test_requests_of_every_page_are_answered_as_expected(client, truth):
    of_types = {token["type"]: token["address"] for token in truth.tokens}
    names = {"token": of_types["BEP20"], "collection": of_types["BEP721"]}
    names |= {"person": most(truth, "txCount"), "transaction": truth.transactions[-1]["hash"]}
    expected.compare(__file__, client, names)


@pytest.mark.parametrize(("order", "step"), [("asc", -1), ("desc", 1)])
def test_transactions_of_an_address_can_be_sorted(ask, truth, order, step):
    path = f"/addresses/{most(truth, 'txCount')}/transactions"
    usual = ask.rows(path)
    for sort, amount in (
        ("value", lambda row: int(row["value"])),
        ("fee", lambda row: int(row["fee"]["value"])),
    ):
        rows = ask.rows(path, sort=sort, order=order, items_count=7)
        assert [*map(amount, rows)] == sorted(map(amount, usual), reverse=True)[::step]
        assert {row["hash"] for row in rows} == {row["hash"] for row in usual}
        assert len(rows) == len(usual) > 7
    indexing.sources(ask.client).get(ListBounds).compared = 3
    for sort in ("value", "nothing", "block_number"):  # of a list that is too long, or unknown
        rows = ask.rows(path, sort=sort, order=order)
        assert rows == usual[::step]


@pytest.mark.thorough
def test_balances_around_a_transaction_are_those_of_the_node(ask, truth, scenario):
    """A row of a token whose balances are not known is left out: clients subtract them."""
    blocks = {t["transactionHash"]: hex(t["blockNumber"]) for t in truth.token_transfers}
    rows = [
        (row, block)
        for sent, block in blocks.items()
        for row in ask(f"/transactions/{sent}/state-changes")["items"]
        if row["type"] != "coin"
    ]
    for row, _ in rows:
        assert int(row["balance_after"]) - int(row["balance_before"]) == int(row["change"])
    assert {row["token"]["type"] for row, _ in rows} == {"ERC-20", "ERC-721"}
    of_amounts = [(row, block) for row, block in rows if row["token_id"] is None]
    for row, block in of_amounts:
        data = f"0x70a08231{row['address']['hash'][2:].lower():0>64}"
        call = {"to": row["token"]["address_hash"], "data": data}
        assert int(scenario.anvil.call("eth_call", call, block), 16) == int(row["balance_after"])
    assert len(of_amounts) > 10
