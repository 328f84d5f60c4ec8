"""Hashes of headers of other chains, as an encoder made here computes them.

Orders of fields: header_ext.go of ava-labs/coreth and ava-labs/subnet-evm, HeaderDecoder.cs of
Nethermind, IbftExtraDataCodec.java and QbftExtraDataCodec.java of hyperledger/besu,
core/types/istanbul.go of Consensys/quorum.
"""

import pytest
import rlp

from scan.ethereum.block_hashing import has_its_hash
from scan.ethereum.blocks import BlockJson, read_json
from scan.ethereum.rlp_and_tries import keccak256

pytestmark = pytest.mark.check

WORD, ADDRESS, BLOOM = b"\xab" * 32, b"\xcd" * 20, bytes(256)
BFT_MIX_HASH = bytes.fromhex("63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365")
SIGNATURE = b"\x5e" * 65

OLDEST = {
    "parentHash": WORD,
    "sha3Uncles": WORD,
    "miner": ADDRESS,
    "stateRoot": WORD,
    "transactionsRoot": WORD,
    "receiptsRoot": WORD,
    "logsBloom": BLOOM,
    "difficulty": 2,
    "number": 5,
    "gasLimit": 30_000_000,
    "gasUsed": 0,
    "timestamp": 1_700_000_000,
    "extraData": b"\1\2",
}
SEAL = {"mixHash": WORD, "nonce": bytes(8)}
BLOBS = {"blobGasUsed": 0, "excessBlobGas": 0, "parentBeaconBlockRoot": WORD}
GRANITE = {"timestampMilliseconds": 1_700_000_000_123, "minDelayExcess": 7_970_124}
MADE = OLDEST | SEAL
PRAGUE = MADE | {"baseFeePerGas": 7, "withdrawalsRoot": WORD, **BLOBS, "requestsHash": WORD}
# Those of chains in tests/support/chain_forms are altered with these.
HEADERS = {
    "ethereum since Amsterdam": PRAGUE | {"blockAccessListHash": WORD, "slotNumber": 12_345_678},
    "avalanche since Granite": MADE
    | {"extDataHash": WORD, "baseFeePerGas": 25, "extDataGasUsed": 0, "blockGasCost": 100_000}
    | BLOBS
    | GRANITE,
    "subnet-evm": MADE | {"baseFeePerGas": 25, "blockGasCost": 0, **BLOBS, **GRANITE},
    "aura by nethermind": OLDEST | {"step": 331_234_567, "signature": SIGNATURE},
    "aura by erigon": OLDEST | {"auraStep": 331_234_567, "auraSeal": SIGNATURE},
}


def hex_of(value):
    return hex(value) if isinstance(value, int) else "0x" + value.hex()


def struct_of(fields, hash_, **more):
    values = {name: hex_of(value) for name, value in fields.items()}
    header = {"hash": hex_of(hash_), "transactions": [], **values, **more}
    return read_json(header, BlockJson, 5)


@pytest.mark.parametrize("name", HEADERS)
def test_a_hash_covers_each_field_of_its_header(name):
    def altered(value):
        return value + 1 if isinstance(value, int) else bytes([*value[:-1], value[-1] ^ 1])

    fields = HEADERS[name]
    hash_ = keccak256(rlp.encode(list(fields.values())))
    assert has_its_hash(struct_of(fields, hash_))
    for field, value in fields.items():
        assert not has_its_hash(struct_of(fields | {field: altered(value)}, hash_)), field


@pytest.mark.parametrize(
    ("name", "added", "has_hash"),
    [
        # Fields that tell another form of chain are none.
        ("ethereum since Amsterdam", {"extDataHash": hex_of(WORD)}, False),
        ("ethereum since Amsterdam", {"blockGasCost": "0x0"}, False),
        ("aura by nethermind", {"step": 331_234_567}, True),  # which writes a number
        ("aura by erigon", {name: hex_of(value) for name, value in SEAL.items()}, True),  # has both
    ],
)
def test_a_header_has_its_hash_whatever_else_its_client_writes(name, added, has_hash):
    hash_ = keccak256(rlp.encode(list(HEADERS[name].values())))
    assert has_its_hash(struct_of(HEADERS[name], hash_, **added)) is has_hash


VANITY, VALIDATORS, SEALS = bytes(32), [ADDRESS, b"\xce" * 20], [SIGNATURE, b"\x5f" * 65]
EXTRA_DATA = {
    "ibft 2.0": (
        rlp.encode([VANITY, VALIDATORS, b"", b"\0\0\0\1", SEALS]),
        rlp.encode([VANITY, VALIDATORS, b""]),
    ),
    "qbft with a vote": (
        rlp.encode([VANITY, VALIDATORS, [ADDRESS, b""], 0, SEALS]),
        rlp.encode([VANITY, VALIDATORS, [ADDRESS, b""], 0, []]),
    ),
    "ibft of quorum": (
        VANITY + rlp.encode([VALIDATORS, SIGNATURE, SEALS]),
        VANITY + rlp.encode([VALIDATORS, SIGNATURE, []]),
    ),
}


@pytest.mark.parametrize("name", EXTRA_DATA)
def test_a_hash_leaves_out_the_seals_of_validators(name):
    data, hashed = EXTRA_DATA[name]
    fields = MADE | {"mixHash": BFT_MIX_HASH, "extraData": data}
    hash_ = keccak256(rlp.encode(list((fields | {"extraData": hashed}).values())))
    assert has_its_hash(struct_of(fields, hash_))
    resealed = data.replace(SIGNATURE, b"\x60" * 65) if name != "ibft of quorum" else data
    assert has_its_hash(struct_of(fields | {"extraData": resealed}, hash_))
    assert not has_its_hash(struct_of(fields | {"gasUsed": 1}, hash_))
    other_validator = data.replace(b"\xce" * 20, b"\xcf" * 20)
    assert not has_its_hash(struct_of(fields | {"extraData": other_validator}, hash_))
    assert not has_its_hash(struct_of(fields | {"mixHash": WORD}, hash_))


@pytest.mark.parametrize(
    "extra_data",
    [b"", b"\xf8", b"\xbf" + b"\xff" * 8, b"\xfa" + (100_000).to_bytes(3, "big") + b"\1" * 100_000],
    ids=["none", "short", "a string", "many items"],
)
def test_malformed_extra_data_has_no_other_hash(extra_data):
    fields = MADE | {"mixHash": BFT_MIX_HASH, "extraData": extra_data}
    assert not has_its_hash(struct_of(fields, WORD))
    assert has_its_hash(struct_of(fields, keccak256(rlp.encode(list(fields.values())))))
