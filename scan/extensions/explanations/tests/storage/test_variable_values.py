"""GET /contracts/:address/storage beside the contract's own getters, and bad input."""

import pytest

from scan.extensions.explanations.tests.storage import conftest
from scan.hex import data
from tests.support.explorer import standard_input
from tests.support.refusals import require_parameter

WHO = "0x" + 18 * "5e" + "0abc"
LONG = "a long string, ä, " * 8


@pytest.fixture(scope="module")
def filled(kept):
    for call in (
        conftest.calldata("set(address,uint256)", WHO, 77),
        conftest.calldata("write(string,bytes)", LONG, b"\x05" * 31),
        conftest.calldata("hold(uint256,address,uint128,string)", 4, WHO, 8, LONG),
        conftest.calldata("offer(address,uint128,string)", WHO, 9, "short"),
        conftest.calldata("offer(address,uint128,string)", WHO, 10, LONG),
        conftest.calldata("named(string,uint256)", "some name", 12),
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


CHANGED_VARIABLES = [
    ("offers.length", "offers"),
    ("holders[4].note.length", "holders[4].note"),
    ("holders[4].note[0:32]", "holders[4].note"),
]


@pytest.mark.parametrize(("name", "variable"), CHANGED_VARIABLES)
def test_the_names_of_state_changes(filled, name, variable):
    assert filled.values(variable=name) == filled.values(variable=variable)


def test_the_state_of_an_older_block(filled):
    number = int(filled.explorer.anvil.call("eth_blockNumber"), 16)
    filled.explorer.send(
        filled.address, conftest.calldata("set(address,uint256)", WHO, 78), gas=5_000_000
    )
    path = f"balances[{WHO}]"
    assert filled.values(variable=path, block=number) == {path: "77"}
    assert filled.values(variable=path) == {path: "78"}


BAD_PATHS = """
    balances[0x12] balances[ balances.owner balances[-1] packed.absent packed[0] few[5] many[-1]
    many[99999999999999999999] total.x total.length many[0:32] holders[4].note[0:32].x byStep[256]
    bySelector[0x0102030405] bySelector[0x010203]
""".split()
BAD_PATHS += ["byName[\ud800]", "x" * 501, "total" + "[0]" * 165]


REFUSED_PATHS = [("absent", 404), ("[" * 500, 404), *((path, 400) for path in BAD_PATHS)]


@pytest.mark.parametrize(("path", "status"), REFUSED_PATHS)
def test_bad_paths(filled, path, status):
    answer = filled.storage(variable=path.encode("utf-8", "surrogatepass"))
    assert answer.status_code == status, answer.json


def test_verifying_again_keeps_the_layout_of_what_was_verified_without(filled):
    filled.explorer.execute("DELETE FROM compiled_sources WHERE address = %s", data(filled.address))
    assert filled.storage().status_code == 404
    standard = standard_input({conftest.PATH: conftest.KEPT}, **conftest.OPTIMIZED)
    name = f"{conftest.PATH}:Kept"
    answer = filled.explorer.verify(filled.address, standard, conftest.VERSION, contractName=name)
    assert "already stored" in answer.json["message"]
    assert filled.values()["total"] == filled.read("total")


def test_bad_parameters(filled, explorer):
    require_parameter(filled.storage(block="x"), "block")
    assert filled.storage(block=10**9).status_code == 404
    unverified = explorer.place("0x5f3560015500")
    answer = explorer.client.get(f"/api/v1/contracts/{unverified}/storage")
    assert answer.status_code == 404
    assert "not verified" in str(answer.json)
