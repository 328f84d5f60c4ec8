"""Keys and values of types that a source declares over elementary ones: the layout has their names
alone."""

from pathlib import Path

import pytest

from scan.errors import InvalidParameter
from scan.extensions.explanations.storage.layout import StorageType
from scan.extensions.explanations.storage.mapping_keys import Candidates, key_of
from scan.extensions.explanations.tests.storage.conftest import deploy
from tests.support.refusals import require_parameter

MARK = bytes.fromhex("12345678")
SOURCE = Path(__file__).with_name("DeclaredKeys.sol").read_text()
LEFT = f"0x{MARK.ljust(32, bytes(1)).hex()}"
NEGATIVE = "0x" + "f" * 63 + "e"
PATHS = {
    "byMark[0x12345678]": "1",
    "byCount[77]": "2",
    "byDepth[-2]": "3",
    "byOddName[0x12345678]": "4",
    "both[0x12345678][-2]": "5",
    "byState[Busy]": "6",
    "bySwitch[true][Gone]": "7",
    "depthOf[5]": "-2",
}


@pytest.fixture(scope="module")
def declared(explorer):
    return deploy(explorer, {"Declared.sol": SOURCE}, "Declared.sol", "Declared")


def test_changed_slots_are_named_by_the_words_that_lead_to_them(declared):
    changed = declared.changed("set(bytes4,uint64,int16)", MARK, 77, -2)
    assert {name: after for name, (_, after) in changed.items()} == PATHS
    for path, value in PATHS.items():
        assert declared.values(variable=path) == {path: value}
    assert declared.values(variable="byState[1]") == {"byState[1]": "6"}  # also by its number


def test_values_are_those_of_the_getters(declared):
    values = declared.values()
    for name in ("mark", "count", "oddName", "switched"):
        assert values[name] == declared.read(name)
    assert [values[f"depths[{n}]"] for n in range(2)] == ["-5", "6"]
    types = {v["name"]: v["type"] for v in declared.storage().json["variables"]}
    assert (types["mark"], types["switched"]) == ("Mark", "Declared.Switch")


NO_KEYS = f"""
    byMark[305419896] byMark[0x1234567800] byMark[{LEFT}] byCount[-1] byCount[{2**64}]
    byDepth[40000] byState[3] byState[Away] byState[busy] bySwitch[2][Busy]
""".split()


@pytest.mark.parametrize("path", NO_KEYS)
def test_what_is_no_key_of_the_type_is_refused(declared, path):
    require_parameter(declared.storage(variable=path), "variable")


@pytest.mark.check
@pytest.mark.parametrize("label", ["Mark", "int7", "uint512", "bytes0", "bytes33", "interest"])
def test_labels_that_are_like_elementary_ones(label):
    type_ = StorageType("value", label, 4)
    with pytest.raises(InvalidParameter):
        key_of(type_, "0x12345678")
    assert key_of(type_, LEFT).encoded == MARK.ljust(32, bytes(1))
    assert key_of(type_, NEGATIVE).encoded == bytes.fromhex(NEGATIVE[2:])


@pytest.mark.check
@pytest.mark.parametrize(("label", "least", "most"), [("int8", -128, 127), ("uint8", 0, 255)])
def test_keys_are_numbers_that_their_type_has(label, least, most):
    type_ = StorageType("value", label, 1)
    numbers = [int.from_bytes(key_of(type_, str(n)).encoded, signed=n < 0) for n in (least, most)]
    assert numbers == [least, most]
    for number in (least - 1, most + 1):
        with pytest.raises(InvalidParameter):
            key_of(type_, str(number))


@pytest.mark.check
def test_candidates_in_either_alignment():
    words = [
        MARK.ljust(32, bytes(1)),
        MARK.rjust(32, bytes(1)),
        b"\xff" * 28 + b"\x80" + bytes(3),
        b"\xff" * 28 + MARK,  # no negative number of four bytes
        b"\1" * 32,
    ]
    keys = Candidates(words).of(StorageType("value", "Mark", 4), is_vyper=False)
    assert [key.encoded for key in keys] == words[:3]
    assert [key.text for key in keys] == [f"0x{word.hex()}" for word in words[:3]]
    of_vyper = Candidates(words).of(StorageType("unknown", "Roles", 32), is_vyper=True)
    assert [key.encoded for key in of_vyper] == words
    assert key_of(StorageType("unknown", "Roles", 32), "5").encoded == (5).to_bytes(32)
