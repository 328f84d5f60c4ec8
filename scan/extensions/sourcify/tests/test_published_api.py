"""Answers beside Sourcify's published OpenAPI document, and bytecode beside what compilers give.

published_api.json has the document's paths, parameters and schemas without its texts.
"""

import json
import re
from copy import deepcopy
from pathlib import Path

import pytest
from eth_utils import keccak, to_checksum_address
from jsonschema_rs import Draft202012Validator

from scan.extensions.sourcify.tests.submissions import CHAIN, ended, get, submit
from tests.support.anvil import calldata
from tests.support.explorer import behind, compiled, standard_input
from tests.support.faulty_node import refuse
from tests.support.many_functions import CHECKSUMMED, VERSION
from tests.support.serving import ROOT

API = json.loads(Path(__file__).with_name("published_api.json").read_text(encoding="utf-8"))
# What their server returns as null, or as a number, against its document.
NULLS = ("transientStorageLayout", "sourceIds", "additionalInput")
NULLS_OF_BYTECODE = ("sourceMap", "cborAuxdata", "recompiledBytecode", "onchainBytecode")
PATH = "src/Whole.sol"
SOURCE = Path(__file__).with_name("Linked.sol").read_text()
LINK = re.compile(r"__\$[0-9a-f]{34}\$__")
ARGUMENT = f"{7:064x}"
GROUPS = {"library": "libraries", "immutable": "immutables", "cborAuxdata": "cborAuxdata"}


def valid_response(name, value):
    """Fails where the value is not of the response's schema."""
    components = deepcopy(API["components"])
    schemas = components["schemas"]
    for schema in schemas.values():
        if None in schema.get("enum", ()):
            del schema["type"]
    schemas["LinkReference"]["properties"]["length"]["type"] = "integer"
    for response in ("CreationBytecodeResponse", "RuntimeBytecodeResponse"):
        properties = schemas[response]["properties"]
        for null in NULLS_OF_BYTECODE:
            properties[null] = {"anyOf": [properties[null], {"type": "null"}]}
    [body] = components["responses"][name]["content"].values()
    Draft202012Validator({"components": components, **body["schema"]}).validate(value)


def contract_of(name, source=SOURCE, libraries=None, **settings):
    settings |= {"libraries": libraries} if libraries else {}
    return compiled(VERSION, standard_input({PATH: source}, **settings), PATH, name)


def verified(explorer, name, address, source=SOURCE, **settings):
    """The contract with all fields, once it is verified."""
    body = {
        "stdJsonInput": standard_input({PATH: source}, **settings),
        "compilerVersion": VERSION,
        "contractIdentifier": f"{PATH}:{name}",
    }
    job = ended(explorer, submit(explorer, address, body))
    valid_response("VerificationJobResponse", job)
    response = get(explorer, f"/v2/contract/{CHAIN}/{address}", fields="all")
    assert response.status_code == 200, job
    valid_response("VerifiedContract", {n: v for n, v in response.json.items() if n not in NULLS})
    assert all(response.json[name] is None for name in NULLS)
    return response.json


@pytest.fixture(scope="module")
def library(explorer):
    return explorer.deploy(contract_of("Lib").creation)


def linked(explorer, library, source=SOURCE):
    creation = LINK.sub(library[2:], contract_of("Whole", source).creation)
    return explorer.deploy(creation, ARGUMENT)


def transformed(bytecode):
    """The recompiled code with its transformations: what is on the chain."""
    code = bytes.fromhex(bytecode["recompiledBytecode"][2:])
    for change in bytecode["transformations"]:
        values = bytecode["transformationValues"][GROUPS.get(change["reason"], change["reason"])]
        value = bytes.fromhex((values[change["id"]] if "id" in change else values)[2:])
        end = change["offset"] + (len(value) if change["type"] == "replace" else 0)
        code = code[: change["offset"]] + value + code[end:]
    return f"0x{code.hex()}"


def reasons(bytecode):
    return {change["reason"] for change in bytecode["transformations"]}


def check_bytecode(explorer, record, output, arguments=""):
    """Both codes: as the compiler gives them, and, transformed, as they are on the chain."""
    creation, runtime = record["creationBytecode"], record["runtimeBytecode"]
    code = explorer.anvil.call("eth_getCode", record["address"], "latest")
    assert runtime["onchainBytecode"] == transformed(runtime) == code
    assert creation["onchainBytecode"] == transformed(creation)
    assert creation["onchainBytecode"].endswith(arguments)
    compiled_codes = (output.creation, output.runtime)
    for bytecode, text in zip((creation, runtime), compiled_codes, strict=True):
        assert bytecode["recompiledBytecode"] == "0x" + LINK.sub("0" * 40, text)
        links = {match.start() // 2 for match in LINK.finditer(text)}
        listed = bytecode["linkReferences"].get(PATH, {}).get("Lib", [])
        assert {link["start"] for link in listed} == links


def test_every_path_is_served_or_known_not_to_be(explorer):
    not_served = {f"/v2/verify/{by}/{{chainId}}/{{address}}" for by in ("etherscan", "similarity")}
    served = {re.sub(r"<\w+>", "{}", rule.rule) for rule in explorer.app.url_map.iter_rules()}
    for path in API["paths"].keys() - not_served:
        assert re.sub(r"\{\w+\}", "{}", path) in served, path
    guide = (ROOT / "docs/compatible.md").read_text(encoding="utf-8")
    for path in not_served:
        assert path.rpartition("/{chainId}")[0] in guide
        refused = explorer.client.post(path.format(chainId=CHAIN, address=CHECKSUMMED), json={})
        assert refused.status_code == 404 and refused.json["customCode"] == "route_not_found"


def test_all_fields_are_those_of_the_document(explorer):
    record = verified(explorer, "Child", explorer.deploy(contract_of("Child").creation))
    [content] = API["components"]["responses"]["VerifiedContract"]["content"].values()
    [minimal, more] = content["schema"]["allOf"]
    assert minimal["$ref"].endswith("/VerifiedContractMinimal")
    schemas = API["components"]["schemas"]
    properties = {**schemas["VerifiedContractMinimal"]["properties"], **more["properties"]}
    assert record.keys() == properties.keys() | {"additionalInput"}  # of a newer document
    for kind in ("creation", "runtime"):
        schema = schemas[f"{kind.title()}BytecodeResponse"]
        assert record[f"{kind}Bytecode"].keys() == schema["properties"].keys()


def test_a_contract_with_a_library_immutables_and_arguments(explorer, library):
    output = contract_of("Whole")
    record = verified(explorer, "Whole", linked(explorer, library))
    assert record["match"] == record["creationMatch"] == "exact_match"
    check_bytecode(explorer, record, output, ARGUMENT)
    creation, runtime = record["creationBytecode"], record["runtimeBytecode"]
    assert reasons(creation) == {"library", "constructorArguments"}
    assert reasons(runtime) == {"library", "immutable"}
    assert runtime["transformationValues"]["libraries"] == {f"{PATH}:Lib": library}
    settings = record["compilation"]["compilerSettings"]
    assert settings["libraries"] == {PATH: {"Lib": library}}
    values = {int(value, 16) for value in runtime["transformationValues"]["immutables"].values()}
    assert values == {7, int(explorer.anvil.accounts[0], 16)}
    for bytecode, text in ((creation, output.creation), (runtime, output.runtime)):
        offset = len(text) // 2 - 2 - int(text[-4:], 16)
        auxdata = {"offset": offset, "value": f"0x{text[2 * offset :]}"}
        assert bytecode["cborAuxdata"] == {"1": auxdata}
    signatures = "function first(), function g(uint256), function second(), event Happened(uint256)"
    expected = {tuple(line.split()) for line in f"{signatures}, error Wrong(uint256)".split(", ")}
    shown = [(kind, entry) for kind, entries in record["signatures"].items() for entry in entries]
    assert {(kind, entry["signature"]) for kind, entry in shown} == expected
    for _, entry in shown:
        digest = f"0x{keccak(text=entry['signature']).hex()}"
        assert (entry["signatureHash32"], entry["signatureHash4"]) == (digest, digest[:10])


def test_a_partial_match_replaces_the_metadata(explorer, library):
    source = SOURCE.replace("first", "third")
    other = source.replace("MIT", "Apache-2.0")
    libraries = {PATH: {"Lib": library}}  # which are found in the code, and compiled in
    record = verified(explorer, "Whole", linked(explorer, library, source), other)
    assert record["match"] == record["creationMatch"] == "match"
    check_bytecode(explorer, record, contract_of("Whole", other, libraries), ARGUMENT)
    for kind in ("creationBytecode", "runtimeBytecode"):
        assert "cborAuxdata" in reasons(record[kind])
        assert record[kind]["transformationValues"]["cborAuxdata"].keys() == {"1"}


def test_a_library_has_its_own_address_in_its_guard(explorer, library):
    record = verified(explorer, "Lib", library)
    check_bytecode(explorer, record, contract_of("Lib"))
    runtime = record["runtimeBytecode"]
    expected = [{"type": "replace", "reason": "callProtection", "offset": 1}]
    assert runtime["transformations"] == expected
    assert runtime["transformationValues"] == {"callProtection": library}


def test_metadata_of_embedded_contracts_is_known_where_it_was_compared(explorer):
    source = SOURCE.replace("made", "put")
    other = source.replace("MIT", "Unlicense")
    address = explorer.deploy(contract_of("Maker", source).creation)
    record = verified(explorer, "Maker", address, other)
    assert record["match"] == "match"
    check_bytecode(explorer, record, contract_of("Maker", other))
    assert len(record["runtimeBytecode"]["cborAuxdata"]) == 2
    assert reasons(record["runtimeBytecode"]) == {"cborAuxdata"}


@pytest.mark.parametrize("name", ["Maker", "Both"])
def test_code_that_was_equal_is_known_whatever_embedded_contracts_have(explorer, name):
    """Without hashes of metadata, of which the compiler's version alone is left."""
    more = "contract Both is Maker { uint256 immutable n; constructor(uint256 m) { n = m; } }"
    source, settings = f"{SOURCE}{more}", {"metadata": {"bytecodeHash": "none"}}
    output = contract_of(name, source, **settings)
    arguments = ARGUMENT if name == "Both" else ""
    address = explorer.deploy(output.creation, arguments)
    record = verified(explorer, name, address, source, **settings)
    assert record["match"] == record["creationMatch"] == "match"
    assert record["creationBytecode"]["cborAuxdata"] is None
    check_bytecode(explorer, record, output, arguments)


def test_a_contract_that_a_contract_created(explorer):
    source = SOURCE.replace("c = 1", "c = 2")
    maker = explorer.deploy(contract_of("Maker", source).creation)
    call = {"to": maker, "data": calldata("made()")}
    made = f"0x{explorer.anvil.call('eth_call', call, 'latest')[-40:]}"
    explorer.send(made, "0x")
    explorer.wait_for(made)
    record = verified(explorer, "Child", made, source)
    check_bytecode(explorer, record, contract_of("Child", source))
    transaction = record["deployment"]["transactionHash"]
    receipt = explorer.anvil.call("eth_getTransactionReceipt", transaction)
    assert receipt["contractAddress"] == maker
    assert record["deployment"] == {
        "transactionHash": transaction,
        "blockNumber": str(int(receipt["blockNumber"], 16)),
        "transactionIndex": str(int(receipt["transactionIndex"], 16)),
        "deployer": to_checksum_address(receipt["from"]),
    }


def test_creation_code_that_is_not_known_is_null(explorer):
    source = SOURCE.replace("c = 1", "c = 3")
    address = explorer.deploy(contract_of("Child", source).creation)
    verified(explorer, "Child", address, source)
    explorer.execute("DELETE FROM block_bodies")
    path = f"/v2/contract/{CHAIN}/{address}"
    of_chain = ("eth_chainId", "eth_getBlockByNumber", "eth_blockNumber")
    with behind(explorer.settings, refuse(lambda call: call["method"] not in of_chain)) as served:
        shown = served[0].get(path, query_string={"fields": "creationBytecode"}).json
    creation = shown["creationBytecode"]
    assert creation["onchainBytecode"] is creation["transformations"] is None
    assert creation["cborAuxdata"]


def test_other_answers_are_of_their_schemas(explorer):
    missing = get(explorer, f"/v2/contract/{CHAIN}/{CHECKSUMMED}")
    valid_response("ContractNotVerifiedResponse", missing.json)
    valid_response("VerificationJobNotFound", get(explorer, "/v2/verify/1").json)
    valid_response("BadRequestResponse", get(explorer, f"/v2/contract/{CHAIN}/0x12").json)


def test_contracts_are_listed_by_their_matches(explorer):
    sources = [SOURCE.replace("c = 1", f"c = {number}") for number in (11, 12, 13)]
    made = [explorer.deploy(contract_of("Child", source).creation) for source in sources]
    records = [verified(explorer, "Child", *pair) for pair in zip(made, sources, strict=True)]
    path = f"/v2/contracts/{CHAIN}"
    valid_response("ListVerifiedContracts", get(explorer, path, limit="3").json)

    def listed(**query):
        """Without contracts of factories, which other tests have verified, and threads verify."""
        rows = get(explorer, path, **query).json["results"]
        return [row for row in rows if row["address"].lower() in made]

    newest = listed()
    assert [row["matchId"] for row in newest] == [r["matchId"] for r in records[::-1]]
    assert newest[0] == {name: records[2][name] for name in newest[0]}
    assert listed(afterMatchId=records[2]["matchId"]) == newest[1:]
    assert listed(sort="asc", afterMatchId=records[0]["matchId"]) == newest[1::-1]
    assert listed(sort="asc") == newest[::-1]
    assert len(get(explorer, path, limit="1").json["results"]) == 1


def test_a_contract_is_found_on_all_chains(explorer):
    source = SOURCE.replace("c = 1", "c = 21")
    address = explorer.deploy(contract_of("Child", source).creation)
    path = f"/v2/contract/all-chains/{address}"
    missing = get(explorer, path)
    assert (missing.status_code, missing.json) == (404, {"results": []})
    record = verified(explorer, "Child", address, source)
    answer = get(explorer, path)
    valid_response("ListVerifiedContracts", answer.json)
    assert answer.json["results"] == [{name: record[name] for name in answer.json["results"][0]}]
    assert record.keys() > answer.json["results"][0].keys() >= {"matchId", "verifiedAt"}


def test_a_verification_without_layouts_lacks_what_follows_from_them(explorer):
    """As the demo's contracts have none."""
    source = SOURCE.replace("c = 1", "c = 31")
    address = explorer.deploy(contract_of("Child", source).creation)
    verified(explorer, "Child", address, source)
    without = "UPDATE verified_contracts SET code_layouts = NULL WHERE address = %s"
    explorer.execute(without, bytes.fromhex(address[2:]))
    fields = "creationBytecode,runtimeBytecode"
    record = get(explorer, f"/v2/contract/{CHAIN}/{address}", fields=fields).json
    for kind in ("creationBytecode", "runtimeBytecode"):
        kept = {name: value for name, value in record[kind].items() if value is not None}
        assert kept.keys() == {"onchainBytecode"}
