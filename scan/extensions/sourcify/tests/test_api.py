"""Sourcify's API v2 over a real chain and real compilers: records, selections, jobs, bad input."""

import json

import pytest
from eth_utils import to_checksum_address

from scan.extensions.sourcify.tests.submissions import (
    CHAIN,
    IDENTIFIER,
    PATH,
    SOURCE,
    STANDARD,
    deployed,
    ended,
    get,
    is_error,
    standard_request,
    submit,
)
from tests.support.explorer import compiled
from tests.support.many_functions import PROXY, SLOT, VERSION, verified
from tests.support.vyper import BOX, NEWEST, SEVEN

MINIMAL = {"match", "creationMatch", "runtimeMatch", "chainId", "address", "verifiedAt", "matchId"}


@pytest.mark.parametrize("server", ["", "/server"])
def test_a_contract_is_verified_and_looked_up(explorer, server):
    source = SOURCE.replace("4711", "4712" if server else "4713")
    address = deployed(explorer, source)
    missing = get(explorer, f"{server}/v2/contract/{CHAIN}/{address}")
    assert missing.status_code == 404
    nothing = dict.fromkeys(("match", "creationMatch", "runtimeMatch"))
    shown = {"chainId": CHAIN, "address": to_checksum_address(address)}
    assert missing.json == nothing | shown
    body = standard_request(source)
    job = ended(explorer, submit(explorer, address, body, f"{server}/v2/verify"))
    response = get(explorer, f"{server}/v2/contract/{CHAIN}/{address}")
    assert response.status_code == 200
    assert set(response.json) == MINIMAL
    matches = {response.json[name] for name in nothing}
    assert (matches, response.json["chainId"]) == ({"exact_match"}, CHAIN)
    assert job["contract"] == response.json
    expected = set("isJobCompleted verificationId jobStartTime jobFinishTime contract".split())
    assert set(job) == expected


@pytest.mark.parametrize(
    "page",
    [
        f"{server}/repo-ui/{path}"
        for server in ("", "/server")
        for path in ("{}/{}", "contracts/partial_match/{}/{}/", "contracts/full_match/{}/{}/")
    ],
)
def test_the_page_that_hardhat_prints_after_a_verification(explorer, stored, page):
    def shown(chain, address):
        browser = {"Accept": "text/html"}
        return explorer.client.get(page.format(chain, address), headers=browser)

    verified = shown(CHAIN, stored)
    assert (verified.status_code, verified.location) == (303, f"/address/{stored}?tab=contract")
    for answer, status, text in (
        (shown(CHAIN, "0x" + "9d" * 20), 404, "not verified"),
        (shown("1", stored), 404, "chain 1"),
        (shown(CHAIN, "0x9d"), 400, "Not an address"),
        (shown("x", stored), 400, "chainId"),
    ):
        assert (answer.status_code, answer.mimetype) == (status, "text/html")
        assert text in answer.text


def test_fields_are_those_selected(explorer, stored):
    path = f"/v2/contract/{CHAIN}/{stored}"
    everything = get(explorer, path, fields="all").json
    output = compiled(VERSION, STANDARD, PATH, "Stored")
    assert everything["abi"] == output.abi
    assert everything["metadata"] == json.loads(output.metadata)
    given = everything["stdJsonInput"]  # which can be submitted again
    assert everything["sources"] == given["sources"] == {PATH: {"content": SOURCE}}
    assert STANDARD["settings"].items() <= given["settings"].items()
    assert everything["userdoc"] == json.loads(output.metadata)["output"]["userdoc"]
    assert everything["storageLayout"] == {"storage": [], "types": None}
    compilation = everything["compilation"]
    assert compilation["compilerVersion"].startswith(f"{VERSION}+commit.")
    assert compilation["compilerSettings"]["optimizer"] == {"enabled": True, "runs": 300}
    assert (compilation["name"], compilation["fullyQualifiedName"]) == ("Stored", IDENTIFIER)
    contract = everything["stdJsonOutput"]["contracts"][PATH]["Stored"]
    assert contract["metadata"] == output.metadata
    assert contract["storageLayout"] == everything["storageLayout"]
    assert everything["proxyResolution"]["isProxy"] is False
    for fields in ("abi", "abi,compilation,metadata", "sources", "stdJsonInput,userdoc"):
        record = get(explorer, path, fields=fields).json
        assert record == {name: everything[name] for name in (*MINIMAL, *fields.split(","))}
    sent = everything["deployment"]["transactionHash"]
    assert explorer.anvil.receipt_of(sent)["contractAddress"] == stored
    record = get(explorer, path, fields="abi,metadata,compilation.name,deployment.deployer").json
    assert record["compilation"] == {"name": "Stored"}
    assert record["deployment"] == {"deployer": everything["deployment"]["deployer"]}
    record = get(explorer, path, omit="sources,compilation.compilerSettings,matchId").json
    assert set(everything) - set(record) == {"sources", "matchId"}
    assert set(compilation) - set(record["compilation"]) == {"compilerSettings"}


@pytest.mark.parametrize(
    ("code", "source"),
    {
        "no_match": SOURCE.replace("4711", "1"),
        "compiler_error": "contract A { uint x = y; }",
    }.items(),
)
def test_a_failed_job_has_an_error(explorer, code, source):
    address = deployed(explorer, SOURCE.replace("4711", "4730"))
    job = ended(explorer, submit(explorer, address, standard_request(source)))
    assert job["error"]["customCode"] == code and job["error"]["message"]
    assert job["contract"]["match"] is None


def test_what_is_exact_already_is_a_conflict(explorer, stored):
    assert is_error(submit(explorer, stored, standard_request()), 409, "already_verified")


def test_a_metadata_file_and_its_sources_verify(explorer):
    source = 'import "./Other.sol";\n' + SOURCE.replace("4711", "4760")
    standard = {**STANDARD, "sources": {"a b/Stored.sol": {"content": source}}}
    standard["sources"]["a b/Other.sol"] = {"content": "contract Other {}"}
    output = compiled(VERSION, standard, "a b/Stored.sol", "Stored")
    address = explorer.deploy(output.creation)
    metadata = json.loads(output.metadata)
    body = {"metadata": metadata, "sources": {"file0": "contract Other {}", "file1": source}}
    job = ended(explorer, submit(explorer, address, body, "/v2/verify/metadata"))
    assert job["contract"]["match"] == "exact_match", job
    record = get(explorer, f"/v2/contract/{CHAIN}/{address}", fields="metadata").json
    assert record["metadata"] == metadata
    del body["sources"]["file0"]
    other = deployed(explorer, SOURCE.replace("4711", "4740"))
    refused = submit(explorer, other, body, "/v2/verify/metadata")
    assert is_error(refused, 400, "invalid_parameter")
    assert "Other.sol" in refused.json["message"]


def test_what_hardhat_2_sends_is_answered_as_in_version_1(explorer):
    """A look-up, and files by their names with metadata.json, of which the result is awaited."""
    source = SOURCE.replace("4711", "4750")
    address = deployed(explorer, source)
    other = source.replace("4750", "4751")

    def status(chains=CHAIN, addresses=address):
        path = "/server/check-all-by-addresses"
        return get(explorer, path, addresses=addresses, chainIds=chains)

    def verify(text, **changed):
        given = {**STANDARD, "sources": {PATH: {"content": text}}}
        files = {"metadata.json": compiled(VERSION, given, PATH, "Stored").metadata, PATH: text}
        body = {"address": address, "chain": CHAIN, "files": files | changed}
        with explorer.running_jobs():
            return explorer.client.post("/server", json=body)

    unknown = [{"address": address, "status": "false"}]
    assert status().json == unknown
    refused = verify(other)
    assert (refused.status_code, "No match" in refused.json["error"]) == (400, True)
    for changed in ({"metadata.json": "{"}, {PATH: "another"}):
        assert is_error(verify(source, **changed), 400, "invalid_parameter")
    assert status().json == unknown
    on_chain = {"chainId": CHAIN, "status": "perfect"}
    for _ in range(2):
        assert verify(source).json == {"result": [{"address": address, **on_chain}]}
    assert status(f"1,{CHAIN}").json == [{"address": address, "chainIds": [on_chain]}]
    assert status("1").json == unknown
    assert is_error(status(addresses=",".join([address] * 21)), 400, "invalid_parameter")


def test_proxies_are_resolved(explorer, stored):
    proxy = verified(explorer, PROXY, "Proxy", f"{stored[2:]:0>64}{SLOT}")
    record = get(explorer, f"/v2/contract/{CHAIN}/{proxy}", fields="proxyResolution").json
    [implementation] = record["proxyResolution"]["implementations"]
    assert (record["proxyResolution"]["isProxy"], implementation["name"]) == (True, "Stored")
    assert record["proxyResolution"]["proxyType"] == "EIP1967Proxy"
    assert implementation["address"] == to_checksum_address(stored)


def test_a_request_waits_for_its_job(explorer, running_jobs):
    """An anonymous client has ten requests in a minute; three are enough."""
    address = deployed(explorer, SOURCE.replace("4711", "4780"))
    response = submit(explorer, address, standard_request(SOURCE.replace("4711", "4780")))
    job = get(explorer, f"/v2/verify/{response.json['verificationId']}")
    assert job.json["isJobCompleted"] is True


def test_a_contract_verified_before_its_metadata_was_kept_lacks_it(explorer):
    address = deployed(explorer, SOURCE.replace("4711", "4790"))
    body = standard_request(SOURCE.replace("4711", "4790"))
    ended(explorer, submit(explorer, address, body))
    explorer.execute(
        "UPDATE verified_contracts SET metadata = NULL, creation_match = NULL WHERE address = %s",
        bytes.fromhex(address[2:]),
    )
    path, fields = f"/v2/contract/{CHAIN}/{address}", "metadata,userdoc,abi"
    record = get(explorer, path, fields=fields).json
    assert (record["metadata"], record["userdoc"]) == (None, None) and record["abi"]
    ended(explorer, submit(explorer, address, body))
    assert get(explorer, path, fields=fields).json["metadata"]["language"] == "Solidity"


def test_vyper_is_verified_and_shown_as_vyper(explorer, vyper):
    address = explorer.deploy(vyper.creation_of(NEWEST, BOX), SEVEN)
    standard = {"language": "Vyper", "sources": {"src/Box.vy": {"content": BOX}}, "settings": {}}
    version = f"{NEWEST}+commit.bff19ea2"
    named = {"compilerVersion": version, "contractIdentifier": "src/Box.vy:Box"}
    job = ended(explorer, submit(explorer, address, {"stdJsonInput": standard, **named}))
    assert job["contract"]["match"] == "exact_match", job
    contract = get(explorer, f"/v2/contract/{CHAIN}/{address}", fields="all").json
    compilation = contract["compilation"]
    assert (compilation["language"], compilation["compiler"]) == ("Vyper", "vyper")
    assert compilation["fullyQualifiedName"] == "src/Box.vy:Box"
    assert contract["stdJsonInput"]["language"] == "Vyper"
    assert contract["stdJsonInput"]["sources"] == {"src/Box.vy": {"content": BOX}}
    runtime = contract["runtimeBytecode"]
    [immutable] = runtime["immutableReferences"]["0"]
    assert immutable["length"] == 32
    assert runtime["transformationValues"]["immutables"] == {"0": f"0x{8:064x}"}
    [change] = runtime["transformations"]  # the compiler's code ends where immutables follow it
    offset = immutable["start"]
    assert change == {"type": "insert", "reason": "immutable", "offset": offset, "id": "0"}
    assert runtime["onchainBytecode"] == runtime["recompiledBytecode"] + f"{8:064x}"
