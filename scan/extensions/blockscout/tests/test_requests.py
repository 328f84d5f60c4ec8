"""What clients send to API v2: refusals in its form, hostile values, a node that is away, an
index that begins late."""

import random
import re
from urllib.parse import quote

import pytest

from scan.extensions.blockscout import paths, transaction_lists
from scan.extensions.chain_statistics.statistics import CountedBounds
from tests.support import indexing, serving
from tests.support.older_chain import older


@pytest.mark.thorough
def test_no_value_of_a_parameter_is_a_fault_of_the_service(client, scenario):
    """Each route with hostile values in its path and in the parameters that places are made of."""
    words = "null -1 0 1e9 0x 0x1 %00 ' [] {} latest pending ERC-20 ERC-20,ERC-721 ERC-404 asc"
    long_numbers = ("9" * digits for digits in (18, 19, 78, 5000))
    hostile = ["", " ", "\u0661", "\u202e", "a" * 3000, *words.split(), "validated", *long_numbers]
    hostile += ["0x" + "f" * 40, "0x" + "F" * 64]
    draw = random.Random(7)
    person = next(iter(scenario.truth.addresses))
    sent = scenario.truth.transactions[0]["hash"]
    usual = {"address_hash": person, "transaction_hash": sent, "block": "5", "token_id": "1"}
    rules = sorted(rule.rule for rule in client.application.url_map.iter_rules())
    for rule in (r for r in rules if r.startswith(("/api/v2/", "/stats-service/"))):
        taken = sorted(paths.answered_paths()[rule.removeprefix("/api/v2")].takes)
        for _ in range(12):
            values = {
                name: draw.choice(hostile) if draw.random() < 0.3 else usual.get(name, sent)
                for name in re.findall(r"<(\w+)>", rule)
            }
            path = rule
            for name, value in values.items():
                path = path.replace(f"<{name}>", quote(value or "-", safe=""))
            names = draw.sample(taken, min(len(taken), draw.randint(0, 4)))
            query = {name: draw.choice(hostile) for name in names}
            response = client.get(path, query_string=query)
            assert response.status_code < 500, (path, query, response.text)
            assert response.is_json or rule.endswith("/csv"), (path, query)


def test_all_choices_of_a_filter_are_as_none(client, scenario):
    """As documents of version 11 have them, and many clients since."""
    of_person = f"/api/v2/addresses/{scenario.stage.people[1]}"
    for path, choices in (
        (f"{of_person}/transactions", "filter=to | from"),
        (f"{of_person}/token-transfers", "filter=from | to&type=ERC-20,ERC-721,ERC-1155"),
        (f"{of_person}/internal-transactions", "filter=to | from"),
        ("/api/v2/transactions", "filter=validated | pending"),
        ("/api/v2/blocks", "type=block | uncle | reorg"),
    ):
        rows = client.get(path).json["items"]
        assert client.get(f"{path}?{choices}").json["items"] == rows


def test_a_contract_has_received_its_creation(client, scenario):
    created = next(t for t in scenario.truth.transactions if t["contractAddress"])
    path = f"/api/v2/addresses/{created['contractAddress']}/transactions"
    halves = [client.get(f"{path}?filter={half}").json["items"] for half in ("to", "from")]
    assert halves == [client.get(path).json["items"], []]
    assert created["hash"] in {item["hash"] for item in halves[0]}
    rows = client.get(f"{path}/csv?filter_type=address&filter_value=to").text.splitlines()
    assert len(rows) == 1 + len(halves[0]) and created["hash"] in rows[-1]


def test_long_inputs_stand_in_their_transaction_alone(client):
    """Or a few transactions would have every reader of a list sent megabytes."""
    whole = (client.get("/api/v2/transactions?=whole").json or {})["items"]
    indexing.sources(client).get(transaction_lists.ListBounds).input_bytes = 68
    shown = (client.get("/api/v2/transactions?=cut").json or {})["items"]
    inputs = {row["hash"]: row["raw_input"] for row in whole}
    long = {sent: text for sent, text in inputs.items() if len(text) > 2 + 2 * 68}
    assert 0 < len(long) < len(inputs)
    assert shown == [
        {**row, "raw_input": (inputs | dict.fromkeys(long))[row["hash"]]} for row in whole
    ]
    for sent, text in long.items():
        assert (client.get(f"/api/v2/transactions/{sent}").json or {})["raw_input"] == text


__all__ = ["older"]


def test_other_forms_say_since_when_balances_count(older):
    """Files, and the compatible APIs: in a header, and in Etherscan's message."""
    client, token = older.indexing.client(rpc_urls=(serving.NOWHERE,)), older.token
    four, six = older.accounts[3], older.accounts[5]
    etherscan = [
        client.get(f"/api?module={action}&contractaddress={token}&address={four}")
        for action in (
            *("token&action=tokenholderlist", "token&action=getTokenHolders"),
            *("token&action=tokenholdercount", "account&action=addresstokenbalance"),
            "account&action=tokenlist",
        )
    ]
    messages = {answer.json["message"] for answer in etherscan}
    assert messages == {"OK-Balances are known since block 5"}
    for path in (
        f"/api/v1/tokens/{token}/holders?format=csv",
        *(f"/api/v2/tokens/{token}{path}" for path in ("", "/counters", "/holders")),
        f"/api/v2/addresses/{six}/token-balances",
    ):
        assert client.get(path).headers["X-Scan-Balances-Since"] == "5", path
    assert "X-Scan-Balances-Since" not in client.get("/api/v2/blocks").headers


def test_a_time_with_too_many_transactions_is_refused(client):
    indexing.sources(client).get(CountedBounds).transactions = 5
    path = "/api/v2/stats/hot-smart-contracts"
    refused = client.get(f"{path}?scale=30d&=many")
    assert refused.status_code == 422 and "shorter" in refused.json["errors"][0]["detail"]
    assert client.get(path).status_code == 422
