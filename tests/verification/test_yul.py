"""Contracts of Yul, compiled by solc, deployed, and verified by each form of the service."""

import json
from pathlib import Path

import pytest

from scan.verification.languages.solidity import YUL
from tests.support.explorer import compiled

VERSION = "0.8.28"
# Counts how often it was called with 0xd09de08a, and tells it to who calls 0x06661abd.
COUNTER = Path(__file__).with_name("counter.yul").read_text()


def standard(source, **settings):
    return {
        "language": "Yul",
        "sources": {"Counter.yul": {"content": source}},
        "settings": settings,
    }


def creation_of(source, version=VERSION, **settings):
    selected = {"*": {"*": ["evm.bytecode.object", "evm.deployedBytecode.object"]}}
    request = standard(source, outputSelection=selected, **settings)
    return compiled(version, request, "Counter.yul", "Counter").creation


RELEASES = [
    (True, VERSION),
    (False, "0.6.12"),
    *(
        pytest.param(enabled, version, marks=pytest.mark.long)
        for enabled, version in [(False, VERSION), (True, "0.6.12")]
        + [(enabled, version) for enabled in (True, False) for version in ("0.7.6", "0.8.4")]
    ),
]


@pytest.mark.parametrize(("enabled", "version"), RELEASES)
def test_an_object_is_verified_and_another_one_is_not(explorer, enabled, version):
    """Without its settings, which are searched for."""
    address = explorer.deploy(creation_of(COUNTER, version, optimizer={"enabled": enabled}))
    fields = {"language": "yul", "contractName": "Counter"}
    changed = explorer.verify(address, COUNTER.replace("add(", "sub("), version, **fields)
    assert (changed.status_code, changed.json["code"]) == (422, "verification_failed")
    equal = explorer.verify(address, COUNTER, version, **fields)
    # No metadata proves comments and names.
    assert (equal.status_code, equal.json["match"]) == (200, "partial"), equal.json
    assert equal.json["creationMatch"] == "partial"
    stored = explorer.contract(address).json
    assert (stored["contractName"], stored["abi"]) == ("Counter", [])
    assert stored["sources"] == {"Counter.yul": {"content": COUNTER}}


def test_a_release_that_gives_no_runtime_code_is_named(explorer):
    address = explorer.deploy(creation_of(COUNTER))
    answer = explorer.verify(address, COUNTER, "0.5.16", language="Yul")
    assert answer.status_code == 422 and "from 0.6.9 on" in answer.json["error"]


def test_a_standard_json_input_says_its_language(explorer):
    settings = {"optimizer": {"enabled": True, "runs": 7}, "evmVersion": "paris"}
    address = explorer.deploy(creation_of(COUNTER, **settings))
    text = json.dumps(standard(COUNTER, **settings))
    named = explorer.verify(address, text, VERSION, language="Solidity")
    assert (named.status_code, named.json["field"]) == (400, "language")
    verified = explorer.verify(address, text, VERSION)
    assert (verified.status_code, verified.json["match"]) == (200, "partial"), verified.json


NO_YUL = [
    (COUNTER.replace("sload(0)", "sload("), {}, 422, "does not compile"),
    (COUNTER, {"contractName": "Counter.sol:Counter"}, 400, "end with .yul"),
    ("{ }", {}, 400, "standard JSON input"),
]


@pytest.mark.parametrize(("source", "fields", "status", "words"), NO_YUL)
def test_what_is_no_yul_is_refused(explorer, source, fields, status, words):
    address = explorer.deploy(creation_of(COUNTER))
    answer = explorer.verify(address, source, VERSION, language="Yul", **fields)
    assert (answer.status_code, words in answer.json["error"]) == (status, True), answer.json


def test_two_files_are_the_compilers_fault_to_tell(explorer):
    address = explorer.deploy(creation_of(COUNTER))
    both = standard(COUNTER)
    both["sources"]["Other.yul"] = {"content": COUNTER}
    answer = explorer.verify(address, json.dumps(both), VERSION)
    assert answer.status_code == 422 and "exactly one input file" in answer.json["error"]


def test_settings_that_yul_has_not_are_not_passed_on():
    assert YUL.settings.keys() == {"optimizer", "evmVersion", "libraries"}
