"""Sourcify's API v2 over a real chain and real compilers: records, selections, jobs, bad input."""

import json
import re
import time
import uuid
from typing import Any

import pytest

from scan.extensions.sourcify import blueprint, submissions
from scan.http.services import Services
from scan.verification.request import MAX_FILES, MAX_SOURCE_BYTES
from tests.support.database import execute
from tests.support.explorer import Explorer, compiled, from_node_modules, standard_input
from tests.support.many_functions import CHECKSUMMED, PROXY, SLOT, VERSION, deploy

CHAIN = "31337"
SOURCE = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
/// @title A value that stays
contract Stored {
    /// @notice The value
    uint256 public constant x = 4711;
}
"""
PATH = "contracts/Stored.sol"
IDENTIFIER = f"{PATH}:Stored"
STANDARD = standard_input({PATH: SOURCE}, optimizer={"enabled": True, "runs": 300})
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MINIMAL = {"match", "creationMatch", "runtimeMatch", "chainId", "address", "verifiedAt", "matchId"}


def get(explorer: Explorer, path: str, **query: str) -> Any:
    return explorer.client.get(path, query_string=query)


def submit(
    explorer: Explorer, address: str, body: object, path: str = "/v2/verify", client: str = "::1"
) -> Any:
    peer = {"REMOTE_ADDR": client}
    return explorer.client.post(f"{path}/{CHAIN}/{address}", json=body, environ_base=peer)


def standard_request(source: str = SOURCE, **changed: object) -> dict[str, Any]:
    given = {**STANDARD, "sources": {PATH: {"content": source}}}
    version = f"{VERSION}+commit.7893614a"
    body = {"stdJsonInput": given, "compilerVersion": version, "contractIdentifier": IDENTIFIER}
    return {**body, **changed}


def ended(explorer: Explorer, response: Any) -> Any:
    assert response.status_code == 202, response.json
    verification_id = response.json["verificationId"]
    assert UUID.fullmatch(verification_id)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        job = get(explorer, f"/v2/verify/{verification_id}")
        assert job.status_code == 200
        if job.json["isJobCompleted"]:
            return job.json
    raise TimeoutError(job.json)


def is_error(response: Any, status: int, code: str) -> bool:
    assert response.content_type == "application/json"
    value = response.json
    assert set(value) == {"customCode", "message", "errorId"} and UUID.fullmatch(value["errorId"])
    assert (response.status_code, value["customCode"]) == (status, code), value
    return True


def deployed(explorer: Explorer, source: str = SOURCE) -> str:
    standard = {**STANDARD, "sources": {PATH: {"content": source}}}
    return explorer.deploy(compiled(VERSION, standard, PATH, "Stored").creation)


@pytest.fixture(scope="module")
def stored(explorer: Explorer) -> str:
    """A contract verified through this interface."""
    address = deployed(explorer)
    job = ended(explorer, submit(explorer, address, standard_request()))
    assert job["contract"]["match"] == "exact_match", job
    return address


@pytest.mark.parametrize("server", ["", "/server"])
def test_a_contract_is_verified_and_looked_up(explorer: Explorer, server: str) -> None:
    source = SOURCE.replace("4711", "4712" if server else "4713")
    address = deployed(explorer, source)
    missing = get(explorer, f"{server}/v2/contract/{CHAIN}/{address}")
    assert missing.status_code == 404
    assert missing.json == {
        "match": None,
        "creationMatch": None,
        "runtimeMatch": None,
        "chainId": CHAIN,
        "address": checksummed(missing.json["address"], address),
    }
    body = standard_request(source)
    job = ended(explorer, submit(explorer, address, body, f"{server}/v2/verify"))
    found = get(explorer, f"{server}/v2/contract/{CHAIN}/{address}")
    assert found.status_code == 200
    assert set(found.json) == MINIMAL
    assert found.json["match"] == found.json["runtimeMatch"] == "exact_match"
    assert found.json["creationMatch"] == "exact_match"
    assert found.json["chainId"] == CHAIN and found.json["matchId"].isdigit()
    assert job["contract"] == found.json
    assert set(job) == {
        *("isJobCompleted", "verificationId", "jobStartTime", "jobFinishTime", "contract")
    }


def checksummed(given: str, address: str) -> str:
    assert given != address and given.lower() == address
    return given


def test_fields_are_those_selected(explorer: Explorer, stored: str) -> None:
    path = f"/v2/contract/{CHAIN}/{stored}"
    everything = get(explorer, path, fields="all").json
    output = compiled(VERSION, STANDARD, PATH, "Stored")
    assert everything["abi"] == output.abi
    assert everything["metadata"] == json.loads(output.metadata)
    assert everything["sources"] == {PATH: {"content": SOURCE}}
    assert everything["userdoc"] == json.loads(output.metadata)["output"]["userdoc"]
    assert everything["devdoc"]["title"] == "A value that stays"
    assert everything["storageLayout"] is None
    compilation = everything["compilation"]
    assert compilation["compilerVersion"].startswith(f"{VERSION}+commit.")
    assert compilation["compilerSettings"]["optimizer"] == {"enabled": True, "runs": 300}
    assert (compilation["name"], compilation["fullyQualifiedName"]) == ("Stored", IDENTIFIER)
    assert (compilation["language"], compilation["compiler"]) == ("Solidity", "solc")
    code = explorer.anvil.call("eth_getCode", stored, "latest")
    assert everything["runtimeBytecode"]["onchainBytecode"] == code
    assert everything["creationBytecode"]["onchainBytecode"] == f"0x{output.creation}"
    contract = everything["stdJsonOutput"]["contracts"][PATH]["Stored"]
    assert contract["metadata"] == output.metadata
    assert everything["proxyResolution"] == {
        "isProxy": False,
        "proxyType": None,
        "implementations": [],
    }
    for fields in ("abi", "abi,compilation,metadata", "sources", "stdJsonInput,userdoc"):
        found = get(explorer, path, fields=fields).json
        assert found == {name: everything[name] for name in (*MINIMAL, *fields.split(","))}
    found = get(explorer, path, fields="abi,metadata,compilation.name,deployment.deployer").json
    assert found["compilation"] == {"name": "Stored"}
    assert found["deployment"] == {"deployer": everything["deployment"]["deployer"]}
    found = get(explorer, path, omit="sources,compilation.compilerSettings,matchId").json
    assert set(everything) - set(found) == {"sources", "matchId"}
    assert set(compilation) - set(found["compilation"]) == {"compilerSettings"}


def test_what_is_returned_can_be_submitted_again(explorer: Explorer, stored: str) -> None:
    """The standard JSON input returned gives an equal contract elsewhere."""
    fields = "stdJsonInput,compilation"
    found = get(explorer, f"/v2/contract/{CHAIN}/{stored}", fields=fields).json
    body = {
        "stdJsonInput": found["stdJsonInput"],
        "compilerVersion": f"v{found['compilation']['compilerVersion']}",
        "contractIdentifier": found["compilation"]["fullyQualifiedName"],
    }
    twin = deployed(explorer)
    known = get(explorer, f"/v2/contract/{CHAIN}/{twin}").json
    assert (known["match"], known["creationMatch"]) == ("exact_match", "exact_match")
    job = ended(explorer, submit(explorer, twin, body))
    assert job["contract"]["creationMatch"] == "exact_match"


def test_the_deployment_is_that_of_the_creating_transaction(
    explorer: Explorer, stored: str
) -> None:
    found = get(explorer, f"/v2/contract/{CHAIN}/{stored}", fields="deployment").json
    receipt = explorer.anvil.call(
        "eth_getTransactionReceipt", found["deployment"]["transactionHash"]
    )
    assert receipt["contractAddress"] == stored
    deployment = found["deployment"]
    assert deployment["blockNumber"] == str(int(receipt["blockNumber"], 16))
    assert deployment["transactionIndex"] == str(int(receipt["transactionIndex"], 16))
    assert deployment["deployer"].lower() == receipt["from"]


def test_other_comments_are_a_match_and_no_exact_one(explorer: Explorer) -> None:
    source = SOURCE.replace("4711", "4720")
    address = deployed(explorer, source)
    body = standard_request(source.replace("stays", "goes"))
    job = ended(explorer, submit(explorer, address, body))
    assert job["contract"]["match"] == job["contract"]["runtimeMatch"] == "match"
    fields = get(explorer, f"/v2/contract/{CHAIN}/{address}", fields="metadata").json
    assert fields["match"] == "match" and fields["metadata"]["output"]["devdoc"]["title"]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (standard_request(SOURCE.replace("4711", "1"))["stdJsonInput"], "no_match"),
        (standard_request("contract Stored { uint x = y; }")["stdJsonInput"], "compiler_error"),
    ],
    ids=["other", "broken"],
)
def test_a_failed_job_has_an_error(explorer: Explorer, changed: object, code: str) -> None:
    address = deployed(explorer, SOURCE.replace("4711", "4730"))
    job = ended(explorer, submit(explorer, address, standard_request(stdJsonInput=changed)))
    assert job["error"]["customCode"] == code and job["error"]["message"]
    assert UUID.fullmatch(job["error"]["errorId"])
    assert job["contract"]["match"] is None
    assert get(explorer, f"/v2/contract/{CHAIN}/{address}").status_code == 404


def test_what_is_exact_already_is_a_conflict(explorer: Explorer, stored: str) -> None:
    assert is_error(submit(explorer, stored, standard_request()), 409, "already_verified")


def test_a_contract_not_indexed_is_refused_after_a_wait(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blueprint, "WAIT_FOR_CONTRACT_S", 0.2)
    refused = submit(explorer, CHECKSUMMED.lower(), standard_request())
    assert is_error(refused, 404, "contract_not_deployed")


def test_a_metadata_file_and_its_sources_verify(explorer: Explorer) -> None:
    paths = (
        "@openzeppelin/contracts/utils/Strings.sol",
        "@openzeppelin/contracts/utils/Bytes.sol",
        "@openzeppelin/contracts/utils/math/Math.sol",
        "@openzeppelin/contracts/utils/math/SignedMath.sol",
        "@openzeppelin/contracts/utils/math/SafeCast.sol",
        "@openzeppelin/contracts/utils/Panic.sol",
    )
    source = """pragma solidity ^0.8.24;
import "@openzeppelin/contracts/utils/Strings.sol";
contract Spelled {
    function spell(uint256 n) external pure returns (string memory) { return Strings.toString(n); }
}
"""
    standard = standard_input({"a b/Spelled.sol": source, **from_node_modules(*paths)})
    output = compiled(VERSION, standard, "a b/Spelled.sol", "Spelled")
    address = explorer.deploy(output.creation)
    metadata = json.loads(output.metadata)
    contents = [each["content"] for each in standard["sources"].values()]
    sources = {f"file{n}": content for n, content in enumerate(contents)}
    body = {"metadata": metadata, "sources": sources}
    job = ended(explorer, submit(explorer, address, body, "/v2/verify/metadata"))
    assert job["contract"]["match"] == "exact_match", job
    found = get(explorer, f"/v2/contract/{CHAIN}/{address}", fields="metadata").json
    assert found["metadata"] == metadata
    del body["sources"]["file1"]
    other = deployed(explorer, SOURCE.replace("4711", "4740"))
    refused = submit(explorer, other, body, "/v2/verify/metadata")
    assert is_error(refused, 400, "invalid_parameter")
    assert "Strings.sol" in refused.json["message"]


def test_proxies_are_resolved(explorer: Explorer, stored: str) -> None:
    arguments = f"{stored[2:]:0>64}{SLOT}"
    proxy = deploy(explorer, PROXY, "Proxy", arguments)
    assert explorer.verify(proxy, PROXY, VERSION, contractName="Proxy").status_code == 200
    found = get(explorer, f"/v2/contract/{CHAIN}/{proxy}", fields="proxyResolution").json
    [implementation] = found["proxyResolution"]["implementations"]
    assert (found["proxyResolution"]["isProxy"], implementation["name"]) == (True, "Stored")
    assert found["proxyResolution"]["proxyType"] == "EIP1967Proxy"
    assert checksummed(implementation["address"], stored)


def test_libraries_are_grouped_by_file(explorer: Explorer) -> None:
    source = """pragma solidity ^0.8.0;
library Lib { function f(uint a) external pure returns (uint) { return a + 1; } }
contract Linked { function g(uint a) external pure returns (uint) { return Lib.f(a); } }
"""
    library = deploy(explorer, source.replace("contract", "// c").split("// c")[0], "Lib")
    libraries = {"Linked.sol": {"Lib": library}}
    standard = standard_input({"Linked.sol": source}, libraries=libraries)
    address = explorer.deploy(compiled(VERSION, standard, "Linked.sol", "Linked").creation)
    body = standard_request(stdJsonInput=standard, contractIdentifier="Linked.sol:Linked")
    assert ended(explorer, submit(explorer, address, body))["contract"]["match"] == "exact_match"
    found = get(explorer, f"/v2/contract/{CHAIN}/{address}", fields="compilation").json
    assert found["compilation"]["compilerSettings"]["libraries"] == libraries


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        (f"/v2/contract/1/{CHECKSUMMED}", 404, "unsupported_chain"),
        (f"/v2/contract/0x7a69/{CHECKSUMMED}", 400, "invalid_parameter"),
        (f"/v2/contract/{'9' * 21}/{CHECKSUMMED}", 400, "invalid_parameter"),
        (f"/v2/contract/{'9' * 20}/{CHECKSUMMED}", 404, "unsupported_chain"),
        (f"/v2/contract/٣/{CHECKSUMMED}", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/0x12", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?fields=abi&omit=abi", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?fields=abi,all", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?fields=abi,", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?fields=nothing", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?fields=abi.x", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?fields=a.b.c", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?fields=compilation.", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?omit=compilation.x", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?fields=%00", 400, "invalid_parameter"),
        (f"/v2/contract/{CHAIN}/{CHECKSUMMED}?fields=abi&fields=abi", 400, "invalid_parameter"),
        ("/v2/verify/1", 404, "job_not_found"),
        (f"/v2/verify/{uuid.UUID(int=0)}", 404, "job_not_found"),
        ("/v2/verify/%00", 404, "job_not_found"),
        ("/v2/contract/1", 404, "route_not_found"),
        ("/v2/contracts", 404, "route_not_found"),
        ("/v2/contracts/1", 404, "unsupported_chain"),
        ("/server", 404, "route_not_found"),
        ("/server/v2/anything", 404, "route_not_found"),
        (f"/v2/verify/{CHAIN}/{CHECKSUMMED}", 405, "method_not_allowed"),
    ],
)
def test_errors_have_their_form(explorer: Explorer, path: str, status: int, code: str) -> None:
    assert is_error(explorer.client.get(path), status, code)
    if not path.startswith("/server"):
        assert is_error(explorer.client.get(f"/server{path}"), status, code)


@pytest.mark.parametrize(
    "changed",
    [
        {"stdJsonInput": None},
        {"stdJsonInput": "text"},
        {"stdJsonInput": {}},
        {"stdJsonInput": {"language": "Vyper", "sources": {}}},
        {"stdJsonInput": {"language": "Solidity", "sources": {"a.sol": {"urls": ["/etc/x"]}}}},
        {"stdJsonInput": {**STANDARD, "settings": 5}},
        {"stdJsonInput": {**STANDARD, "x": "\ud800"}, "compilerVersion": "x"},
        {"compilerVersion": None},
        {"compilerVersion": 8},
        {"compilerVersion": "latest"},
        {"contractIdentifier": None},
        {"contractIdentifier": "Stored"},
        {"contractIdentifier": "a.sol:"},
        {"contractIdentifier": "a.sol:\ud800"},
        {"contractIdentifier": ["a.sol:A"]},
        {"creationTransactionHash": "0x12"},
    ],
    ids=lambda changed: str(changed)[:60].encode("ascii", "replace").decode(),
)
def test_malformed_submissions_are_refused(explorer: Explorer, changed: Any) -> None:
    address = CHECKSUMMED
    response = submit(explorer, address, standard_request(**changed))
    assert is_error(response, 400, "invalid_parameter")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"metadata": {}},
        {"metadata": {}, "sources": []},
        {"metadata": {"settings": {}}, "sources": {}},
        {"metadata": {"settings": {"compilationTarget": {}}}, "sources": {}},
        {"metadata": {"settings": {"compilationTarget": {"a": "b"}}}, "sources": {}},
        {
            "metadata": {"settings": {"compilationTarget": {"a": 5}}, "sources": {"a": 5}},
            "sources": {"a": "\ud800"},
        },
        {
            "metadata": {
                "settings": {"compilationTarget": {"a": "b"}},
                "sources": {"a": {"content": "contract b {}"}},
                "compiler": {},
            },
            "sources": {},
        },
    ],
    ids=lambda body: str(body)[:60].encode("ascii", "replace").decode(),
)
def test_malformed_metadata_is_refused(explorer: Explorer, body: Any) -> None:
    response = submit(explorer, CHECKSUMMED, body, "/v2/verify/metadata")
    assert is_error(response, 400, "invalid_parameter")


def test_sources_of_a_standard_json_are_counted_before_they_are_written_again(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {**STANDARD, "sources": {f"{number}.sol": {} for number in range(MAX_FILES + 1)}}
    monkeypatch.setattr(submissions, "json", None)
    response = submit(explorer, CHECKSUMMED, standard_request(stdJsonInput=given))
    assert is_error(response, 400, "invalid_parameter")


@pytest.mark.parametrize(
    ("metadata_sources", "sources", "status"),
    [
        ({}, {f"{number}.sol": "" for number in range(MAX_FILES + 1)}, 400),
        ({f"{number}.sol": {} for number in range(MAX_FILES + 1)}, {}, 400),
        ({}, {"a.sol": "é" * (MAX_SOURCE_BYTES // 4), "b.sol": "x" * MAX_SOURCE_BYTES}, 413),
    ],
    ids=["sources", "sources of the metadata", "bytes"],
)
def test_sources_are_counted_before_they_are_hashed(
    explorer: Explorer,
    monkeypatch: pytest.MonkeyPatch,
    metadata_sources: Any,
    sources: Any,
    status: int,
) -> None:
    settings = {"compilationTarget": {"a.sol": "A"}}
    metadata = {"settings": settings, "sources": metadata_sources, "compiler": {"version": "0.8.0"}}
    monkeypatch.setattr(submissions, "keccak", None)
    body = {"metadata": metadata, "sources": sources}
    response = submit(explorer, CHECKSUMMED, body, "/v2/verify/metadata")
    assert response.status_code == status and "sources" in response.json["message"]


def test_bodies_are_json_of_a_bounded_size(explorer: Explorer, stored: str) -> None:
    path, client = f"/v2/verify/{CHAIN}/{stored}", explorer.client
    assert is_error(client.post(path, data="{"), 415, "invalid_parameter")
    json_type = {"Content-Type": "application/json"}
    assert is_error(client.post(path, data="{", headers=json_type), 400, "invalid_json")
    assert is_error(client.post(path, data="[]", headers=json_type), 400, "invalid_json")
    for levels, status, code in ((20_000, 400, "invalid_json"), (90_000, 413, "invalid_parameter")):
        deep = b'{"stdJsonInput":' + b"[" * levels
        assert is_error(client.post(path, data=deep, headers=json_type), status, code)
    large = b" " * 6_000_000
    assert is_error(client.post(path, data=large, headers=json_type), 413, "invalid_parameter")
    other = deployed(explorer, SOURCE.replace("4711", "4750"))
    body = standard_request("// " + "x" * 2_000_000)
    assert is_error(submit(explorer, other, body), 413, "invalid_parameter")


def test_a_large_source_verifies(explorer: Explorer) -> None:
    source = SOURCE.replace("4711", "4760")
    address = deployed(explorer, source)
    body = standard_request(source + "//" + "é" * 500_000)
    assert ended(explorer, submit(explorer, address, body))["contract"]["match"] == "match"


def test_a_request_waits_for_its_job(explorer: Explorer) -> None:
    """An anonymous client has ten requests in a minute; three are enough."""
    address = deployed(explorer, SOURCE.replace("4711", "4780"))
    response = submit(explorer, address, standard_request(SOURCE.replace("4711", "4780")))
    job = get(explorer, f"/v2/verify/{response.json['verificationId']}")
    assert job.json["isJobCompleted"] is True


def test_a_contract_verified_before_its_metadata_was_kept_lacks_it(explorer: Explorer) -> None:
    address = deployed(explorer, SOURCE.replace("4711", "4790"))
    body = standard_request(SOURCE.replace("4711", "4790"))
    ended(explorer, submit(explorer, address, body))
    url = explorer.settings.database_url
    execute(
        url,
        "UPDATE verified_contracts SET metadata = NULL, creation_match = NULL WHERE address = %s",
        bytes.fromhex(address[2:]),
    )
    path, fields = f"/v2/contract/{CHAIN}/{address}", "metadata,userdoc,abi"
    found = get(explorer, path, fields=fields).json
    assert (found["metadata"], found["userdoc"]) == (None, None) and found["abi"]
    ended(explorer, submit(explorer, address, body))
    assert get(explorer, path, fields=fields).json["metadata"]["language"] == "Solidity"


def test_the_interface_is_charged_like_the_others(explorer: Explorer) -> None:
    services: Services = explorer.app.extensions["scan"]
    assert services.limiter is not None
    response = get(explorer, f"/v2/contract/{CHAIN}/{CHECKSUMMED}")
    assert int(response.headers["X-RateLimit-Remaining"]) > 0
    refused = explorer.client.get(
        f"/v2/contract/{CHAIN}/{CHECKSUMMED}", headers={"X-API-Key": "scan_unknown"}
    )
    assert is_error(refused, 401, "invalid_api_key")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
