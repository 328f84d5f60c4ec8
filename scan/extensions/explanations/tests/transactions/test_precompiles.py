"""Inputs and outputs of precompiled contracts, as a node's own return them."""

import hashlib
import random

import pytest
from eth_account import Account

from scan.extensions.explanations.transactions import precompiles
from scan.extensions.traces.transaction_traces import TraceFrame
from tests.support import anvil, indexing, lists

SIGNER = Account.from_key(b"\x11" * 32)
SIGNER_ADDRESS = SIGNER.address.lower()
SIGNED = SIGNER.unsafe_sign_hash(b"\x22" * 32)
SIGNATURE = (SIGNED.v, SIGNED.r, SIGNED.s)
RIPEMD = hashlib.new("ripemd160", b"abc").hexdigest()
INFINITY = b"\xc0" + bytes(47)
BLOB_HASH = b"\1" + hashlib.sha256(INFINITY).digest()[1:]
BLS_MODULUS = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001
BN254_PRIME = 0x30644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD47
P256 = """
    4cee90eb86eaa050036147a12d49004b6b9c72bd725d39d4785011fe190f0b4d
    a73bd4903f0ce3b639bbbf6e8e80d16931ff4bcf5993d58468e8fb19086e8cac
    36dbcd03009df8c59286b162af3bd7fcc0450c9aa81be5d10d312af6c66b1d60
    4aebd3099c618202fcfe16ae7770b0c49ab5eadf74b754204a3bb6060e44eff3
    7618b065f9832de4ca6ca971a7a1adc826d0f7c00181a5fb2ddf79ae00b4e10e
"""
BLAKE = (12).to_bytes(4, "big") + bytes(64) + b"abc".ljust(128, b"\0") + b"\3" + bytes(15) + b"\1"


def words(*numbers):
    return b"".join(number.to_bytes(32, "big") for number in numbers)


# Address, input, name of the function, some of its arguments, and of what it returned.
CALLS = [
    (1, b"\x22" * 32 + words(*SIGNATURE), "ecrecover", {"hash": "0x" + "22" * 32},
     {"signer": SIGNER_ADDRESS}),
    (2, b"abc", "sha256", {"length": "3"}, {"digest": "0x" + hashlib.sha256(b"abc").hexdigest()}),
    (3, b"abc", "ripemd160", {"length": "3"}, {"digest": "0x" + RIPEMD}),
    (4, b"abc", "identity", {"length": "3"}, {"length": "3"}),
    (5, words(1, 1, 1) + b"\3\5\7", "modexp", {"base": "3", "exponent": "5", "modulus": "7"},
     {"result": str(3**5 % 7)}),
    (5, b"", "modexp", {"baseLength": "0", "modulus": "0"}, {"result": "0"}),
    (6, words(1, 2, 1, BN254_PRIME - 2), "bn254Add", {"x1": "1", "y1": "2"}, {"x": "0", "y": "0"}),
    (7, words(1, 2, 1), "bn254Mul", {"scalar": "1"}, {"x": "1", "y": "2"}),
    (8, b"", "bn254Pairing", {"pairs": "0"}, {"isOne": True}),
    (9, BLAKE, "blake2f", {"rounds": "12", "offset": "3", "final": True}, {"h": None}),
    (10, BLOB_HASH + words(5, 0) + INFINITY + INFINITY, "pointEvaluation", {"z": f"0x{5:064x}"},
     {"fieldElementsPerBlob": "4096", "blsModulus": str(BLS_MODULUS)}),
    (11, bytes(256), "bls12G1Add", {"a": f"0x{0:0256x}"}, {"sum": f"0x{0:0256x}"}),
    (12, bytes(320), "bls12G1Msm", {"pairs": "2"}, {"sum": f"0x{0:0256x}"}),
    (13, bytes(512), "bls12G2Add", {"b": f"0x{0:0512x}"}, {"sum": f"0x{0:0512x}"}),
    (14, bytes(288), "bls12G2Msm", {"pairs": "1"}, {"sum": f"0x{0:0512x}"}),
    (15, bytes(384), "bls12Pairing", {"pairs": "1"}, {"isOne": True}),
    (16, bytes(64), "bls12MapFpToG1", {"element": f"0x{0:0128x}"}, {"point": None}),
    (17, bytes(128), "bls12MapFp2ToG2", {"element": f"0x{0:0256x}"}, {"point": None}),
    (256, bytes.fromhex(P256), "p256Verify", {"s": "0x" + P256.split()[2]}, {"valid": True}),
    (6, words(1, 1), "bn254Add", {"y1": "1"}, None),  # no point of the curve
]  # fmt: skip
# Those that the contract refuses, or that no such contract returns: nothing is said of them.
SIZES = {8: 100, 9: 212, 10: 191, 11: 255, 12: 161}
CALLS += [(to, bytes(size), None, None, None) for to, size in SIZES.items()]


@pytest.mark.thorough
def test_what_the_node_s_contracts_are_given_and_return(postgres, template):
    def shown(arguments, expected):
        """Those that are expected; of None any value is."""
        if expected is None or arguments is None:
            return arguments
        values = {argument["name"]: argument["value"] for argument in arguments}
        return {name: value and values[name] for name, value in expected.items()}

    with anvil.Anvil(hardfork="osaka") as node, postgres.cloned(template) as url:
        one = node.accounts[0]
        sent = [
            node.send(one, f"0x{to:040x}", data="0x" + data.hex(), gas=900_000)
            for to, data, *_ in CALLS
        ]
        node.mine(3)
        client = indexing.Indexing(url, node.url).run_until(node.head()).client()
        for hash_, (to, data, name, given, returned) in zip(sent, CALLS, strict=True):
            [frame] = lists.get(client, f"/transactions/{hash_}/trace")["frames"]
            function = frame["function"] or {"name": None, "source": "protocol", "arguments": None}
            assert (function["name"], function["source"]) == (name, "protocol"), (to, data)
            assert shown(function["arguments"], given) == given, (to, data)
            assert shown(frame["result"], returned) == returned, (to, data)


def frame_of(to, data, output=b"", **fields):
    call = {"type": "CALL", "to_address": to.to_bytes(20), "input": data, "input_size": len(data)}
    call |= {"output": output, "output_size": len(output), **fields}
    return TraceFrame(**{**dict.fromkeys(TraceFrame._fields), "trace_address": (), **call})


@pytest.mark.check
def test_an_account_where_no_such_contract_is_returns_nothing():
    for to in precompiles.PRECOMPILES.keys() - {4, 5}:
        for size in (1, 64, 128, 160, 192, 213, 256, 384, 512):
            frame = frame_of(to, bytes(size), gas_used=0)
            assert precompiles.decode(frame) == (None, None)
    assert precompiles.decode(frame_of(2, b"abc", bytes(32), type="CREATE")) == (None, None)
    assert precompiles.decode(frame_of(18, b"abc", bytes(32))) == (None, None)


@pytest.mark.check
def test_any_input_of_any_size_is_bounded():
    drawn = random.Random(5)
    for to in precompiles.PRECOMPILES:
        for _ in range(200):
            data = drawn.choice([b"\xff", b"\0", drawn.randbytes(7)]) * drawn.randrange(200)
            output = drawn.randbytes(drawn.choice([0, 1, 20, 32, 64, 128, 256, 100_000]))
            size = drawn.choice([len(data), len(data) + 10**6])  # what was cut
            function, result = precompiles.decode(frame_of(to, data, output, input_size=size))
            for argument in (*(function.arguments if function else ()), *(result or ())):
                assert len(str(argument.value)) <= 2 * precompiles.MAX_VALUE_BYTES + 2
