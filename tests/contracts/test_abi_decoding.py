"""Calls and logs in words."""

from eth_abi import encode
from eth_utils import keccak

from scan.contracts.abi_decoding import decode_call, decode_log

HOLDER = bytes.fromhex("f39fd6e51aad88f6f4ce6ab8827279cfffb92266")
ADDRESS = "0x" + HOLDER.hex()
TRANSFER = keccak(text="Transfer(address,address,uint256)")
WORD = HOLDER.rjust(32, b"\0")


def test_a_call_that_everybody_makes_is_decoded_without_an_abi() -> None:
    calldata = keccak(text="transfer(address,uint256)")[:4] + encode(
        ["address", "uint256"], [HOLDER, 7]
    )
    decoded = decode_call(calldata, [])
    assert decoded is not None and not decoded.is_verified
    assert [tuple(each) for each in decoded.arguments] == [
        ("to", "address", ADDRESS),
        ("value", "uint256", "7"),
    ]


def test_a_selector_alone_does_not_make_a_call() -> None:
    selector = keccak(text="transfer(address,uint256)")[:4]
    assert decode_call(selector + b"\xff" * 64, []) is None
    assert decode_call(selector, []) is None
    assert decode_call(b"", []) is None


def test_a_verified_abi_comes_first() -> None:
    inputs = [{"name": "whom", "type": "address"}, {"name": "much", "type": "uint256"}]
    abi = [{"type": "function", "name": "transfer", "inputs": inputs}]
    calldata = keccak(text="transfer(address,uint256)")[:4] + encode(
        ["address", "uint256"], [HOLDER, 7]
    )
    decoded = decode_call(calldata, abi)
    assert decoded is not None and decoded.is_verified
    assert decoded.arguments[0].name == "whom"


def test_logs_are_told_apart_by_their_indexed_arguments() -> None:
    amount = decode_log([TRANSFER, WORD, WORD], (9).to_bytes(32, "big"), [])
    item = decode_log([TRANSFER, WORD, WORD, (9).to_bytes(32, "big")], b"", [])
    assert amount is not None and amount.arguments[2].name == "value"
    assert item is not None and item.arguments[2].name == "tokenId"


def test_an_indexed_string_is_shown_as_its_hash() -> None:
    abi = [
        {
            "type": "event",
            "name": "Named",
            "inputs": [{"name": "name", "type": "string", "indexed": True}],
        }
    ]
    decoded = decode_log([keccak(text="Named(string)"), TRANSFER], b"", abi)
    assert decoded is not None
    assert tuple(decoded.arguments[0]) == ("name", "hash of string", "0x" + TRANSFER.hex())


def test_data_that_lies_is_not_decoded() -> None:
    assert decode_log([TRANSFER, WORD, WORD], b"\x01", []) is None
    assert decode_log([], b"", []) is None
    batch = keccak(text="TransferBatch(address,address,address,uint256[],uint256[])")
    assert decode_log([batch, WORD, WORD, WORD], b"\xff" * 64, []) is None
