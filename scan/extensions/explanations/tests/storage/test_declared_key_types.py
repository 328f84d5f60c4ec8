"""Keys and values of types that a source declares over elementary ones: the layout has their names
alone."""

from pathlib import Path

import pytest

from scan.errors import InvalidParameter
from scan.extensions.explanations.storage.layout import StorageType
from scan.extensions.explanations.storage.mapping_keys import Candidates, key_of
from scan.extensions.explanations.tests.storage.conftest import deploy
from tests.support import anvil, expected

MARK = bytes.fromhex("12345678")


@pytest.fixture(scope="module")
def declared(explorer):
    source = Path(__file__).with_name("DeclaredKeys.sol").read_text()
    return deploy(explorer, {"Declared.sol": source}, "Declared.sol", "Declared")


def test_values_are_those_of_the_getters(declared):
    values = declared.values()
    for name in ("mark", "count", "oddName", "switched"):
        assert values[name] == declared.read(name)
    assert [values[f"depths[{n}]"] for n in range(2)] == ["-5", "6"]
    types = {v["name"]: v["type"] for v in declared.storage().json["variables"]}
    assert (types["mark"], types["switched"]) == ("Mark", "Declared.Switch")


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


def test_changed_slots_are_named_by_the_words_that_lead_to_them_as_expected(declared):
    """And refusals."""
    data = anvil.calldata("set(bytes4,uint64,int16)", MARK, 77, -2)
    sent = declared.explorer.send(declared.address, data, gas=5_000_000)
    names = {"Declared": declared.address, "set": sent}
    expected.compare(__file__, declared.explorer.client, names)
