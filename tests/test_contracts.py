"""The three endpoints: bad input, read calls, proxies, and what others notice of it all."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from scan import compiler
from tests.chain import ZERO
from tests.explorer import Explorer, compiled, standard_input

VERSION = "0.8.28"
CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

MANY = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Many {
    struct Pair { uint256 left; address right; }
    struct Deep { string name; Pair[] pairs; }
    error Poor(uint256 asked, uint256 left);
    uint256 public stored = 2**256 - 1;
    mapping(address => mapping(uint256 => bool)) public flags;
    bytes public blob = hex"00ff";
    function nothing() external pure {}
    function echo(int8 a, bytes4 b, bool c, string calldata d) external pure
        returns (int8, bytes4, bool, string memory) { return (a, b, c, d); }
    function deep(Deep calldata d) external pure returns (Deep memory) { return d; }
    function list(uint256[] calldata a) external pure returns (uint256[] memory) { return a; }
    function over(uint256 a) external pure returns (string memory) { return "number"; }
    function over(address a) external pure returns (string memory) { return "address"; }
    function require_(uint256 a) external pure { require(a > 5, "too small"); }
    function divide(uint256 a) external pure returns (uint256) { return 1 / a; }
    function poor() external pure { revert Poor(5, 3); }
    function silent() external pure { revert(); }
    function limit() external pure { revert("rate limit exceeded"); }
    function burn() external pure { while (true) {} }
    function broken() external pure returns (string memory) {
        assembly { mstore(0, 32) mstore(32, 2) mstore(64, shl(240, 0x41ff)) return(0, 96) }
    }
    function short() external pure returns (string memory) { assembly { return(0, 31) } }
    function bomb() external pure returns (uint256[][][][][][][] memory) {
        assembly {
            mstore(0, 32)
            let at := 32
            for { let depth := 0 } lt(depth, 7) { depth := add(depth, 1) } {
                mstore(at, 9)
                for { let n := 1 } lt(n, 10) { n := add(n, 1) } { mstore(add(at, mul(n, 32)), 288) }
                at := add(at, 320)
            }
            return(0, at)
        }
    }
    function huge() external pure returns (bytes memory) {
        assembly { mstore(0, 32) mstore(32, 1200000) return(0, 1200064) }
    }
    function write() external { stored = 1; }
}
"""
PROXY = """pragma solidity ^0.8.20;
contract Proxy {
    constructor(address to, bytes32 slot) { assembly { sstore(slot, to) } }
    function admin() external pure returns (string memory) { return "own"; }
    fallback() external payable {
        bytes32 slot = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if done { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}
contract Beacon { address public implementation; constructor(address to) { implementation = to; } }
"""
SLOT = "360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
BEACON_SLOT = "a3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50"


def deploy(explorer: Explorer, source: str, name: str, arguments: str = "") -> str:
    found = compiled(VERSION, standard_input({f"{name}.sol": source}), f"{name}.sol", name)
    return explorer.deploy(found.creation, arguments)


def verified(explorer: Explorer, source: str, name: str) -> str:
    address = deploy(explorer, source, name)
    answer = explorer.verify(address, source, VERSION, contractName=name, optimizationUsed=0)
    assert answer.status_code == 200, answer.json
    return address


@pytest.fixture(scope="session")
def many(explorer: Explorer) -> str:
    return verified(explorer, MANY, "Many")


def test_a_call_answers_result_alone(explorer: Explorer, many: str) -> None:
    assert explorer.call(many, "stored").json == {"result": str(2**256 - 1)}


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        ("nothing", [], None),
        ("blob", [], "0x00ff"),
        ("flags", [CHECKSUMMED, "7"], False),
        (
            "echo",
            ["-128", "0xDEADBEEF", "true", "ünï\0"],
            ["-128", "0xdeadbeef", True, "ünï\0"],
        ),
        ("list", [[1, "2", "0x3"]], ["1", "2", "3"]),
        ("list(uint256[])", [[]], []),
        ("over", [5], "number"),
        ("over", [ZERO[:-1] + "g"], None),
        ("over(address)", [CHECKSUMMED], "address"),
        ("broken", [], "A\ufffd"),
    ],
)
def test_values_go_in_and_come_out(
    explorer: Explorer, many: str, function: str, arguments: list[Any], result: Any
) -> None:
    answer = explorer.call(many, function, *arguments)
    if "g" in str(arguments):
        assert answer.status_code == 400
    else:
        assert (answer.status_code, answer.json) == (200, {"result": result})


def test_named_tuples_come_back_as_objects(explorer: Explorer, many: str) -> None:
    pair = {"left": "1", "right": CHECKSUMMED.lower()}
    deep = {"name": "n", "pairs": [pair, pair]}
    assert explorer.call(many, "deep", deep).json == {"result": deep}
    as_arrays = ["n", [[1, CHECKSUMMED], [1, CHECKSUMMED]]]
    assert explorer.call(many, "deep", as_arrays).json == {"result": deep}


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        ("require_", [1], "too small"),
        ("divide", [0], "panic 0x12 (division or modulo by zero)"),
        ("poor", [], "Poor(asked=5, left=3)"),
        ("silent", [], "reverted"),
        ("limit", [], "rate limit exceeded"),
        ("burn", [], "gas"),
        ("short", [], "cannot be decoded"),
        ("bomb", [], "more than 100000 values"),
    ],
)
def test_a_call_that_fails_says_why(
    explorer: Explorer, many: str, function: str, arguments: list[Any], reason: str
) -> None:
    answer = explorer.call(many, function, *arguments)
    assert (answer.status_code, answer.json["code"]) == (422, "call_reverted"), answer.json
    assert reason.lower() in answer.json["error"].lower()
    assert explorer.anvil.url not in str(answer.json)


def test_a_large_result_is_answered_whole(explorer: Explorer, many: str) -> None:
    result = explorer.call(many, "huge").json["result"]
    assert len(result) == 2 + 2 * 1_200_000


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "functionName"),
        ({"functionName": None}, "functionName"),
        ({"functionName": 5}, "functionName"),
        ({"functionName": "absent"}, "functionName"),
        ({"functionName": "write"}, "functionName"),
        ({"functionName": "x" * 1000}, "functionName"),
        ({"functionName": "stored\0"}, "functionName"),
        ({"functionName": "stored", "args": {}}, "args"),
        ({"functionName": "stored", "args": None}, "args"),
        ({"functionName": "stored", "args": "1"}, "args"),
        ({"functionName": "stored", "args": [1]}, "args"),
        ({"functionName": "require_", "args": []}, "args"),
        ({"functionName": "require_", "args": [-1]}, "args"),
        ({"functionName": "require_", "args": [1.5]}, "args"),
        ({"functionName": "require_", "args": [True]}, "args"),
        ({"functionName": "over", "args": [True]}, "args"),
        ({"functionName": "list", "args": [[None]]}, "args"),
        ({"functionName": "flags", "args": [CHECKSUMMED.swapcase(), 1]}, "args"),
        ({"functionName": "stored", "from": ZERO}, "from"),
    ],
)
def test_a_call_that_cannot_be_made_is_a_bad_request(
    explorer: Explorer, many: str, body: dict[str, Any], field: str
) -> None:
    answer = explorer.client.post(f"/api/v1/contracts/{many}/call", json=body)
    assert (answer.status_code, answer.json["code"]) == (400, "invalid_parameter"), answer.json
    assert answer.json["field"] == field


@pytest.mark.parametrize("address", ["0x12", "0x" + "g" * 40, "5aAeb6053F3E94C9b9A09f33669435E7"])
def test_an_address_that_is_none_is_a_bad_request(explorer: Explorer, address: str) -> None:
    assert explorer.contract(address).status_code == 400
    assert explorer.call(address, "x").status_code == 400
    assert explorer.verify(address, "contract A {}", VERSION).status_code == 400


def test_what_is_not_verified_is_not_found(explorer: Explorer) -> None:
    source = "pragma solidity ^0.8.0; contract Unverified { uint256 public x = 77; }"
    for address in (deploy(explorer, source, "Unverified"), CHECKSUMMED):
        for answer in (explorer.contract(address), explorer.call(address, "x")):
            assert (answer.status_code, answer.json["code"]) == (404, "not_found")


def test_addresses_are_taken_in_any_case(explorer: Explorer, many: str) -> None:
    assert explorer.contract("0x" + many[2:].upper()).json["address"] == many
    assert explorer.call("0x" + many[2:].upper(), "stored").status_code == 200


@pytest.mark.parametrize(
    ("fields", "status", "field"),
    [
        ({"address": None}, 400, "address"),
        ({"compilerVersion": "latest"}, 400, "compilerVersion"),
        ({"compilerVersion": "../../bin/sh"}, 400, "compilerVersion"),
        ({"compilerVersion": "0.4.40"}, 400, "compilerVersion"),
        ({"compilerVersion": 8}, 400, "compilerVersion"),
        ({"sourceCode": ""}, 400, "sourceCode"),
        ({"sourceCode": "  \n"}, 400, "sourceCode"),
        ({"sourceCode": None}, 400, "sourceCode"),
        ({"sourceCode": {"language": "Solidity"}}, 400, "sourceCode"),
        ({"sourceCode": "contract A {} \0"}, 400, "sourceCode"),
        ({"sourceCode": "contract A {} \ud800"}, 400, "sourceCode"),
        ({"sourceCode": "{"}, 400, "sourceCode"),
        ({"sourceCode": "{" * 100_000}, 400, "sourceCode"),
        ({"sourceCode": "{}"}, 400, "sourceCode"),
        ({"sourceCode": '{"language": "Vyper", "sources": {}}'}, 400, "sourceCode"),
        ({"sourceCode": '{"language": "Solidity"}'}, 400, "sourceCode"),
        ({"sourceCode": "// " + "x" * 2_000_000}, 413, "sourceCode"),
        ({"license": 5}, 400, "license"),
        ({"license": "<script>"}, 400, "license"),
        ({"contractName": "a b"}, 400, "contractName"),
        ({"contractName": "../x.sol:"}, 400, "contractName"),
        ({"optimizationUsed": "yes"}, 400, "optimizationUsed"),
        ({"optimizationUsed": 2}, 400, "optimizationUsed"),
        ({"runs": -1}, 400, "runs"),
        ({"runs": 1.5}, 400, "runs"),
        ({"runs": 2**32}, 400, "runs"),
        ({"runs": True}, 400, "runs"),
        ({"evmVersion": "../x"}, 400, "evmVersion"),
        ({"viaIR": "maybe"}, 400, "viaIR"),
        ({"libraries": []}, 400, "libraries"),
        ({"libraries": {"A": "0x12"}}, 400, "libraries"),
        ({"constructorArguments": "0xzz"}, 400, "constructorArguments"),
        ({"constructorArguments": "0x1"}, 400, "constructorArguments"),
        ({"constructorArguments": 5}, 400, "constructorArguments"),
        ({"optimisationUsed": 1}, 400, "optimisationUsed"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_submission_that_is_malformed_is_refused(
    explorer: Explorer, many: str, fields: dict[str, Any], status: int, field: str
) -> None:
    body = {"address": many, "sourceCode": MANY, "compilerVersion": VERSION, **fields}
    answer = explorer.client.post("/api/v1/verify", data=json.dumps(body), headers=JSON)
    assert (answer.status_code, answer.json["field"]) == (status, field), answer.json


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("name", ["address", "sourceCode", "compilerVersion"])
def test_each_specified_field_is_required(explorer: Explorer, many: str, name: str) -> None:
    body = {"address": many, "sourceCode": MANY, "compilerVersion": VERSION}
    del body[name]
    answer = explorer.client.post("/api/v1/verify", json=body)
    assert (answer.status_code, answer.json["field"]) == (400, name)


def test_bodies_have_their_limits(explorer: Explorer, many: str) -> None:
    body = {"address": many, "sourceCode": "x" * 6_000_000, "compilerVersion": VERSION}
    answer = explorer.client.post("/api/v1/verify", json=body)
    assert (answer.status_code, answer.json["code"]) == (413, "too_large")
    answer = explorer.client.post("/api/v1/verify", data="x", headers={"Content-Type": "text/x"})
    assert answer.status_code == 415
    answer = explorer.client.get("/api/v1/verify")
    assert (answer.status_code, answer.json["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize(
    "sources",
    [
        {"A.sol": {"urls": ["/etc/passwd"]}},
        {"A.sol": {"urls": ["file:///etc/passwd"], "keccak256": "0x00"}},
        {"A.sol": {"content": 5}},
        {"A.sol": "contract A {}"},
        {f"{n}.sol": {"content": ""} for n in range(10_000)},
        {"A.sol\0": {"content": "contract A {}"}},
        [],
    ],
    ids=["urls", "file url", "number", "bare", "10,000 files", "NUL", "list"],
)
def test_standard_json_that_asks_for_more_is_refused(
    explorer: Explorer, many: str, sources: object
) -> None:
    answer = explorer.verify(many, {"language": "Solidity", "sources": sources}, VERSION)
    assert (answer.status_code, answer.json["field"]) == (400, "sourceCode")
    assert "root:" not in str(answer.json)


@pytest.mark.parametrize(
    "settings",
    [
        [],
        {"optimizer": []},
        {"optimizer": {"runs": 10**30}},
        {"optimizer": {"details": {"yulDetails": {"optimizerSteps": "\ud800"}}}},
        {"evmVersion": ["paris"]},
        {"viaIR": "yes"},
        {"remappings": {}},
        {"metadata": "none"},
        {"libraries": {"A.sol": {"A": "0x12"}}},
        {"libraries": {"A.sol": ["A"]}},
        {"remappings": ["a=" + "b" * 1_100_000]},
    ],
    ids=lambda value: str(value)[:50].encode("ascii", "replace").decode(),
)
def test_standard_json_settings_of_the_wrong_kind_are_refused(
    explorer: Explorer, many: str, settings: object
) -> None:
    given = {"language": "Solidity", "sources": {"A.sol": {"content": MANY}}, "settings": settings}
    answer = explorer.verify(many, given, VERSION)
    assert (answer.status_code, answer.json["code"]) == (400, "invalid_parameter"), answer.json


def test_settings_that_the_compiler_refuses_are_told(explorer: Explorer, many: str) -> None:
    for settings in ({"evmVersion": "nonsense"}, {"optimizer": {"runs": "many"}}):
        answer = explorer.verify(many, standard_input({"A.sol": MANY}, **settings), VERSION)
        assert answer.status_code == 422
        assert "JSONError" in answer.json["error"]


def test_urls_beside_content_and_model_checkers_are_not_passed_on(
    explorer: Explorer, many: str
) -> None:
    given = standard_input({"Many.sol": MANY}, modelChecker={"engine": "all"}, stopAfter="parsing")
    given["sources"]["Many.sol"]["urls"] = ["/etc/passwd"]
    given["settings"]["outputSelection"] = {"*": {"": ["ast"]}}
    answer = explorer.verify(many, given, VERSION)
    assert (answer.status_code, answer.json["match"]) == (200, "full"), answer.json


@pytest.mark.parametrize(
    "imported", ["/etc/passwd", "../../../../etc/passwd", "https://x.invalid/a"]
)
def test_an_import_of_what_was_not_sent_leaks_nothing(
    explorer: Explorer, many: str, imported: str
) -> None:
    answer = explorer.verify(many, f'import "{imported}"; contract A {{}}', VERSION)
    assert (answer.status_code, answer.json["code"]) == (422, "verification_failed")
    assert "not found" in answer.json["error"]
    assert "root:" not in answer.json["error"]


def test_compile_errors_are_told_with_their_place(explorer: Explorer, many: str) -> None:
    answer = explorer.verify(many, "contract A {\n  uint x = y;\n}", VERSION)
    assert answer.status_code == 422
    assert "DeclarationError in contract.sol line 2" in answer.json["error"]


def test_a_contract_that_the_source_does_not_have_is_told(explorer: Explorer, many: str) -> None:
    answer = explorer.verify(many, MANY, VERSION, contractName="Absent")
    assert answer.status_code == 422
    assert "no contract named Absent" in answer.json["error"]


def test_what_is_not_indexed_cannot_be_verified(explorer: Explorer) -> None:
    answer = explorer.verify(CHECKSUMMED, MANY, VERSION)
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")


def test_containers_of_the_object_format_are_told_unsupported(explorer: Explorer) -> None:
    answer = explorer.verify(explorer.place("ef0001010004"), MANY, VERSION)
    assert answer.status_code == 422
    assert "EVM Object Format" in answer.json["error"]


def test_a_storage_proxy_lends_its_implementation_s_abi(explorer: Explorer, many: str) -> None:
    proxy = deploy(explorer, PROXY, "Proxy", f"{int(many, 16):064x}" + SLOT)
    answer = explorer.call(proxy, "over", 5)
    assert answer.json == {"result": "number", "implementation": many}
    assert explorer.contract(proxy).status_code == 404
    answer = explorer.verify(proxy, PROXY, VERSION, contractName="Proxy", optimizationUsed=0)
    assert answer.status_code == 200
    stored = explorer.contract(proxy).json
    assert stored["contractName"] == "Proxy"
    assert stored["proxy"] == {"type": "eip1967", "implementation": many}
    assert explorer.call(proxy, "admin").json == {"result": "own"}
    assert explorer.call(proxy, "poor").json["error"].endswith("Poor(asked=5, left=3)")
    answer = explorer.call(proxy, "absent")
    assert (answer.status_code, answer.json["field"]) == (400, "functionName")


def test_a_beacon_proxy_is_followed(explorer: Explorer, many: str) -> None:
    beacon = deploy(explorer, PROXY, "Beacon", f"{int(many, 16):064x}")
    # Its code delegates by the other slot; that one is asked about, and set here, is the beacon's.
    proxy = deploy(explorer, PROXY, "Proxy", f"{int(beacon, 16):064x}" + BEACON_SLOT)
    explorer.verify(proxy, PROXY, VERSION, contractName="Proxy", optimizationUsed=0)
    assert explorer.contract(proxy).json["proxy"]["implementation"] == many


def test_a_minimal_proxy_is_verified_by_its_implementation(explorer: Explorer, many: str) -> None:
    clone = explorer.place(f"363d3d373d3d3d363d73{many[2:]}5af43d82803e903d91602b57fd5bf3")
    stored = explorer.contract(clone).json
    assert (stored["address"], stored["verifiedBy"]) == (clone, many)
    assert stored["proxy"] == {"type": "eip1167", "implementation": many}
    answer = explorer.call(clone, "over(uint256)", 5)
    assert answer.json == {"result": "number", "implementation": many}


def test_a_contract_deployed_anew_with_other_code_is_not_verified(explorer: Explorer) -> None:
    source = "pragma solidity ^0.8.0; contract Changing { uint256 public x = 5150; }"
    address = verified(explorer, source, "Changing")
    row = explorer.database.row("contracts_code", address=bytes.fromhex(address[2:]))
    assert row is not None
    changed = source.replace("x =", "y =")
    other = deploy(explorer, changed, "Changing")
    runtime = explorer.anvil.call("eth_getCode", other, "latest")
    explorer.anvil.call("anvil_setCode", address, runtime)
    with explorer.database.transaction() as transaction:
        code_hash = explorer.database.value("contracts_code", address=bytes.fromhex(other[2:]))
        number = explorer.anvil.head() + 1
        transaction.copy(
            "contracts",
            "address, block_number, code_hash",
            [(bytes.fromhex(address[2:]), number, bytes(code_hash))],
        )
    assert explorer.contract(address).status_code == 404
    assert explorer.call(address, "x").status_code == 404


def test_two_verifications_of_one_address_at_once_both_end_well(explorer: Explorer) -> None:
    source = "pragma solidity ^0.8.0; contract Twice { uint256 public x = 98765; }"
    address = deploy(explorer, source, "Twice")
    answers: list[Any] = []

    def ask() -> None:
        answers.append(explorer.verify(address, source, VERSION, optimizationUsed=0))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [200, 200]
    assert explorer.contract(address).json["match"] == "full"


@pytest.fixture
def hostile(explorer: Explorer, many: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Four verifications whose compiler never ends by itself, under way; their answers."""
    monkeypatch.setattr(compiler, "COMPILE_TIMEOUT_S", 4.0)
    source = """pragma experimental SMTChecker;
    contract A {
        function fermat(uint x, uint y, uint z) public pure {
            require(x > 2 && y > 2 && z > 2 && x < 1000000 && y < 1000000 && z < 1000000);
            assert(x * x * x + y * y * y != z * z * z);
        }
    }"""
    answers: list[Any] = []

    def ask() -> None:
        answers.append(explorer.verify(many, source, VERSION))

    threads = [threading.Thread(target=ask) for _ in range(compiler.RUNNING + compiler.WAITING)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    yield answers
    for thread in threads:
        thread.join()


def test_others_are_served_while_hostile_sources_compile(
    explorer: Explorer, many: str, hostile: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hostile == []
    refused = explorer.verify(many, MANY, VERSION)
    assert (refused.status_code, refused.json["code"]) == (503, "unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    assert explorer.client.get("/api/v1/stats").status_code == 200
    assert explorer.call(many, "stored").status_code == 200
    deadline = time.monotonic() + 60
    while len(hostile) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert {answer.status_code for answer in hostile} == {422}
    assert "did not finish" in hostile[0].json["error"]
    monkeypatch.undo()
    assert explorer.verify(many, MANY, VERSION, optimizationUsed=0).status_code == 200
