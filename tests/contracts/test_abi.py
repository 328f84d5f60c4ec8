"""Arguments of every wrong type, count and range; hostile results; overloads; reverts."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.contracts.abi import AbiError, decode, encode, parse_type, parse_types, selector
from scan.contracts.abi_json import coerce, render
from scan.contracts.read_calls import prepare, reverted
from scan.ethereum.node_errors import MAX_DATA, CallFailure, revert_data

pytestmark = pytest.mark.check

CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
PAIR = {
    "type": "tuple",
    "components": [{"type": "uint8", "name": "count"}, {"type": "address", "name": "owner"}],
}


def coerced(type_, value):
    parameter = {"type": type_} if isinstance(type_, str) else type_
    return coerce(parse_type(parameter), value, "args[0]")


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("uint256", 7, 7),
        ("uint256", "0x07", 7),
        ("uint256", str(2**256 - 1), 2**256 - 1),
        ("int8", "-128", -128),
        ("int8", "-0x80", -128),
        ("uint", 1, 1),
        ("bool", "false", False),
        ("bytes", "0xAb", b"\xab"),
        ("bytes2", "0x0001", b"\0\1"),
        ("string", "ünï\0", "ünï\0".encode()),
        ("address", CHECKSUMMED, bytes.fromhex(CHECKSUMMED[2:])),
        (PAIR, {"owner": CHECKSUMMED, "count": "1"}, (1, bytes.fromhex(CHECKSUMMED[2:]))),
        ("function", "0x" + 24 * "11", 24 * b"\x11"),
        ("fixed168x10", "-1.5", -15 * 10**9),
        ({"type": "Set.Kind", "internalType": "enum Set.Kind"}, 1, 1),
        ({"type": "thing", "internalType": "contract thing"}, "0x" + 40 * "0", bytes(20)),
        ("Set.Data storage", "7", 7),
    ],
)
def test_values_that_people_send_are_taken(type_, value, expected):
    assert coerced(type_, value) == expected


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        *(("uint256", value) for value in (-1, 2**256, "-1", "", " 1", "1 ", "1e3", "1.0", 1.0)),
        *(("uint256", value) for value in (True, None, [], {}, "0x", "abc", "٣", "1" * 80, "+1")),
        ("int8", 128),
        *(("bool", value) for value in (0, 1, "True", "yes", None, "")),
        *(("bytes", value) for value in ("", "ab", "0xa", "0xzz", 1, None, ["0x00"])),
        ("bytes2", "0x00"),
        *(
            ("fixed168x10", value)
            for value in ("1.", ".5", "1e3", "0x1", 1.5, "0.00000000001", True)
        ),
        ("ufixed8x1", "-0.1"),
        ({"type": "Set.Pair", "internalType": ""}, "1"),
        ("string", "\ud800"),
        ("address", CHECKSUMMED.replace("A", "a", 1)),
        ("uint8[]", "1"),
        ("uint8[2]", [1, 2, 3]),
        (PAIR, {"count": 1}),
        (PAIR, {"count": 1, "owner": CHECKSUMMED, "more": 1}),
    ],
)
def test_values_that_do_not_fit_are_refused_by_name(type_, value):
    with pytest.raises(AbiError, match=r"^args\[0\]"):
        coerced(type_, value)


@pytest.mark.parametrize(
    "parameter",
    [
        *({"type": "uint7"}, {"type": "uint264"}, {"type": "bytes33"}, {"type": "bytes0"}),
        *({"type": "fixed128x81"}, {"type": "fixed7x18"}, {"type": "mapping(uint256 => bool)"}),
        *({"type": "tuple"}, {"type": "uint8" + "[]" * 40}, {"type": 5}, {}, "uint8"),
    ],
)
def test_types_without_a_coding_are_refused(parameter):
    with pytest.raises(AbiError):
        parse_type(parameter)


@pytest.mark.parametrize(
    ("value", "text"),
    [(15 * 10**9, "1.5"), (-1, "-0.0000000001"), (0, "0"), (-20 * 10**10, "-20"), (10**10, "1")],
)
def test_decimals_are_shown_without_zeros_at_their_end(value, text):
    [decimal] = parse_types([{"type": "fixed168x10"}])
    assert render(decimal, value) == text
    assert decode([decimal], encode([decimal], [value])) == (value,)


@given(
    st.binary(max_size=400),
    st.recursive(
        st.sampled_from(["uint256", "int16", "bool", "address", "bytes7", "bytes", "string"]).map(
            lambda kind: {"type": kind}
        ),
        lambda inner: st.one_of(
            inner.map(lambda of: {**of, "type": of["type"] + "[]"}),
            inner.map(lambda of: {**of, "type": of["type"] + "[2]"}),
            st.lists(inner, min_size=1, max_size=3).map(
                lambda of: {"type": "tuple", "components": of}
            ),
        ),
        max_leaves=6,
    ),
)
def test_any_data_decodes_or_is_refused(data, parameter):
    kind, values = parse_type(parameter), ()
    with suppress(AbiError):
        values = decode([kind], data)
    for value in values:
        render(kind, value)


@pytest.mark.parametrize(
    ("name", "arguments", "signature"),
    [
        ("one", ["1"], "one(uint256)"),
        ("one(uint)", ["1"], "one(uint256)"),
        ("over", [5, True], "over(uint256,bool)"),
        ("over", [CHECKSUMMED.lower().replace("e", "g")[:2] + "7"], "over(uint256)"),
        ("over(uint256, bool)", [1, False], "over(uint256,bool)"),
        ("same(int256)", [1], "same(int256)"),
        ("same", [-1], "same(int256)"),
        ("mixed", [CHECKSUMMED], "mixed(address)"),
    ],
)
def test_a_name_finds_its_overload(name, arguments, signature):
    abi = [{"type": "event", "name": "one", "inputs": []}]
    views = "one uint256, over uint256, over address, over uint256 bool, same uint256, same int256"
    functions = {"view": f"{views}, mixed address", "nonpayable": "mixed uint256"}
    for mutability, texts in functions.items():
        for declared, *types in map(str.split, texts.split(",")):
            inputs = [{"type": type_, "name": ""} for type_ in types]
            entry = {"type": "function", "name": declared, "inputs": inputs, "outputs": []}
            abi.append({**entry, "stateMutability": mutability})
    assert prepare(abi, name, arguments).function.signature == signature


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", "The call reverted without a reason."),
        (
            "08c379a0" + encode(parse_types([{"type": "string"}]), [b"not \xff yours"]).hex(),
            "The call reverted: not \ufffd yours",
        ),
        ("4e487b71" + f"{0x99:064x}", "The call reverted: panic 0x99 (unknown code)"),
        ("08c379a0" + "ff" * 32, "The call reverted with data 0x08c379a0" + "ff" * 32),
        ("ab" * 300, f"The call reverted with data 0x{'ab' * 256}…"),
        (
            selector("ERC721NonexistentToken(uint256)").hex() + f"{7:064x}",
            "The call reverted: ERC721NonexistentToken(tokenId=7)",
        ),
    ],
)
def test_reverts_are_told_in_words(data, sentence):
    returned = bytes.fromhex(data)
    failure = CallFailure("revert", data=returned[:MAX_DATA], data_size=len(returned))
    assert reverted(failure, []).message == sentence


@pytest.mark.parametrize(
    ("error_data", "expected"),
    [
        ("Reverted 0x08c379a0", "08c379a0"),
        ({"data": "0x08c379a0"}, "08c379a0"),
        ({"originalError": {"data": "0x08c379a0"}}, "08c379a0"),
        ({"0xabc": {"error": "revert", "return": "0x08c379a0"}}, "08c379a0"),
        *((short, "0102") for short in ("0x0102", {"data": "0x0102"})),
        ({"code": "0x1", "data": {"data": "0x0102"}}, "0102"),
        *((nothing, None) for nothing in (None, "", "0x", "no hex", 5, [], {"data": None})),
    ],
)
def test_revert_data_is_found_where_nodes_put_it(error_data, expected):
    assert revert_data(error_data) == (None if expected is None else bytes.fromhex(expected))
