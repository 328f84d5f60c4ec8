"""Verification in Etherscan's form: Vyper, and what getsourcecode has of linked contracts."""

import json

from scan.verification.request import parse
from tests.support.explorer import compiled, standard_input
from tests.support.vyper import BOX, NEWEST, SEVEN


def test_vyper_is_verified_and_shown_as_vyper(explorer, vyper):
    """From standard JSON; a single file is Vyper by its compiler's version."""
    address = explorer.deploy(vyper.creation_of(NEWEST, BOX), SEVEN)
    standard = {"language": "Vyper", "sources": {"Box.vy": {"content": BOX}}, "settings": {}}
    fields = {
        "module": "contract",
        "action": "verifysourcecode",
        "contractaddress": address,
        "sourceCode": json.dumps(standard),
        "codeformat": "vyper-json",
        "contractname": "Box.vy:Box",
        "compilerversion": f"vyper:{NEWEST}",
        "constructorArguements": SEVEN,
    }
    single = {"sourceCode": BOX, "codeformat": "solidity-single-file", "contractname": "Box"}
    named = {"contractName": "Box.vy:Box"}
    body = {"compilerVersion": NEWEST, "constructorArguments": SEVEN, "address": address}
    of_single = {"language": "vyper", "sourceCode": BOX, "contractName": "Box"}
    of_standard = {"sourceCode": json.dumps(standard), **named}
    for form, own in ((single, of_single), ({}, of_standard)):
        submitted = explorer.client.post("/api", data={**fields, **form})
        assert explorer.submission(submitted) == parse({**body, **own})
    unknown = {**fields, "compilerversion": "vyper:0.1.0"}
    assert explorer.client.post("/api", data=unknown).json["status"] == "0"
    given = {"constructorArguments": SEVEN, **named}
    assert explorer.verify(address, standard, NEWEST, **given).status_code == 200
    [row] = explorer.get(f"/api?module=contract&action=getsourcecode&address={address}")["result"]
    assert row["SourceCode"] == BOX
    assert (row["CompilerVersion"], row["CompilerType"]) == (f"vyper:{NEWEST}", "vyper")
    assert (row["ContractName"], row["ConstructorArguments"]) == ("Box", SEVEN)


SOURCE = """pragma solidity >=0.8.0;
library Halves { function half(uint256 x) public pure returns (uint256) { return x / 2; } }
contract Halved { function cut(uint256 x) public pure returns (uint256) { return Halves.half(x); } }
"""


def test_a_file_that_was_linked_is_standard_json_with_its_libraries(explorer):
    """Only one whose other fields say how it was compiled is its text alone."""
    given = {"optimizationUsed": 1, "runs": 200}
    optimizer = {"enabled": True, "runs": 200}
    version = "0.8.28"
    plain = standard_input({"Halved.sol": SOURCE}, optimizer=optimizer)
    library = explorer.deploy(compiled(version, plain, "Halved.sol", "Halves").creation)
    libraries = {"Halved.sol": {"Halves": library}}
    linked = standard_input({"Halved.sol": SOURCE}, optimizer=optimizer, libraries=libraries)
    contract = explorer.deploy(compiled(version, linked, "Halved.sol", "Halved").creation)
    for address, name in ((library, "Halves"), (contract, "Halved")):
        path = {"contractName": f"Halved.sol:{name}"}
        assert explorer.verify(address, SOURCE, version, **given, **path).json["match"] == "full"
    [of_library], [row] = (
        explorer.get(f"/api?module=contract&action=getsourcecode&address={address}")["result"]
        for address in (library, contract)
    )
    assert of_library["SourceCode"] == SOURCE
    assert row["Library"] == f"Halves:{library.removeprefix('0x')}"
    standard = json.loads(row["SourceCode"][1:-1])
    assert standard["sources"]["Halved.sol"]["content"] == SOURCE
    assert standard["settings"]["libraries"] == libraries
    assert standard["settings"]["optimizer"] == optimizer
