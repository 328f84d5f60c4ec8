"""Verification in Blockscout's form, as its web site, titanoboa and Sourcify send it."""

import json
import re
from io import BytesIO
from typing import Any

import pytest

from scan.extensions.blockscout.verification import LICENSE_NUMBERS, METHODS
from tests.support.explorer import compiled, standard_input
from tests.support.serving import wait_until
from tests.support.vyper import BOX, NEWEST, SEVEN, blueprint_of

LIBRARY = "pragma solidity ^0.8.0; library Lib { uint constant X = 31337; }"


def two(name):
    source = (
        f'pragma solidity ^0.8.0; import "./Lib.sol"; contract {name} '
        "{ uint256 public x = Lib.X; uint256 public y; constructor(uint256 z) { y = z; } }"
    )
    return {f"{name}.sol": source, "Lib.sol": LIBRARY}


def submit(explorer, address, method, **fields):
    path = f"/api/v2/smart-contracts/{address}/verification/via/{method}"
    return explorer.client.post(path, data=fields, content_type="multipart/form-data")


def upload(text, name):
    return BytesIO(text.encode()), name


def verified(explorer, address, response):
    """The contract, which clients read until it is verified."""
    assert response.status_code == 200, response.text
    assert response.json["message"] == "Smart-contract verification started"
    path = f"/api/v2/smart-contracts/{address}"
    wait_until(lambda: explorer.client.get(path).json.get("is_verified"), timeout_s=120)
    record: dict[str, Any] = explorer.client.get(path).json
    return record


def outcome(explorer, response):
    """What Etherscan's interface says of a submission, once it has ended."""
    assert response.status_code == 200, response.text
    guid = response.json["verification_id"]
    query = {"module": "contract", "action": "checkverifystatus", "guid": guid}

    def result():
        text: str = explorer.client.get("/api", query_string=query).json["result"]
        return text

    wait_until(lambda: result() != "Pending in queue", timeout_s=120)
    return result()


def test_a_standard_json_input_is_verified(explorer):
    sources = two("Standard")
    standard = standard_input(sources)
    creation = compiled("0.8.28", standard, "Standard.sol", "Standard").creation
    address = explorer.deploy(creation, SEVEN)
    fields = {
        "compiler_version": "v0.8.28+commit.7893614a",
        "license_type": "mit",
        "contract_name": "Standard",
        "autodetect_constructor_args": "true",
        "constructor_args": "12",  # which then do not count
        "files[0]": upload(json.dumps(standard), "input.json"),
    }
    record = verified(explorer, address, submit(explorer, address, "standard-input", **fields))
    assert (record["name"], record["language"], record["license_type"]) == (
        "Standard",
        "solidity",
        "mit",
    )
    assert record["constructor_args"].removeprefix("0x") == SEVEN
    fields["files[0]"] = upload(json.dumps(standard), "input.json")
    again = submit(explorer, address, "standard-input", **fields)
    assert (again.status_code, again.json) == (422, {"message": "Already verified"})


def test_files_are_compiled_with_the_settings_beside_them(explorer):
    sources = two("Parts")
    settings = {"optimizer": {"enabled": True, "runs": 77}, "evmVersion": "paris"}
    standard = standard_input(sources, **settings)
    address = explorer.deploy(compiled("0.8.28", standard, "Parts.sol", "Parts").creation, SEVEN)
    fields = {
        "compiler_version": "v0.8.28",
        "license_type": "3",
        "is_optimization_enabled": "true",
        "optimization_runs": "77",
        "evm_version": "paris",
        "libraries": "{}",
        "files[0]": upload(sources["Parts.sol"], "Parts.sol"),
        "files[1]": upload(LIBRARY, "Lib.sol"),
    }
    record = verified(explorer, address, submit(explorer, address, "multi-part", **fields))
    assert (record["name"], record["optimization_runs"], record["evm_version"]) == (
        "Parts",
        77,
        "paris",
    )


def test_a_flattened_source_is_verified_from_a_form_and_from_json(explorer):
    source = "pragma solidity ^0.8.0; contract Flat { uint256 public x = 90210; }"
    standard = standard_input({"contract.sol": source})
    address = explorer.deploy(compiled("0.8.28", standard, "contract.sol", "Flat").creation)
    body = {
        "compiler_version": "v0.8.28",
        "source_code": source,
        "is_optimization_enabled": False,
        "evm_version": "default",
        "autodetect_constructor_args": True,
    }
    path = f"/api/v2/smart-contracts/{address}/verification/via/flattened-code"
    record = verified(explorer, address, explorer.client.post(path, json=body))
    assert (record["name"], record["optimization_enabled"]) == ("Flat", False)


def test_vyper_is_verified_from_standard_json_and_from_code(explorer, vyper):
    for number, (method, source) in enumerate(
        {"vyper-standard-input": BOX + "\n# A\n", "vyper-code": BOX.replace("1000", "3000")}.items()
    ):
        address = explorer.deploy(vyper.creation_of(NEWEST, source), SEVEN)
        standard = {"language": "Vyper", "sources": {"Box.vy": {"content": source}}}
        fields = {"compiler_version": f"v{NEWEST}", "evm_version": "", "license_type": ""}
        if number:
            fields |= {"source_code": source, "contract_name": "Box", "constructor_args": SEVEN}
        else:
            fields |= {"files[0]": upload(json.dumps(standard), "Box.json")}
        record = verified(explorer, address, submit(explorer, address, method, **fields))
        assert (record["language"], record["name"], record["source_code"]) == (
            "vyper",
            "Box",
            source,
        )


def test_a_blueprint_is_told_from_what_is_created_of_it(explorer):
    source = "contract Made { uint256 public x; constructor(uint256 n) { x = n + 8; } }"
    creation = compiled("0.8.28", standard_input({"M.sol": source}), "M.sol", "Made").creation
    for code, is_blueprint in ((blueprint_of(creation), True), (creation + SEVEN, False)):
        address = explorer.deploy(code)
        fields = {"compiler_version": "v0.8.28", "source_code": source}
        record = verified(explorer, address, submit(explorer, address, "flattened-code", **fields))
        assert (record["name"], record["is_blueprint"]) == ("Made", is_blueprint)


def test_the_id_tells_why_a_verification_failed(explorer):
    address = explorer.place("6001600101")
    source = "pragma solidity ^0.8.0; contract Other { uint256 public x = 5; }"
    submitted = submit(
        explorer, address, "flattened-code", compiler_version="v0.8.28", source_code=source
    )
    assert outcome(explorer, submitted).startswith("Fail - Unable to verify")


@pytest.mark.parametrize(
    ("method", "fields", "field"),
    [
        ("by-magic", {}, "method"),
        ("flattened-code", {"source_code": "contract A {}"}, "compilerVersion"),
        ("flattened-code", {"compiler_version": "v0.8.28"}, "sourceCode"),
        (
            "flattened-code",
            {"source_code": "object {}", "compiler_version": "v0.8.28", "is_yul_contract": "true"},
            "is_yul_contract",
        ),
        (
            "flattened-code",
            {"source_code": "x", "compiler_version": "v0.8.28", "license_type": "15"},
            "license_type",
        ),
        (
            "flattened-code",
            {"source_code": "x", "compiler_version": "v0.8.28", "libraries": "{"},
            "libraries",
        ),
        ("multi-part", {"compiler_version": "v0.8.28"}, "files"),
        ("standard-input", {"compiler_version": "v0.8.28", "files[0]": "no upload"}, "files"),
    ],
    ids=range(8),
)
def test_what_is_no_submission_names_its_field(explorer, method, fields, field):
    address = explorer.place("6002600202")
    refused = submit(explorer, address, method, **fields)
    assert refused.status_code == 422, refused.text
    assert [e["source"]["pointer"] for e in refused.json["errors"]] == [f"/{field}"]


def test_files_that_are_no_text_or_no_json_are_refused(explorer):
    address = explorer.place("6002600202")
    for method, content in (("multi-part", b"\xff\xfe"), ("standard-input", b"{")):
        fields = {"compiler_version": "v0.8.28", "files[0]": (BytesIO(content), "a.sol")}
        refused = submit(explorer, address, method, **fields)
        assert refused.json["errors"][0]["source"] == {"pointer": "/files"}, refused.text
    nested = b"[" * 100_000
    fields = {"compiler_version": "v0.8.28", "files[0]": (BytesIO(nested), "a.json")}
    assert submit(explorer, address, "standard-input", **fields).status_code in (413, 422)
    missing = submit(
        explorer, f"0x{'9d' * 20}", "flattened-code", source_code="x", compiler_version="v0.8.28"
    )
    assert (missing.status_code, missing.json) == (404, {"message": "Not found"})


def test_of_two_files_with_one_name_none_is_lost(explorer):
    address = explorer.place("6002600202")
    uploads = {f"files[{n}]": upload(f"contract A{n} {{}}", "A.sol") for n in range(2)}
    refused = submit(explorer, address, "multi-part", compiler_version="v0.8.28", **uploads)
    assert refused.status_code == 422, refused.text
    assert refused.json["errors"][0]["detail"] == "Two files are named 'A.sol'."


def test_a_standard_json_input_may_have_numbers_of_any_size(explorer):
    """What is not read of it is passed on as it was sent."""
    address = explorer.place("6002600202")
    source = '{"language":"Solidity","sources":{"a.sol":{"content":"contract A {}"}},"x":%s}'
    fields = {"compiler_version": "v0.8.28", "files[0]": upload(source % ("9" * 40), "a.json")}
    submitted = submit(explorer, address, "standard-input", **fields)
    assert outcome(explorer, submitted).startswith("Fail - Unable to verify")


@pytest.mark.parametrize("abi", ["{", '[{"name": "\\ud800"}]'], ids=ascii)
def test_an_interface_that_is_no_json_is_refused(explorer, abi):
    address = explorer.place("6002600202")
    fields = {
        "compiler_version": f"v{NEWEST}",
        "files[0]": upload("x: uint256", "A.vy"),
        "interfaces[0]": upload(abi, "I.json"),
    }
    assert submit(explorer, address, "vyper-multi-part", **fields).status_code == 422


def test_a_body_of_json_may_be_as_large_as_a_form(explorer):
    """Of ASCII, where other characters take six bytes."""
    address = explorer.place("6002600202")
    source = "contract A {} //" + "\u00e9" * 300_000
    path = f"/api/v2/smart-contracts/{address}/verification/via/flattened-code"
    body = json.dumps({"compiler_version": "v0.8.28", "source_code": source})
    sent = explorer.client.post(path, data=body, content_type="application/json")
    assert len(body) > 1_800_000
    assert outcome(explorer, sent).startswith("Fail - Unable to verify")


def test_the_configuration_names_what_a_submission_may_have(explorer):
    config = explorer.client.get("/api/v2/smart-contracts/verification/config").json
    assert set(config["verification_options"]) == METHODS.keys()
    assert config["license_types"] == {name: int(n) for n, name in LICENSE_NUMBERS.items()}
    assert (config["license_types"]["none"], config["license_types"]["bsl_1_1"]) == (1, 14)
    for language in ("solidity", "vyper"):
        versions = config[f"{language}_compiler_versions"]
        assert versions and all(re.fullmatch(r"v\d+\.\d+\.\d+", version) for version in versions)
        assert {"paris", "cancun", "default"} <= {*config[f"{language}_evm_versions"]}
