"""Which settings are tried, and in which order; metadata by its hash."""

from itertools import islice

import pytest

from scan.verification import bytecode_comparison, metadata_request
from scan.verification.bytecode_metadata import bzzr0, bzzr1, ipfs, read_metadata
from scan.verification.settings_search import (
    InferredSettings,
    candidate_settings,
    evm_versions,
    infer_settings,
)

pytestmark = pytest.mark.check

ON = {"enabled": True, "runs": 200}
OLD, SHANGHAI = InferredSettings({}, push0=False), InferredSettings({}, push0=True)


def first(number, *arguments):
    return list(islice(candidate_settings(*arguments), number))


def test_the_likeliest_come_first():
    off = {"enabled": False, "runs": 200}
    assert first(6, {}, (0, 8, 28), SHANGHAI) == [
        {"optimizer": ON},
        {"optimizer": off},
        {"optimizer": ON, "viaIR": True},
        {"optimizer": off, "viaIR": True},
        {"optimizer": ON, "evmVersion": "shanghai"},
        {"optimizer": ON, "evmVersion": "prague"},
    ]


def test_code_without_push0_is_of_an_earlier_evm():
    assert first(1, {}, (0, 8, 28), OLD) == [{"optimizer": ON, "evmVersion": "paris"}]
    assert first(1, {}, (0, 8, 19), OLD) == [{"optimizer": ON}]
    assert first(1, {}, (0, 4, 11), OLD) == [{"optimizer": ON}]


@pytest.mark.parametrize(
    ("optimizer", "optimizers"),
    [
        ({"enabled": True, "runs": 7}, [{"enabled": True, "runs": 7}]),
        ({"runs": 7}, [{"enabled": True, "runs": 7}, {"enabled": False, "runs": 7}]),
    ],
)
def test_what_is_given_is_not_searched(optimizer, optimizers):
    given = {"evmVersion": "cancun", "viaIR": False}
    tried = candidate_settings({"optimizer": optimizer, **given}, (0, 8, 28), SHANGHAI)
    assert [*tried] == [{"optimizer": one, **given} for one in optimizers]


@pytest.mark.parametrize(
    ("tail", "version", "metadata"),
    [
        ("", (0, 8, 28), {"bytecodeHash": "none", "appendCBOR": False}),
        ("a164736f6c634300081c000a", (0, 8, 28), {"bytecodeHash": "none"}),
        ("a165627a7a72315820" + "11" * 32 + "0029", (0, 6, 12), {"bytecodeHash": "bzzr1"}),
        ("a165627a7a72305820" + "11" * 32 + "0029", (0, 4, 26), {}),
    ],
)
def test_the_metadata_mode_is_read_from_the_tail(tail, version, metadata):
    assert infer_settings(bytes.fromhex("6080" + tail), version).metadata == metadata


@pytest.mark.parametrize(
    ("version", "newest"),
    [((0, 4, 21), "byzantium"), ((0, 8, 24), "cancun"), ((0, 8, 28), "prague")],
)
def test_no_evm_version_is_asked_for_that_the_release_does_not_take(version, newest):
    assert evm_versions(version)[-1] == newest
    for inferred in (infer_settings(bytes.fromhex("5f80fd"), version), OLD):
        names = {item.get("evmVersion") for item in candidate_settings({}, version, inferred)}
        assert names - {None} <= set(evm_versions(version))


def test_variants_of_metadata_are_tried_until_the_hash_is_right():
    """Path, runs and EVM version at once; a hit cannot be a coincidence."""
    text = (
        '{"settings":{"compilationTarget":{"contract.sol":"A"},"evmVersion":"cancun",'
        '"optimizer":{"enabled":true,"runs":200},"remappings":[]},'
        '"sources":{"contract.sol":{"keccak256":"0x00"}}}'
    )
    true = text.replace("contract.sol", "src/A.sol").replace('"runs":200', '"runs":1000000')
    cbor = b"\xa1dipfsX\x22" + ipfs(true.encode())
    tail = read_metadata(b"\0" + cbor + len(cbor).to_bytes(2, "big"))
    assert metadata_request.find_variant(tail, text, "contract.sol", ["A"]) == true
    assert metadata_request.find_variant(tail, text, "contract.sol", []) is None
    assert metadata_request.find_variant(None, text, "contract.sol", []) is None
    assert not bytecode_comparison.uses_push0(cbor)


def test_file_hashes_are_the_published_ones():
    """IPFS: `ipfs add` of "hello world\\n" is QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o."""
    expected = "122046d44814b9c5af141c3aaab7c05dc5e844ead5f91f12858b021eba45768b4c0e"
    assert ipfs(b"hello world\n").hex() == expected
    assert ipfs(bytes(300 * 1024)) == b""
    assert len(bzzr0(bytes(10_000))) == len(bzzr1(bytes(10_000))) == 32
