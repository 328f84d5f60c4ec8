"""Values rendered by an ABI that was written to make them large or slow."""

import orjson
import pytest

from scan.contracts import abi, abi_json
from scan.contracts.abi_decoding import constructor_values
from scan.contracts.read_calls import result

pytestmark = pytest.mark.check

WORD = 32


def word(number):
    return number.to_bytes(WORD)


def constructor(*inputs):
    return [{"type": "constructor", "inputs": list(inputs)}]


def test_a_long_name_is_not_repeated_for_every_item():
    """Those of an array of structures, and of the structures' one member."""
    data, long_name = word(32) + word(400) + bytes(400 * WORD), "n" * 100_000
    pairs = {"name": long_name, "type": "tuple[]"}
    long = {**pairs, "components": [{"name": long_name, "type": "uint8"}]}
    short = {**pairs, "components": [{"name": "n", "type": "uint8"}]}
    values = constructor_values(constructor(long), data)
    assert values is not None
    assert len(orjson.dumps(values, default=lambda value: value._asdict())) < 10_000
    assert values[0].value == [["0"]] * 400 and len(values[0].name) == 100
    unnamed, named = (
        result(abi_json.Function("f", (), abi.parse_types([type_])), data)
        for type_ in (long, short)
    )
    assert len(orjson.dumps(unnamed)) < 10_000
    assert named == [{"n": "0"}] * 400


def test_one_text_is_not_repeated_for_every_offset_to_it():
    """20 kB, 500 offsets to it: 10 MB as text, where the encoding of an honest contract is."""
    text = word(20_000) + b"x" * 20_000
    data = word(32) + word(500) + word(500 * WORD) * 500 + text
    texts = constructor({"name": "texts", "type": "string[]"})
    assert constructor_values(texts, data) is None
    [argument] = constructor_values(texts, word(32) + word(1) + word(32) + text) or [None]
    assert argument is not None and argument.value == ["x" * 20_000]


@pytest.mark.parametrize(
    "type_",
    [
        *(f"uint256[{2**200}]", f"uint256[0][{2**60}]", f"uint256[{2**60}][0][{2**60}]"),
        *("uint256[0]" + f"[{2**60}]" * 30, "uint256" + "[1000]" * 30, "uint256" + "[]" * 30),
        *("uint256" + "[]" * 40, "uint256" + "[1]" * 400, f"string[{2**200}]"),
        f"uint256[{10**90}]",
    ],
)
def test_enormous_and_empty_arrays_have_no_values(type_):
    data = word(32) * 1000
    assert constructor_values(constructor({"name": "a", "type": type_}), data) is None
    with pytest.raises(abi.AbiError):
        result(abi_json.Function("f", (), abi.parse_types([{"type": type_}])), data)


def test_empty_types_are_counted():
    empty = {"type": "tuple[900][900]", "components": []}
    assert constructor_values(constructor(empty), b"") is None
    one = constructor({"name": "none", "type": "uint256[0][900]"})
    [argument] = constructor_values(one, b"") or [None]
    assert argument is not None and argument.value == [[]] * 900


@pytest.mark.parametrize(
    "inputs", [None, {}, "x", [None], ["uint256"], [{}], [{"type": 7}], [{"type": "tuple"}],
               [{"type": "tuple", "components": {}}], [{"type": "tuple", "components": [7]}]]
)  # fmt: skip
def test_what_is_no_list_of_parameters_has_no_values(inputs):
    assert constructor_values([{"type": "constructor", "inputs": inputs}], word(7)) is None
