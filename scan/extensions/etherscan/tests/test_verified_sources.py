"""getsourcecode of contracts that were verified: what would compile them again."""

import json

from tests.support.explorer import compiled, standard_input

VERSION = "0.8.28"
SOURCE = """pragma solidity >=0.8.0;
library Halves { function half(uint256 x) public pure returns (uint256) { return x / 2; } }
contract Halved { function cut(uint256 x) public pure returns (uint256) { return Halves.half(x); } }
"""
OPTIMIZER = {"enabled": True, "runs": 200}
GIVEN = {"optimizationUsed": 1, "runs": 200}


def row_of(explorer, address):
    query = {"module": "contract", "action": "getsourcecode", "address": address}
    [row] = explorer.client.get("/api", query_string=query).json["result"]
    assert isinstance(row, dict)
    return row


def test_a_file_that_was_linked_is_standard_json_with_its_libraries(explorer):
    """Only one whose other fields say how it was compiled is its text alone."""
    plain = standard_input({"Halved.sol": SOURCE}, optimizer=OPTIMIZER)
    library = explorer.deploy(compiled(VERSION, plain, "Halved.sol", "Halves").creation)
    libraries = {"Halved.sol": {"Halves": library}}
    linked = standard_input({"Halved.sol": SOURCE}, optimizer=OPTIMIZER, libraries=libraries)
    contract = explorer.deploy(compiled(VERSION, linked, "Halved.sol", "Halved").creation)
    for address, name in ((library, "Halves"), (contract, "Halved")):
        path = {"contractName": f"Halved.sol:{name}"}
        assert explorer.verify(address, SOURCE, VERSION, **GIVEN, **path).json["match"] == "full"
    assert row_of(explorer, library)["SourceCode"] == SOURCE
    row = row_of(explorer, contract)
    assert row["Library"] == f"Halves:{library.removeprefix('0x')}"
    standard = json.loads(row["SourceCode"][1:-1])
    assert standard["sources"]["Halved.sol"]["content"] == SOURCE
    assert standard["settings"]["libraries"] == libraries
    assert standard["settings"]["optimizer"] == OPTIMIZER
