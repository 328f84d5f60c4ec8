"""All contracts whose code is equal, in pages, with their total."""

import pytest

from scan.extensions.contract_details import comparison
from tests.support import indexing, many_functions
from tests.support.explorer import standard_input

COUNT = 7


@pytest.fixture(scope="module")
def twins(explorer):
    source = "pragma solidity ^0.8.0; contract Twin { uint256 public value; }"
    addresses = [many_functions.deploy(explorer, source, "Twin") for _ in range(COUNT)]
    given = standard_input({"Twin.sol": source})
    assert explorer.verify(addresses[2], given, "0.8.28").status_code == 200
    return addresses


def test_all_are_listed_from_each_of_them(explorer, twins):
    for address in twins:
        listed = explorer.client.get(f"/api/v1/contracts/{address}/same-code").json
        assert [record["address"] for record in listed["sameCode"]] == twins
        assert (listed["total"], listed["next"]) == (COUNT, None)
        assert all(record["current"] for record in listed["sameCode"])
        verified = [record["address"] for record in listed["sameCode"] if record["verified"]]
        assert verified == [twins[2]]


def test_one_that_has_another_code_by_now_says_so(explorer):
    first, second = explorer.place("6001600255"), explorer.place("6001600255")
    other = b"other".rjust(32)
    explorer.execute("INSERT INTO codes (code_hash, code) VALUES (%s, %s)", other, b"other")
    inserted = "INSERT INTO contracts VALUES (%s, 1000000, %s)"
    explorer.execute(inserted, bytes.fromhex(first[2:]), other)
    listed = explorer.get(f"/api/v1/contracts/{second}/same-code")["sameCode"]
    assert [(r["address"], r["current"]) for r in listed] == [(first, False), (second, True)]


def test_more_than_are_counted(explorer, twins):
    indexing.sources(explorer.client).get(comparison.SameCodeBounds).counted = COUNT - 1
    path = f"/api/v1/contracts/{twins[0]}/same-code"
    listed = explorer.client.get(f"{path}?limit=2").json
    assert listed["total"] is None and listed["next"] is not None
    answer = explorer.client.get(f"{path}?limit=2&page=4")
    assert (answer.status_code, answer.json["field"]) == (400, "page")
    page = explorer.client.get(f"/address/{twins[0]}?tab=same-code").text
    assert f"The oldest of more than {COUNT - 1} contracts" in page
