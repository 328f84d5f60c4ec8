"""Lists of verified contracts show those whose code stands at their address: through forks, in any
order of verification and indexing."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg2
import pytest

from tests.support import database, many_functions, serving

SOURCE = "pragma solidity ^0.8.0; contract LogicE { uint256 public x = 1729; }"
CODE_AT = "SELECT encode(code_hash, 'hex') FROM contracts WHERE address = %s"


def listed(explorer, address):
    """Whether the page and the search show it, which are cached, and how many the page counts."""
    page = explorer.client.get("/verified-contracts")
    results = explorer.client.get("/api/v1/search", query_string={"q": "LogicE"}).json["results"]
    after = dict.fromkeys(("after_us", "after_address", "after_code_hash"))
    row = explorer.database.row("queries/verified_contracts_list", limit=25, offset=0, **after)
    assert row is not None and row[2] == len(json.loads(row[1])) == row[3]
    return address in page.text, address in [result["value"] for result in results], row[3]


def test_lists_follow_the_chain(own_explorer):
    anvil = own_explorer.anvil
    others = listed(own_explorer, "")[2]  # of tests that came before
    before = anvil.snapshot()
    address = many_functions.verified(own_explorer, SOURCE, "LogicE")
    created = own_explorer.contract(address).json["creation"]["transactionHash"]
    creation = anvil.call("eth_getTransactionByHash", created)
    serving.wait_until(lambda: listed(own_explorer, address) == (True, True, others + 1))
    anvil.revert(before)
    anvil.mine(5)
    key = bytes.fromhex(address[2:])
    serving.wait_until(lambda: own_explorer.execute(CODE_AT, key) == [])
    serving.wait_until(lambda: listed(own_explorer, address) == (False, False, others))
    assert own_explorer.contract(address).status_code == 404
    # The same account creates it again, at the same address.
    assert own_explorer.deploy(creation["input"]) == address
    serving.wait_until(lambda: listed(own_explorer, address) == (True, True, others + 1))
    assert own_explorer.contract(address).json["contractName"] == "LogicE"
    # Other code at the same address.
    code = "INSERT INTO codes (code_hash, code) VALUES (%s, %s)"
    own_explorer.execute(code, b"\1" * 32, b"\x60\1")
    own_explorer.execute("INSERT INTO contracts VALUES (%s, 1000000, %s)", key, b"\1" * 32)
    serving.wait_until(lambda: listed(own_explorer, address) == (False, False, others))
    own_explorer.execute("DELETE FROM contracts WHERE block_number = 1000000")
    serving.wait_until(lambda: listed(own_explorer, address) == (True, True, others + 1))


def test_a_verification_that_a_fork_overtakes_is_not_listed(own_explorer):
    """Its contract is taken back by a transaction that commits after it has looked."""
    address = own_explorer.deploy("6001600c60003960016000f300")
    key, url = bytes.fromhex(address[2:]), own_explorer.settings.database_url
    [(code_hash,)] = database.execute(url, CODE_AT, key)
    row = {"address": key, "code_hash": bytes.fromhex(code_hash), "match": "full", "abi": "[]"}
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'"
    with closing(psycopg2.connect(url)) as connection, ThreadPoolExecutor(1) as pool:
        connection.cursor().execute("DELETE FROM contracts WHERE address = %s", [key])
        insertion = pool.submit(database.insert, url, "verified_contracts", **row)
        serving.wait_until(lambda: database.execute(url, waiting) == [(1,)])
        connection.commit()
        insertion.result()
    serving.wait_until(lambda: not any(listed(own_explorer, address)[:2]))


@pytest.mark.parametrize("by_proof", [False, True])
def test_no_verification_holds_for_code_that_is_no_longer_there(own_explorer, by_proof):
    """As where a trace hides a new creation: whoever reads the account notices it for all."""
    address = many_functions.verified(own_explorer, SOURCE, "LogicE")
    client, anvil = own_explorer.client, own_explorer.anvil
    code = anvil.call("eth_getCode", address, "latest")

    def read_account():
        anvil.mine(1)
        own_explorer.wait_for_block(anvil.head())
        path = f"/api/v1/addresses/{address}{'/proof' if by_proof else ''}"
        assert client.get(path).status_code == 200

    chain_id = client.get("/chains").json[0]["chainId"]
    contract = "/api?module=contract&address={}&action="
    matching = {
        "/api/v1/contracts/{}": lambda record: record.get("match") == "full",
        f"{contract}getabi": lambda answer: answer["status"] == "1",
        f"{contract}getsourcecode": lambda answer: answer["result"][0]["SourceCode"] != "",
        "/api/v2/smart-contracts/{}": lambda record: record.get("is_verified") is True,
        f"/v2/contract/{chain_id}/{{}}": lambda record: record["match"] is not None,
        "/api/v1/contracts/{}/bytecode": lambda record: record["verified"],
    }

    def doors():
        shown = [holds(client.get(door.format(address)).json) for door, holds in matching.items()]
        return [*shown, *listed(own_explorer, address)[:2]]

    serving.wait_until(lambda: all(doors()))
    read_account()
    assert all(doors())
    anvil.call("anvil_setCode", address, "0x6001")
    read_account()
    assert not any(doors()), doors()
    refused = own_explorer.contract(address)
    assert refused.status_code == 404 and "returned another code at block" in refused.json["error"]
    page = client.get(f"/address/{address}?tab=contract").text
    assert "no verification holds for it" in page and "source verified</span>" not in page
    anvil.call("anvil_setCode", address, code)
    read_account()
    assert all(doors())
