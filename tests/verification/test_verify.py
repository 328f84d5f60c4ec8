"""Contracts deployed on a real node, verified with real compilers of every line since 0.4."""

import json
from collections import namedtuple
from pathlib import Path

import pytest

from tests.support.explorer import compiled, standard_input

pytestmark = pytest.mark.thorough

BOX = Path(__file__).with_name("Box.sol").read_text()
MODERN_BOX = BOX.replace("constructor(uint256 first) public", "constructor(uint256 first)")
IMMUTABLES = Path(__file__).with_name("Immutables.sol").read_text()
Case = namedtuple("Case", "version source name settings match", defaults=("full",))
ON = {"enabled": True, "runs": 200}
NO_HASH = {"bytecodeHash": "none"}


@pytest.mark.parametrize(
    "case",
    [
        Case("0.4.26", BOX, "Box", {}),
        Case("0.4.26", BOX, "Box", {"optimizer": ON}),
        Case("0.5.16", BOX, "Box", {"optimizer": {"enabled": True, "runs": 999999}}),
        Case("0.6.12", BOX, "Box", {"optimizer": ON, "evmVersion": "byzantium"}),
        Case("0.7.6", IMMUTABLES, "Fixed", {"optimizer": ON}),
        Case("0.8.4", MODERN_BOX, "Box", {"optimizer": {"enabled": True, "runs": 1}}),
        Case("0.8.28", IMMUTABLES, "Fixed", {}),
        Case("0.8.28", MODERN_BOX, "Box", {"viaIR": True, "optimizer": ON}),
        Case("0.8.28", MODERN_BOX, "Box", {"optimizer": ON, "evmVersion": "paris"}),
        *(
            Case("0.8.28", MODERN_BOX, "Box", {"optimizer": ON, "metadata": metadata}, "partial")
            for metadata in (NO_HASH, {**NO_HASH, "appendCBOR": False})
        ),
    ],
    ids=lambda case: f"{case.version} {case.settings}",
)
def test_settings_not_given_are_found_and_with_them_and_the_path_the_match_is_full(explorer, case):
    """But of code without a hash of its metadata, which matches partially whatever is given."""
    path, seven = "contracts/told/Nobody.sol", f"{7:064x}"
    standard = standard_input({path: case.source}, **case.settings)
    built = compiled(case.version, standard, path, case.name)
    address = explorer.deploy(built.creation, seven)
    answer = explorer.verify(address, case.source, case.version)
    assert answer.status_code == 200, answer.json
    assert (answer.json["success"], answer.json["address"]) == (True, address)
    # Nobody told the file's path.
    assert (answer.json["match"], answer.json["creationMatch"]) == ("partial", "partial")
    assert answer.json["contractName"] == case.name
    assert answer.json["compilerVersion"].startswith(case.version + "+")
    assert answer.json["constructorArguments"] == "0x" + seven
    for name in case.settings.keys() - {"optimizer"}:
        assert answer.json["settings"][name] == case.settings[name]
    named = {"contractName": f"{path}:{case.name}", "license": "MIT"}
    named["constructorArguments"] = seven
    answer = explorer.verify(address, standard, case.version, **named)
    assert (answer.status_code, answer.json["match"]) == (200, case.match), answer.json
    stored = explorer.contract(address).json
    assert (stored["creationMatch"], stored["verifiedBy"]) == (case.match, None)
    assert stored["abi"] == built.abi
    kept = stored["sources"], stored["license"], stored["filePath"]
    whole = {path: {"content": case.source}}, "MIT", path
    assert (kept == whole) is (case.match == "full")


@pytest.mark.parametrize("patch", [11, 17, 18, 22, 26])
def test_a_contract_is_found_by_name_with_releases_of_0_4(explorer, patch):
    """The first, the last, and those beside changes: 0.4.18 selects outputs by other rules."""
    version = f"0.4.{patch}"
    number = 1000 + patch  # code of its own for each
    source = (
        f"contract Other {{ uint public x = 7; }}\n"
        f"contract Old {{ uint constant n = {number};"
        f" function number() public constant returns (uint) {{ return n; }} }}"
    )
    code = compiled(version, standard_input({"Old.sol": source}), "Old.sol", "Old")
    address = explorer.deploy(code.creation)
    answer = explorer.verify(address, source, version, contractName="Old", optimizationUsed=0)
    assert (answer.status_code, answer.json.get("match")) == (200, "full"), answer.json
    assert explorer.call(address, "number").json["result"] == str(number)


@pytest.mark.parametrize("version", ["0.4.26", "0.8.28"])
def test_libraries_are_linked_and_called(explorer, version):
    source = Path(__file__).with_name("Library.sol").read_text()
    standard = standard_input({"Uses.sol": source}, optimizer=ON)
    library_address = explorer.deploy(compiled(version, standard, "Uses.sol", "Maths").creation)
    linked = {"Uses.sol": {"Maths": library_address}}
    with_library = standard_input({"Uses.sol": source}, optimizer=ON, libraries=linked)
    address = explorer.deploy(compiled(version, with_library, "Uses.sol", "Uses").creation)

    options = {"optimizationUsed": 1, "runs": 200, "viaIR": False}
    answer = explorer.verify(library_address, source, version, **options)
    assert (answer.json["contractName"], answer.json["match"]) == ("Maths", "full")
    options["contractName"] = "Uses.sol:Uses"
    wrong = {"Maths": "0x" + 40 * "1"}
    answer = explorer.verify(address, source, version, libraries=wrong, **options)
    assert answer.status_code == 422
    assert "linked to" in answer.json["error"]
    for more in ({}, {"libraries": {"Maths": library_address}}, {"libraries": linked}):
        answer = explorer.verify(address, source, version, **options, **more)
        assert (answer.status_code, answer.json["match"]) == (200, "full"), answer.json
        assert library_address in json.dumps(answer.json["settings"]["libraries"])
    assert explorer.call(address, "four", "5").json["result"] == "20"
