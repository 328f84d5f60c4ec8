"""Blueprints (ERC-5202): their preambles, and a compiler's output in their form."""

import pytest

from scan.verification.bytecode_comparison import ByteRange, linked_code
from scan.verification.creation_comparison import as_deployed, preamble_of
from tests.support.explorer import compiled, standard_input
from tests.support.vyper import blueprint_of

VERSION = "0.8.28"
SOURCE = "contract Made { uint256 public immutable x; constructor(uint256 n) { x = n + 3; } }"


PREAMBLES = [
    ("fe710060", "fe7100"),
    ("fe710102abcd60", "fe710102abcd"),
    ("fe71020003abcdef60", "fe71020003abcdef"),
    ("fe7100", None),  # no creation code
    ("fe710103abcd60", None),  # data that passes the end
    ("fe7101", None),
    ("fe710360", None),  # reserved
    ("fe710460", None),  # of another version
    ("fe71", None),
    ("fe6000", None),
    ("", None),
]


@pytest.mark.check
@pytest.mark.parametrize(("code", "preamble"), PREAMBLES)
def test_a_preamble_is_read_as_the_standard_has_it(code, preamble):
    read = preamble_of(bytes.fromhex(code))
    assert (read.hex() if read is not None else None) == preamble


@pytest.mark.check
def test_libraries_of_the_creation_code_are_behind_the_preamble():
    links = {"L.sol": {"L": [{"start": 1, "length": 20}]}}
    creation = {"object": "73" + 40 * "_" + "00", "linkReferences": links}
    evm = {"bytecode": creation, "deployedBytecode": {"object": "00", "sourceMap": "0:1:0"}}
    output = as_deployed({"contracts": {"A.sol": {"A": {"evm": evm}}}}, b"\xfe\x71\0")
    runtime = output["contracts"]["A.sol"]["A"]["evm"]["deployedBytecode"]
    assert linked_code(runtime).links == {"L.sol:L": (ByteRange(4, 24),)}
    assert "sourceMap" not in runtime


@pytest.mark.check
def test_what_cannot_be_created_has_no_blueprint():
    evm = {"bytecode": {"object": ""}, "deployedBytecode": {"object": ""}}
    output = as_deployed({"contracts": {"A.sol": {"I": {"evm": evm}}}}, b"\xfe\x71\0")
    assert output["contracts"]["A.sol"]["I"]["evm"]["deployedBytecode"]["object"] == ""


def test_a_blueprint_of_solidity_is_verified_and_has_no_functions(explorer):
    standard = standard_input({"Made.sol": SOURCE})
    address = explorer.deploy(
        blueprint_of(compiled(VERSION, standard, "Made.sol", "Made").creation)
    )
    other = standard_input({"Made.sol": SOURCE.replace("n + 3", "n + 4")})
    assert explorer.verify(address, other, VERSION).status_code == 422
    answer = explorer.verify(address, standard, VERSION)
    assert (answer.status_code, answer.json["match"]) == (200, "full"), answer.json
    assert answer.json["creationMatch"] == "full"
    assert "may differ" not in answer.json["message"]
