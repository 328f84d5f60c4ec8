"""GET /contracts/:address/storage beside the contract's own getters, and bad input."""

import pytest

from tests.support import expected
from tests.support.anvil import calldata

WHO = "0x" + 18 * "5e" + "0abc"
LONG = "a long string, ä, " * 8


@pytest.fixture(scope="module")
def filled(kept):
    for call in (
        calldata("set(address,uint256)", WHO, 77),
        calldata("write(string,bytes)", LONG, b"\x05" * 31),
        calldata("hold(uint256,address,uint128,string)", 4, WHO, 8, LONG),
        calldata("offer(address,uint128,string)", WHO, 9, "short"),
        calldata("offer(address,uint128,string)", WHO, 10, LONG),
        calldata("named(string,uint256)", "some name", 12),
    ):
        kept.explorer.send(kept.address, call, gas=5_000_000)
    return kept


def test_all_variables_are_what_the_contract_says(filled):
    values = filled.values()
    assert values["step"] == "Done"
    for name in ("total", "negative", "digest", "text", "blob", "other"):
        assert values[name] == filled.read(name), name
    packed = filled.read("packed")
    for index, name in enumerate(("small", "flag", "owner", "below", "mark")):
        assert values[f"packed.{name}"] == packed[index]
    for index in range(5):
        assert values[f"few[{index}]"] == filled.read("few", index)
    for row in range(3):
        for column in range(2):
            assert values[f"grid[{row}][{column}]"] == filled.read("grid", row, column)
    for index in range(2):
        assert values[f"many[{index}]"] == filled.read("many", index)
    assert values["list[0].owner"] == filled.read("list", 0)[2]
    assert [values[f"offers[{n}].note"] for n in range(2)] == ["short", LONG]
    assert values["balances"] is None
    assert "offers[2].note" not in values


def test_a_variable_by_its_path(filled):
    sender = filled.sender.lower()
    paths = {
        f"balances[{WHO}]": filled.read("balances", WHO),
        f"allowances[{sender}][{WHO}]": filled.read("allowances", sender, WHO),
        "huge[999999999999]": filled.read("huge", 999999999999),
        'byName["some name"]': filled.read("byName", "some name"),
        "byName[some name]": filled.read("byName", "some name"),
        f"holders[4].shares[{WHO}]": filled.read("sharesOf", 4, WHO),
        "holders[4].note": LONG,
        "grid[2][1]": filled.read("grid", 2, 1),
        "packed.owner": WHO,
        f"deep[1][0x01{'00' * 31}][0x{'00' * 20}]": False,
    }
    for path, value in paths.items():
        assert filled.values(variable=path) == {path: value}
    whole = filled.values(variable="holders[4]")
    assert whole["holders[4].amount"] == "8"
    assert whole["holders[4].note"] == LONG
    [entry] = filled.storage(variable="offers").json["variables"][:1]
    assert (entry["length"], entry["value"], entry["type"]) == ("2", None, "struct Kept.Holder[]")


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("offers.length", "offers"),
        ("holders[4].note.length", "holders[4].note"),
        ("holders[4].note[0:32]", "holders[4].note"),
    ],
)
def test_the_names_of_state_changes(filled, name, variable):
    assert filled.values(variable=name) == filled.values(variable=variable)


def test_the_state_of_an_older_block(filled):
    number = int(filled.explorer.anvil.call("eth_blockNumber"), 16)
    filled.explorer.send(filled.address, calldata("set(address,uint256)", WHO, 78), gas=5_000_000)
    path = f"balances[{WHO}]"
    assert filled.values(variable=path, block=number) == {path: "77"}
    assert filled.values(variable=path) == {path: "78"}


def test_refusals_are_as_expected(filled):
    unverified = filled.explorer.place("0x5f3560015500")
    names = {"Kept": filled.address, "unverified": unverified}
    expected.compare(__file__, filled.explorer.client, names)
