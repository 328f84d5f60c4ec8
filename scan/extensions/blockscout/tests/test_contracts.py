"""Verified contracts in Blockscout's form."""

from contextlib import closing

from app import create_app
from scan.contracts.proxy_contracts import KINDS as PROXY_KINDS
from scan.database.connection import Database
from scan.extensions.blockscout.address_and_token_objects import KINDS
from scan.extensions.blockscout.tests.published import faults
from tests.support.indexing import settings_for
from tests.support.made_blocks import FIRST_TIMESTAMP_S, Chain, Move, address
from tests.support.serving import NOWHERE


def test_a_verified_contract_is_as_published(explorer, many):
    path = f"/api/v2/smart-contracts/{many}"
    shown = explorer.client.get(path).json
    stored = explorer.client.get(f"/api/v1/contracts/{many}").json
    assert shown is not None and stored is not None
    assert not faults("/api/v2/smart-contracts/{}", shown)
    assert (shown["name"], shown["is_verified"]) == ("Many", True)
    assert shown["is_fully_verified"] is (stored["match"] == "full")
    assert shown["abi"] == stored["abi"]
    sources = {path: source["content"] for path, source in stored["sources"].items()}
    files = {each["file_path"]: each["source_code"] for each in shown["additional_sources"]}
    assert {shown["file_path"]: shown["source_code"], **files} == sources
    address = explorer.client.get(f"/api/v2/addresses/{many}").json
    assert (address["name"], address["is_verified"], address["is_contract"]) == ("Many", True, True)
    assert address["creation_transaction_hash"] == stored["creation"]["transactionHash"]


def test_a_proxy_has_its_implementation(explorer, many):
    assert [*KINDS] == [*PROXY_KINDS]
    for implementation, name in ((many, "Many"), (explorer.place("6005600d60"), None)):
        proxy = explorer.place(
            f"363d3d373d3d3d363d73{implementation[2:]}5af43d82803e903d91602b57fd5bf3"
        )
        for path in ("addresses", "smart-contracts"):
            response = explorer.client.get(f"/api/v2/{path}/{proxy}")
            assert response.status_code == 200 and response.json is not None
            assert not faults(f"/api/v2/{path}/{{}}", response.json)
            assert response.json["proxy_type"] == "eip1167"
            is_verified = path == "addresses" and name is not None
            assert bool(response.json.get("is_verified")) is is_verified
            [shown] = response.json["implementations"]
            assert (shown["address_hash"].lower(), shown["name"]) == (implementation.lower(), name)


def test_verified_contracts_are_listed(explorer, many):
    listed = explorer.client.get("/api/v2/smart-contracts").json
    assert listed is not None and not faults("/api/v2/smart-contracts", listed)
    by_address = {item["address"]["hash"].lower(): item for item in listed["items"]}
    assert by_address[many.lower()]["language"] == "solidity"
    counters = explorer.client.get("/api/v2/smart-contracts/counters").json
    assert counters is not None and int(counters["verified_smart_contracts"]) >= len(by_address)
    rows = explorer.client.get("/api?module=contract&action=listcontracts").json
    row = next(row for row in rows["result"] if row["Address"] == many.lower())
    assert (row["ContractName"], row["CompilerVersion"][:2]) == ("Many", "v0")


def test_new_contracts_are_those_of_the_day_before_the_newest_block(database_url):
    with closing(Database(database_url, statement_timeout_ms=10_000)) as database:
        chain = Chain(database)
        for hour in (0, 1, 24, 25, 49):
            creation = Move(address("creator"), None, contract=address(f"contract {hour}"))
            chain.append([creation], timestamp_s=FIRST_TIMESTAMP_S + 3_600 * hour)
    client = create_app(settings_for(database_url, NOWHERE)).test_client()
    counters = client.get("/api/v2/smart-contracts/counters").json
    assert (counters["smart_contracts"], counters["new_smart_contracts_24h"]) == ("5", "2")


def test_what_is_no_contract_is_not_found(explorer):
    missing = explorer.client.get(f"/api/v2/smart-contracts/0x{'9d' * 20}")
    assert (missing.status_code, missing.json) == (404, {"message": "Not found"})
