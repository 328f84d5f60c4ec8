"""What Blockscout's own frontend sends, and the fields that its components read without a guard."""

import json
from urllib.parse import parse_qsl

import pytest

from scan.extensions.blockscout import entity_lists
from scan.extensions.blockscout.tests.test_responses import most
from scan.extensions.blockscout.tests.test_verification import outcome, submit, upload
from tests.support.explorer import compiled, standard_input
from tests.support.vyper import BOX, NEWEST

WHOLE = {"updated-gas-oracle": "true"}
SPEEDS = {"slow", "average", "fast"}
GAS_PRICE = {
    "base_fee", "fiat_price", "price", "priority_fee", "priority_fee_wei", "time", "wei",
}  # fmt: skip


def test_gas_prices_are_objects_for_clients_that_say_so(client):
    """Whichever form is asked for first, and is cached."""
    for _ in range(2):
        for headers in (WHOLE, {}):
            stats = client.get("/api/v2/stats", headers=headers).json
            prices = stats["gas_prices"]
            assert prices.keys() == SPEEDS
            if not headers:
                assert all(isinstance(price, float) for price in prices.values())
                continue
            for price in prices.values():
                assert price.keys() == GAS_PRICE
                assert int(price["wei"]) >= int(price["priority_fee_wei"])
                assert price["price"] == pytest.approx(int(price["wei"]) / 10**9)
                total = price["base_fee"] + price["priority_fee"]
                assert total == pytest.approx(price["price"])
            blocks = {
                name: price["time"] / stats["average_block_time"] for name, price in prices.items()
            }
            assert blocks == {"slow": 5, "average": 3, "fast": 1}
    line = client.get("/stats-service/api/v1/lines/averageGasPrice").json
    assert line["info"]["units"] == "Gwei" and any(float(p["value"]) for p in line["chart"])


def test_a_limit_ends_in_milliseconds_from_now_and_has_no_captcha(client):
    limits = client.get("/api/v2/blocks").headers
    assert 0 < int(limits["X-RateLimit-Reset"]) < 3_600_000
    assert limits["bypass-429-option"] == "no_bypass"
    assert "Bypass-429-Option" in limits["Access-Control-Expose-Headers"]
    ours = client.get("/api/v1/blocks").headers
    assert int(ours["X-RateLimit-Reset"]) > 10**9 and "bypass-429-option" not in ours


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_transactions_of_an_address_can_be_sorted(ask, truth, monkeypatch, order):
    path = f"/addresses/{most(truth, 'txCount')}/transactions"
    usual = ask.rows(path)
    for sort, amount in (
        ("value", lambda row: int(row["value"])),
        ("fee", lambda row: int(row["fee"]["value"])),
    ):
        rows = ask.rows(path, sort=sort, order=order, items_count=7)
        assert [*map(amount, rows)] == sorted(map(amount, usual), reverse=order == "desc")
        assert {row["hash"] for row in rows} == {row["hash"] for row in usual}
        assert len(rows) == len(usual) > 7
    monkeypatch.setattr(entity_lists, "MOST_COMPARED", 3)
    for sort in ("value", "nothing", "block_number"):  # of a list that is too long, or unknown
        rows = ask.rows(path, sort=sort, order=order)
        assert rows == (usual if order == "desc" else usual[::-1])


@pytest.mark.parametrize(
    "path",
    [
        *(f"/smart-contracts?sort={sort}&order=asc" for sort in ("balance", "transactions_count")),
        *(
            f"/tokens?sort={sort}&order=desc"
            for sort in ("circulating_market_cap", "fiat_value", "holders_count")
        ),
        "/tokens?limit=20&q=",
    ],
)
def test_every_order_of_the_menus_is_answered(ask, path):
    plain, _, query = path.partition("?")
    items = ask(plain, **dict(parse_qsl(query)))["items"]
    assert items == ask(plain)["items"][: 20 if "limit" in query else None]


def test_balances_around_a_transaction_are_those_of_the_node(ask, truth, scenario):
    """A row of a token whose balances are not known is left out: clients subtract them."""
    compared = 0
    for sent in {t["transactionHash"]: t for t in truth.token_transfers}.values():
        for row in ask(f"/transactions/{sent['transactionHash']}/state-changes")["items"]:
            before, after = int(row["balance_before"]), int(row["balance_after"])
            if row["type"] == "coin":
                continue
            assert after - before == int(row["change"])
            if row["token_id"] is None:
                compared += 1
                holder = row["address"]["hash"]
                call = {
                    "to": row["token"]["address_hash"],
                    "data": f"0x70a08231{holder[2:].lower():0>64}",
                }
                answer = scenario.anvil.call("eth_call", call, hex(sent["blockNumber"]))
                assert int(answer, 16) == after
    assert compared > 10


def test_a_blob_has_the_transactions_that_carried_it(client, truth):
    carried = [t for t in truth.transactions if t["blobVersionedHashes"]]
    for sent in carried:
        for hash_ in sent["blobVersionedHashes"]:
            blob = client.get(f"/api/v2/blobs/{hash_}").json
            assert blob["hash"] == hash_
            assert sent["hash"] in [t["transaction_hash"] for t in blob["transaction_hashes"]]
    assert carried
    assert client.get(f"/api/v2/blobs/0x01{'00' * 31}").status_code == 404


SOURCE = "pragma solidity ^0.8.0; contract Tab { uint256 public y = 3; }"
VYPER_FORM = {"compiler_version": f"v{NEWEST}", "license_type": "none", "evm_version": "default"}
FORM = {
    "compiler_version": "v0.8.28+commit.7893614a",
    "license_type": "none",
    "is_optimization_enabled": "false",
    "optimization_runs": "200",
    "evm_version": "default",
}
NAMED = {
    "contract_name": "undefined",
    "constructor_args": "",
    "autodetect_constructor_args": "true",
}


def forms(standard):
    """The forms of the frontend's methods, with what its scripts leave undefined."""
    vyper = {"language": "Vyper", "sources": {"B.vy": {"content": BOX}}, "settings": {}}
    text = {"source_code": SOURCE, "is_yul_contract": "false", "libraries": "undefined"}
    return {
        "flattened-code": {**FORM, **NAMED, **text},
        "multi-part": {**FORM, "files[0]": upload(SOURCE, "Tab.sol")},
        "standard-input": {
            **NAMED,
            "compiler_version": FORM["compiler_version"],
            "license_type": "none",
            "files[0]": upload(json.dumps(standard), "in.json"),
        },
        "vyper-code": {**VYPER_FORM, "contract_name": "Box", "source_code": BOX},
        "vyper-multi-part": {**VYPER_FORM, "files[0]": upload(BOX, "B.vy")},
        "vyper-standard-input": {**VYPER_FORM, "files[0]": upload(json.dumps(vyper), "in.json")},
    }


def test_the_forms_of_all_methods_are_submitted(own_explorer):
    """None is refused for what a page's script left undefined, and a contract is verified by it."""
    explorer = own_explorer
    standard = standard_input({"Tab.sol": SOURCE})
    address = explorer.deploy(compiled("0.8.28", standard, "Tab.sol", "Tab").creation)
    for method, form in forms(standard).items():
        sent = submit(explorer, address, method, **form)
        assert sent.status_code == 200, (method, sent.text)
        assert "undefined" not in str(explorer.submission(sent))
    sent = submit(explorer, address, "standard-input", **forms(standard)["standard-input"])
    with explorer.running_jobs():
        assert outcome(explorer, sent) == "Pass - Verified"
    listed = explorer.client.get("/api/v2/smart-contracts").json["items"]
    counts = {c["address"]["hash"].lower(): c["transactions_count"] for c in listed}
    assert counts[address] == 1
