"""Calls of verified contracts on a real node: values, refusals, reverts, proxies."""

from pathlib import Path

import pytest

from tests.support import expected, many_functions


def test_calls_are_answered_as_expected(explorer, many):
    checksummed = many_functions.CHECKSUMMED
    names = {"many": many.lower(), "swapped": checksummed.swapcase(), "checksummed": checksummed}
    expected.compare(__file__, explorer.client, names)


def test_a_large_result_is_answered_whole(explorer, many):
    assert len(explorer.call(many, "huge").json["result"]) == 2 + 2 * 1_200_000


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        ("echo", "0x" + "ab" * 400_000),
        ("list", ["0x" + "ab" * 400_000]),
        ("list", ["1" * 800_000]),
        ("list", [10**900]),
        ("list", [[[0] * 20_000]]),
        ("deep", {"name": "n", "pairs": "0x" + "0" * 800_000}),
        ("over(address)", "0x" + "0" * 800_000),
    ],
    ids=["bytes4", "hex number", "decimal", "JSON number", "arrays", "tuples", "address"],
)
def test_a_large_argument_of_the_wrong_kind_is_a_bad_request(explorer, many, function, argument):
    arguments = [0, argument, True, ""] if function == "echo" else [argument]
    answer = explorer.call(many, function, *arguments)
    assert (answer.status_code, answer.json["field"]) == (400, "args"), answer.json
    assert len(answer.json["error"]) < 300


def test_an_argument_of_too_many_values_or_digits_is_refused(explorer, many):
    answer = explorer.call(many, "list", [[0] * 90_000])
    assert (answer.status_code, answer.json["code"]) == (413, "too_large"), answer.json
    body = f'{{"functionName": "list", "args": [[{"1" * 5000}]]}}'
    path, json_type = f"/api/v1/contracts/{many}/call", "application/json"
    answer = explorer.client.post(path, data=body, content_type=json_type)
    assert (answer.status_code, answer.json["code"]) == (400, "invalid_json")


def test_of_a_large_abi_only_the_called_functions_are_loaded(explorer, many):
    at = {"address": bytes.fromhex(many[2:]), "block_number": explorer.anvil.head()}
    listing = "contracts/verified_contracts_list_functions"
    entries = explorer.database.value(listing, **at, function_name="over")
    types = [entry["inputs"][0]["type"] for entry in entries["functions"]]
    assert (types, entries["others"]) == (["uint256", "address"], [])


def test_a_proxys_own_functions_hide_no_overload_of_its_implementation(explorer):
    overloaded = Path(__file__).with_name("Overloaded.sol").read_text()
    target = many_functions.verified(explorer, overloaded, "Counting")
    proxy = many_functions.verified(explorer, overloaded, "Overloading", target[2:].rjust(64, "0"))
    assert explorer.call(proxy, "count").json["result"] == "17"
    assert explorer.call(proxy, "count", "5").json["result"] == "5"
    assert explorer.call(proxy, "admin").json["result"] == proxy
    refused = explorer.call(proxy, "count", "1", "2")
    assert (refused.status_code, refused.json["field"]) == (400, "args")
