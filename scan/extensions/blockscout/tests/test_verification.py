"""Verification in Blockscout's form, as its web site, titanoboa and Sourcify send it."""

import json
from io import BytesIO

import pytest

from scan.extensions.blockscout import contracts
from scan.extensions.blockscout.contracts import STARTED
from scan.extensions.blockscout.tests.submissions import outcome, submit, upload
from scan.verification.request import parse
from tests.support.explorer import compiled, standard_input
from tests.support.vyper import BOX, NEWEST, SEVEN, blueprint_of


@pytest.fixture(scope="module")
def placed(explorer):
    return explorer.place("6002600202")


def test_a_standard_json_input_is_verified(explorer):
    source = """pragma solidity ^0.8.0;
    contract Standard { uint256 public y; constructor(uint256 z) { y = z; } }"""
    standard = standard_input({"Standard.sol": source})
    creation = compiled("0.8.28", standard, "Standard.sol", "Standard").creation
    address = explorer.deploy(creation, SEVEN)
    fields = {
        "compiler_version": "v0.8.28+commit.7893614a",
        "license_type": "mit",
        "contract_name": "Standard",
        "autodetect_constructor_args": "true",
        "constructor_args": "12",  # which then do not count
    }

    def send():
        uploads = {"files[0]": upload(json.dumps(standard), "input.json")}
        return submit(explorer, address, "standard-input", **fields, **uploads)

    started = send()
    assert started.json["message"] == "Smart-contract verification started"
    assert outcome(explorer, started) == "Pass - Verified"
    record = explorer.get(f"/api/v2/smart-contracts/{address}")
    shown = [record[name] for name in ("is_verified", "name", "language", "license_type")]
    assert shown == [True, "Standard", "solidity", "mit"]
    assert record["constructor_args"].removeprefix("0x") == SEVEN
    again = send()
    assert (again.status_code, again.json) == (422, {"message": "Already verified"})


A, B, LIBRARIES = "contract A {}", "contract B {}", {"L": "0x" + 40 * "1"}
FILES = standard_input({"A.sol": A, "B.sol": B}, optimizer={"enabled": True, "runs": 77})
VYPER_FILES = {"language": "Vyper", "sources": {"A.vy": {"content": "x: uint256"}}}
WITH_INTERFACE = json.dumps({**VYPER_FILES, "interfaces": {"I.json": {"content": "[]"}}})
FORMS = [  # a way, its fields and files, and the body of /api/v1/verify that says the same
    ("flattened-code",
     {"source_code": A, "license_type": "3", "evm_version": "default", "constructor_args": SEVEN,
      "libraries[L]": LIBRARIES["L"]}, {},
     {"sourceCode": A, "license": "MIT", "evmVersion": "default", "constructorArguments": SEVEN,
      "libraries": LIBRARIES, "optimizationUsed": 0}),
    ("multi-part",
     {"is_optimization_enabled": "true", "optimization_runs": "77", "libraries": "{}"},
     {"files[0]": (A, "A.sol"), "files[1]": (B, "B.sol")}, {"sourceCode": json.dumps(FILES)}),
    ("vyper-code", {"source_code": BOX, "contract_name": "Box", "constructor_args": SEVEN}, {},
     {"language": "vyper", "sourceCode": BOX, "contractName": "Box",
      "constructorArguments": SEVEN}),
    ("vyper-standard-input", {"evm_version": "", "license_type": ""},
     {"files[0]": (json.dumps(VYPER_FILES), "A.json")}, {"sourceCode": json.dumps(VYPER_FILES)}),
    ("vyper-multi-part", {}, {"files[0]": ("x: uint256", "A.vy"), "interfaces[]": ("[]", "I.json")},
     {"sourceCode": WITH_INTERFACE}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "fields", "files", "body"), FORMS, ids=[f[0] for f in FORMS])
def test_a_form_is_a_submission_to_the_verifier(explorer, placed, method, fields, files, body):
    """Of which tests/verification has what becomes of it."""
    versions = {
        "flattened-code": "0.8.28",
        "multi-part": "0.8.28",
        "vyper-code": NEWEST,
        "vyper-standard-input": NEWEST,
        "vyper-multi-part": NEWEST,
    }
    version = versions[method]
    expected = parse({"address": placed, "compilerVersion": version, **body})
    # What the frontend sends besides, of what a page's script left undefined.
    of_frontend = {
        **{"license_type": "none", "evm_version": "default", "contract_name": "undefined"},
        **{"is_optimization_enabled": "false", "optimization_runs": "200"},
        **{"is_yul_contract": "false", "libraries": "undefined"},
    }
    fields = {"compiler_version": f"v{version}", **of_frontend, **fields}
    uploads = {field: upload(*file) for field, file in files.items()}
    assert explorer.submission(submit(explorer, placed, method, **fields, **uploads)) == expected


def test_a_blueprint_is_told_from_what_is_created_of_it(explorer):
    source = "contract Made { uint256 public x; constructor(uint256 n) { x = n + 8; } }"
    creation = compiled("0.8.28", standard_input({"M.sol": source}), "M.sol", "Made").creation
    for code, is_blueprint in ((blueprint_of(creation), True), (creation + SEVEN, False)):
        address = explorer.deploy(code)
        assert explorer.verify(address, source, "0.8.28", optimizationUsed=0).status_code == 200
        record = explorer.get(f"/api/v2/smart-contracts/{address}")
        assert (record["name"], record["is_blueprint"]) == ("Made", is_blueprint)


def test_equal_runtime_code_alone_is_not_verified(explorer):
    source = "contract Made { uint256 public x; constructor(uint256 n) { x = n + 8; } }"
    creation = compiled("0.8.28", standard_input({"M.sol": source}), "M.sol", "Made").creation
    address, other = explorer.deploy(creation + SEVEN), source.replace("n + 8", "n + 9")
    assert explorer.verify(address, other, "0.8.28", optimizationUsed=0).json["match"] == "runtime"
    contract, party = (
        explorer.get(f"/api/v2/{path}/{address}") for path in ("smart-contracts", "addresses")
    )
    assert (
        contract["is_verified"]
        is contract["is_partially_verified"]
        is party["is_verified"]
        is False
    )
    assert "n + 9" in contract["source_code"]


def test_the_id_tells_why_a_verification_failed(explorer):
    address = explorer.place("6001600101")
    source = "pragma solidity ^0.8.0; contract Other { uint256 public x = 5; }"
    submitted = submit(
        explorer, address, "flattened-code", compiler_version="v0.8.28", source_code=source
    )
    assert outcome(explorer, submitted).startswith("Fail - Unable to verify No match")


VERSION = {"compiler_version": "v0.8.28"}


def refusal(explorer, response):
    """Why a submission failed that was answered as one that has started, for Blockscout's form
    shows no other error; and the field of the form under which it stands."""
    assert (response.status_code, response.json["message"]) == (200, STARTED), response.text
    job = response.json["verification_id"]
    status = explorer.get(f"/server/v2/verify/{job}")
    assert status["isJobCompleted"] and status["error"]["customCode"] == "refused"
    [[field]] = explorer.sql("SELECT form_field FROM verification_jobs WHERE id = %s::uuid", job)
    return status["error"]["message"], field


@pytest.mark.parametrize(
    ("method", "fields", "words", "field"),
    [
        ("flattened-code", {"source_code": "contract A {}"}, "compilerVersion", "compiler_version"),
        ("flattened-code", VERSION, "sourceCode", "contract_source_code"),
        ("flattened-code", {**VERSION, "source_code": "x", "is_yul_contract": "true"}, "Yul",
         "contract_source_code"),
        ("vyper-code", {**VERSION, "source_code": "x", "libraries": "{"}, "libraries",
         "contract_source_code"),
        ("multi-part", VERSION, "files must have", "files"),
        ("standard-input", {**VERSION, "files[0]": "no upload"}, "files must have", "files"),
    ],
    ids=range(6),
)  # fmt: skip
def test_what_is_no_submission_says_so_as_a_job(explorer, placed, method, fields, words, field):
    message, form_field = refusal(explorer, submit(explorer, placed, method, **fields))
    assert words in message and form_field == field


def test_a_method_or_an_address_that_is_none_is_refused(explorer, placed):
    for address, method, field in (
        (placed, "by-magic", "method"),
        ("0x1", "multi-part", "address_hash"),
    ):
        refused = submit(explorer, address, method)
        assert refused.status_code == 422, refused.text
        assert [e["source"]["pointer"] for e in refused.json["errors"]] == [f"/{field}"]


def test_files_that_are_no_text_or_no_json_are_refused(explorer, placed, monkeypatch):
    monkeypatch.setattr(contracts, "WAIT_FOR_CONTRACT_S", 0.1)
    for method, field, name, content in (
        ("multi-part", "files[0]", "a.sol", b"\xff\xfe"),
        ("standard-input", "files[0]", "a.json", b"{"),
        ("standard-input", "files[0]", "a.json", b"[" * 100_000),
        ("vyper-multi-part", "interfaces[0]", "I.json", b"{"),
        ("vyper-multi-part", "interfaces[0]", "I.json", b'[{"name": "\\ud800"}]'),
    ):
        uploads = {"files[0]": upload("x: uint256", "A.vy"), field: (BytesIO(content), name)}
        response = submit(explorer, placed, method, **VERSION, **uploads)
        assert refusal(explorer, response)[1] == "files"
    absent = submit(explorer, f"0x{'9d' * 20}", "flattened-code", source_code="x", **VERSION)
    assert "No contract is indexed" in refusal(explorer, absent)[0]


def test_of_two_files_with_one_name_none_is_lost(explorer, placed):
    uploads = {f"files[{n}]": upload(f"contract A{n} {{}}", "A.sol") for n in range(2)}
    message, _ = refusal(explorer, submit(explorer, placed, "multi-part", **VERSION, **uploads))
    assert message == "Two files are named 'A.sol'."


def test_a_client_that_is_refused_again_and_again_fills_no_table(explorer, placed):
    """Its older refusals are replaced."""
    for _ in range(3):
        explorer.sql(
            "UPDATE verification_jobs SET created_at = created_at - interval '10 s'"
            " WHERE error_code = 'refused'"
        )
        refusal(explorer, submit(explorer, placed, "multi-part", **VERSION))
    count = "SELECT count(*) FROM verification_jobs WHERE error_code = 'refused'"
    assert explorer.sql(count) == [(1,)]


def test_a_standard_json_input_may_have_numbers_of_any_size(explorer, placed):
    """And a byte order mark before it. What is not read of it is passed on as it was sent."""
    source = '\ufeff{"language":"Solidity","sources":{"a.sol":{"content":"contract A {}"}},"x":%s}'
    fields = {"compiler_version": "v0.8.28", "files[0]": upload(source % ("9" * 40), "a.json")}
    sent = submit(explorer, placed, "standard-input", **fields)
    assert explorer.submission(sent).sources == {"a.sol": "contract A {}"}


def test_a_body_of_json_may_be_as_large_as_a_form(explorer, placed):
    """Of ASCII, where other characters take six bytes."""
    source = "contract A {} //" + "\u00e9" * 300_000
    path = f"/api/v2/smart-contracts/{placed}/verification/via/flattened-code"
    body = json.dumps({"compiler_version": "v0.8.28", "source_code": source})
    sent = explorer.client.post(path, data=body, content_type="application/json")
    assert len(body) > 1_800_000
    assert explorer.submission(sent).sources["contract.sol"] == source
