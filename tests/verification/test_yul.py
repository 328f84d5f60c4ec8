"""Contracts of Yul, verified by each form of the service; blueprints (ERC-5202)."""

import json
from pathlib import Path

import pytest

from scan.verification.bytecode_comparison import ByteRange, linked_code
from scan.verification.creation_comparison import as_deployed, preamble_of
from tests.support.explorer import compiled, standard_input
from tests.support.vyper import blueprint_of

VERSION = "0.8.28"
# Counts how often it was called with 0xd09de08a, and tells it to who calls 0x06661abd.
COUNTER = Path(__file__).with_name("counter.yul").read_text()


def standard(source, **settings):
    sources = {"Counter.yul": {"content": source}}
    return {"language": "Yul", "sources": sources, "settings": settings}


def creation_of(source, version=VERSION, **settings):
    selected = {"*": {"*": ["evm.bytecode.object", "evm.deployedBytecode.object"]}}
    request = standard(source, outputSelection=selected, **settings)
    return compiled(version, request, "Counter.yul", "Counter").creation


@pytest.mark.parametrize(("enabled", "version"), [(True, VERSION), (False, "0.6.12")])
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


def test_a_standard_json_input_is_verified(explorer):
    settings = {"optimizer": {"enabled": True, "runs": 7}, "evmVersion": "paris"}
    address = explorer.deploy(creation_of(COUNTER, **settings))
    text = json.dumps(standard(COUNTER, **settings))
    verified = explorer.verify(address, text, VERSION)
    assert (verified.status_code, verified.json["match"]) == (200, "partial"), verified.json


@pytest.mark.check
@pytest.mark.parametrize(
    ("code", "preamble"),
    [
        ("fe710060", "fe7100"),
        ("fe71020003abcdef60", "fe71020003abcdef"),
        ("fe7100", None),  # no creation code
        ("fe710103abcd60", None),  # data that passes the end
        ("fe710360", None),  # reserved
        ("fe710460", None),  # of another version
        ("", None),
    ],
)
def test_a_preamble_is_read_as_the_standard_has_it(code, preamble):
    assert preamble_of(bytes.fromhex(code)) == (preamble and bytes.fromhex(preamble))


@pytest.mark.check
def test_libraries_of_the_creation_code_are_behind_the_preamble():
    links = {"L.sol": {"L": [{"start": 1, "length": 20}]}}
    creation = {"object": "73" + 40 * "_" + "00", "linkReferences": links}
    evm = {"bytecode": creation, "deployedBytecode": {"object": "00", "sourceMap": "0:1:0"}}
    output = as_deployed({"contracts": {"A.sol": {"A": {"evm": evm}}}}, b"\xfe\x71\0")
    runtime = output["contracts"]["A.sol"]["A"]["evm"]["deployedBytecode"]
    assert linked_code(runtime).links == {"L.sol:L": (ByteRange(4, 24),)}
    assert "sourceMap" not in runtime


def test_a_blueprint_of_solidity_is_verified_and_has_no_functions(explorer):
    source = "contract Made { uint256 public immutable x; constructor(uint256 n) { x = n + 3; } }"
    standard = standard_input({"Made.sol": source})
    creation = compiled(VERSION, standard, "Made.sol", "Made").creation
    address = explorer.deploy(blueprint_of(creation))
    other = standard_input({"Made.sol": source.replace("n + 3", "n + 4")})
    assert explorer.verify(address, other, VERSION).status_code == 422
    answer = explorer.verify(address, standard, VERSION)
    assert (answer.status_code, answer.json["match"]) == (200, "full"), answer.json
    assert answer.json["creationMatch"] == "full"
    assert "may differ" not in answer.json["message"]
