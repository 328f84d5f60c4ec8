"""Calls and logs in words."""

import tracemalloc

import pytest
from eth_utils import keccak

from scan.contracts.abi import AbiError, canonical
from scan.contracts.abi_decoding import decode_call_by, index_abi
from scan.extensions.decoding.decoding import decode_call, decode_log, decode_log_by
from tests.support.anvil import encoded_call

pytestmark = pytest.mark.check

HOLDER = bytes.fromhex("f39fd6e51aad88f6f4ce6ab8827279cfffb92266")
ADDRESS = "0x" + HOLDER.hex()
TRANSFER = keccak(text="Transfer(address,address,uint256)")
WORD = HOLDER.rjust(32, b"\0")


def test_a_selector_alone_does_not_make_a_call():
    selector = keccak(text="transfer(address,uint256)")[:4]
    for calldata in (b"", *(selector + rest for rest in (b"", b"\xff", b"\xff" * 64, bytes(31)))):
        assert decode_call(calldata, []) is None
    assert decode_call(selector + b"\1" + WORD[1:] + SEVEN) is None  # no address


def test_data_that_lies_is_not_decoded():
    for data in (b"", b"\x01", bytes(31)):
        assert decode_log([TRANSFER, WORD, WORD], data, []) is None
    assert decode_log([], b"", []) is None
    assert decode_log([TRANSFER, b"\1" * 32, b"\1" * 32], bytes(32), []) is None
    assert decode_log([TRANSFER, b"\1" + WORD[1:], WORD], SEVEN) is None  # no address
    for topics in ([TRANSFER], [TRANSFER, WORD], [TRANSFER, WORD, WORD, WORD, WORD]):
        assert decode_log(topics, SEVEN * 3) is None  # other topics than its ABI says
    batch = keccak(text="TransferBatch(address,address,address,uint256[],uint256[])")
    assert decode_log([batch, WORD, WORD, WORD], b"\xff" * 64, []) is None


SEVEN = (7).to_bytes(32, "big")


def function(name, *inputs):
    return {"type": "function", "name": name, "inputs": [*inputs]}


def values(decoded):
    return [arg.value for arg in decoded.arguments]


def test_a_token_that_is_indexed_as_erc721_has_its_names():
    calldata = encoded_call("approve(address,uint256)", HOLDER, 7)
    plain, item = decode_call(calldata), decode_call(calldata, token_type="BEP721")
    assert plain is not None and [arg.name for arg in plain.arguments] == ["spender", "value"]
    assert item is not None and [arg.name for arg in item.arguments] == ["to", "tokenId"]


def test_tuples_arrays_and_every_kind_of_value_are_rendered_as_calls_are():
    components = [
        {"name": "owner", "type": "address"},
        {"name": "parts", "type": "tuple[2]", "components": [{"name": "", "type": "int24"}]},
        {"name": "note", "type": "string"},
    ]
    abi = index_abi(
        [
            function(
                "f",
                {"name": "orders", "type": "tuple[]", "components": components},
                {"name": "flags", "type": "bool[2][]"},
                {"name": "id", "type": "bytes4"},
                {"name": "blob", "type": "bytes"},
            )
        ]
    )
    types = ["(address,(int24)[2],string)[]", "bool[2][]", "bytes4", "bytes"]
    order = (HOLDER, [(-1,), (8388607,)], "a\n\u202e")
    calldata = encoded_call(f"f({','.join(types)})", [order], [[True, False]], b"abcd", b"\0\xff")
    decoded = decode_call(calldata, [abi])
    assert decoded is not None and decoded.signature == f"f({','.join(types)})"
    assert values(decoded) == [
        [{"owner": ADDRESS, "parts": [["-1"], ["8388607"]], "note": "a\n\u202e"}],
        [[True, False]],
        "0x61626364",
        "0x00ff",
    ]


def test_overloads_are_told_apart_by_their_types():
    one = function("f", {"name": "a", "type": "uint256"})
    abi = index_abi([one, function("f", {"name": "b", "type": "int256"})])
    minus = decode_call(encoded_call("f(int256)", -5), [abi])
    assert minus is not None and minus.arguments[0][:3] == ("b", "int256", "-5")


def test_bytes_after_the_arguments_are_ignored_and_integers_are_cut_to_their_width():
    calldata = encoded_call("transfer(address,uint256)", HOLDER, 7)
    assert values(decode_call(calldata + b"\x62\x30")) == [ADDRESS, "7"]
    abi = index_abi([function("g", {"name": "", "type": "uint8"}, {"name": "", "type": "bool"})])
    dirty = keccak(text="g(uint8,bool)")[:4] + b"\x01" * 31 + b"\x09"
    assert values(decode_call(dirty + (1).to_bytes(32), [abi])) == ["9", True]
    for no_bool in (SEVEN, (2).to_bytes(32), (1 << 255 | 1).to_bytes(32)):
        assert decode_call(dirty + no_bool, [abi]) is None


def test_an_anonymous_event_is_found_by_its_form_where_it_alone_has_it():
    def anonymous(name, kind):
        who = {"name": "who", "type": "address", "indexed": True}
        inputs = [who, {"name": "what", "type": kind, "indexed": False}]
        return {"type": "event", "name": name, "anonymous": True, "inputs": inputs}

    note, flag = anonymous("Note", "uint256"), anonymous("Flag", "bool")
    decoded = decode_log([WORD], SEVEN, [index_abi([note])])
    assert decoded is not None and (decoded.name, values(decoded)) == ("Note", [ADDRESS, "7"])
    assert decode_log([WORD], SEVEN, [index_abi([note, flag])]) is not None  # 7 is no flag
    assert decode_log([WORD], (1).to_bytes(32, "big"), [index_abi([note, flag])]) is None
    assert decode_log([TRANSFER], SEVEN, [index_abi([note])]) is None


def test_imported_signatures_decode_what_they_encode_alone():
    calldata = encoded_call("f(uint256,string)", 7, "seven")
    decoded = decode_call_by(calldata, ["f(uint256,string)"])
    assert decoded is not None and decoded.source == "imported"
    expected = [("", "uint256", "7"), ("", "string", "seven")]
    assert [tuple(arg[:3]) for arg in decoded.arguments] == expected
    assert decode_call_by(calldata + b"\0", ["f(uint256,string)"]) is None
    assert decode_call_by(calldata, ["g(uint256,string)"]) is None


def test_an_imported_event_is_decoded_where_one_reading_makes_sense():
    other = bytes.fromhex("70997970c51812dc3a010c7d01b50e0d17dc79c8").rjust(32, b"\0")
    signature = ["Transfer(address,address,uint256)"]
    decoded = decode_log_by([TRANSFER, WORD, other], SEVEN, signature)
    assert values(decoded) == [ADDRESS, "0x" + other[12:].hex(), "7"]
    assert values(decode_log_by([TRANSFER], WORD + other + SEVEN, signature))[2] == "7"
    pair = keccak(text="Pair(uint256,uint256)")
    assert decode_log_by([pair, SEVEN], SEVEN[:-1] + b"\x08", ["Pair(uint256,uint256)"]) is None
    assert decode_log_by([], b"", signature) is None


@pytest.mark.parametrize(
    ("amount", "is_decoded"),
    [(0, True), (2**96 - 1, True), (2**96, False), (2**160 - 1, False), (2**160, True)],
)
def test_of_two_arguments_the_one_unlike_an_address_is_the_number(amount, is_decoded):
    topics = [keccak(text="Paid(address,uint256)"), WORD]
    decoded = decode_log_by(topics, amount.to_bytes(32), ["Paid(address,uint256)"])
    assert (decoded is not None) is is_decoded


BOMBS = {
    "one blob many times": lambda: _aliased(2000, 60_000),
    "a length without end": lambda: (32).to_bytes(32, "big") + b"\xff" * 32,
    "offsets beyond the data": lambda: (32).to_bytes(32, "big") + SEVEN + b"\xff" * 32 * 7,
}


def _aliased(count, size):
    """An array of bytes whose items are all the same ones."""
    word = (count * 32).to_bytes(32, "big")
    head = (32).to_bytes(32, "big") + count.to_bytes(32, "big")
    return head + word * count + size.to_bytes(32, "big") + bytes(size)


@pytest.mark.parametrize("bomb", sorted(BOMBS))
def test_calldata_cannot_cost_more_than_its_size(bomb):
    selector = keccak(text="multicall(bytes[])")[:4]
    tracemalloc.start()
    assert decode_call(selector + BOMBS[bomb]()) is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 1024 * 1024


def test_entries_that_nobody_can_decode_are_left_out():
    odd = [
        None,
        7,
        {},
        {"type": "function"},
        {"type": "event", "inputs": 3},
        function("g", {"type": "mapping(uint256 => uint256)"}),
        function("h", *({"name": "", "type": "uint8"} for _ in range(200))),
        function("known", {"name": "a", "type": "uint256"}),
    ]
    index = index_abi(odd)
    assert [entry.name for entries in index.functions.values() for entry in entries] == ["known"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("transfer(address,uint256)", "transfer(address,uint256)"),
        (" transfer( address to , uint value ) ", "transfer(address,uint256)"),
        ("f()", "f()"),
        ("f((uint8,(bool)[2])[],bytes)", "f((uint8,(bool)[2])[],bytes)"),
        ("f(tuple(uint8 a) x, int[3] y)", "f((uint8),int256[3])"),
        ("E(address indexed from, string)", "E(address,string)"),
        ("run(function f, fixed)", "run(function,fixed128x18)"),
        ("sum(Set.Pair[] p, T.E, IThing)", "sum(Set.Pair[],T.E,IThing)"),
        ("f(Set.Data storage self)", "f(Set.Data storage)"),
        ("f(mapping(uint256 => bool) storage)", "f(mapping(uint256 => bool) storage)"),
    ],
)
def test_signatures_are_read_in_every_usual_form(text, expected):
    assert canonical(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        *"f f( f) f()() 1f() f(uint7) f(address,) f(,) f(foo) f((uint8) f(uint8))".split(),
        "f(uint8 1a)",
        "f(uint8 a b)",
        "f(address)\0",
        "fé()",
        "f(" + "(" * 40 + "uint8" + ")" * 40 + ")",
        "f(" + "uint8," * 900 + "uint8)",
        "f(uint8[99999999999999999999999999999999999999999999999999999999999999999999999999999999])",
    ],
)
def test_what_is_no_signature_is_refused(text):
    with pytest.raises(AbiError):
        canonical(text)
