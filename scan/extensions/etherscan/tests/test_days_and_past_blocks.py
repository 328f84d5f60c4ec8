"""Statistics of days, and balances and supplies after a block, beside /api/v1 and the node."""

import pytest

FIELDS = {
    "dailytx": ("transactionCount", "transactions"),
    "dailynewaddress": ("newAddressCount", "newAddresses"),
    "dailygasused": ("gasUsed", "gasUsed"),
    "dailyblkcount": ("blockCount", "blocks"),
}


def test_days_are_the_chains(ask, client):
    days = client.get("/api/v1/stats/daily").json["days"]
    dates = {"startdate": days[0]["date"], "enddate": days[-1]["date"]}
    for action, (name, field) in FIELDS.items():
        rows = ask.result("stats", action, **dates)
        expected = [(d["date"], d[field]) for d in days]
        assert [(row["UTCDate"], row[name]) for row in rows] == expected
        assert ask.result("stats", action, **dates, sort="desc") == rows[::-1]
    [fee] = ask.result("stats", "dailytxnfee", startdate=dates["enddate"], enddate=dates["enddate"])
    whole, _, fraction = fee["transactionFee_Eth"].partition(".")
    assert int(whole + fraction.ljust(18, "0")) == int(days[-1]["fees"])
    assert int(fee["unixTimeStamp"]) % 86_400 == 0


@pytest.mark.parametrize(
    "dates",
    [
        {},
        {"startdate": "2026-01-01"},
        {"startdate": "x", "enddate": "2026-01-01"},
        {"startdate": "2026-02-01", "enddate": "2026-01-01"},
        {"startdate": "1970-01-01", "enddate": "2026-01-01"},
    ],
)
def test_dates_that_are_no_days_are_refused(ask, dates):
    assert ask("stats", "dailytx", **dates)["status"] == "0"


def test_balances_and_supplies_after_a_block(ask, scenario):
    person, block = scenario.stage.people[3], 5
    wei = int(scenario.anvil.call("eth_getBalance", person, hex(block)), 16)
    assert ask.result("account", "balancehistory", address=person, blockno=block) == str(wei)
    token = scenario.stage.contracts["harbor"].address
    for module, action, of in (
        ("account", "tokenbalance", {"address": person}),
        ("stats", "tokensupply", {}),
    ):
        asked = {"contractaddress": token, **of}
        amounts = amounts_of(scenario, token, of.get("address"))
        for block, amount in amounts.items():
            assert ask.result(module, f"{action}history", **asked, blockno=block) == amount
        assert ask.result(module, action, **asked) == amounts[scenario.anvil.head()]
        assert ask(module, f"{action}history", **asked)["result"] == "Error! Missing blockno"


def amounts_of(scenario, token, holder):
    """The supply, or what the address holds, as the node says: at the head, and at the newest block
    where it was another."""
    call = {"to": token, "data": f"0x70a08231{holder[2:]:0>64}" if holder else "0x18160ddd"}
    head = scenario.anvil.head()
    amounts = {}
    for block in range(head, 0, -1):
        amount = str(int(scenario.anvil.call("eth_call", call, hex(block)), 16))
        if amount not in amounts.values():
            amounts[block] = amount
        if len(amounts) == 2:
            return amounts
    raise AssertionError("it was never another")


def test_collections_are_the_tokens_with_items(ask, scenario):
    truth = scenario.truth
    for person in truth.addresses:
        held = {
            token["tokenAddress"]: token["balance"]
            for token in truth.tokens_held_by(person)
            if token["type"] == "BEP721"
        }
        if held:
            rows = ask.rows("account", "addresstokennftbalance", address=person)
            assert {row["TokenAddress"]: row["TokenQuantity"] for row in rows} == held
            return
    raise AssertionError("nobody holds items")
