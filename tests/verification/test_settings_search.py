"""Which settings are tried, and in which order."""

from itertools import islice
from typing import Any

import pytest

from scan.verification.bytecode_comparison import uses_push0
from scan.verification.bytecode_metadata import metadata_tail
from scan.verification.metadata_hash import ipfs
from scan.verification.metadata_search import likely_paths, spelling_of
from scan.verification.settings_search import Traits, candidates, traits

ON = {"enabled": True, "runs": 200}
OFF = {"enabled": False, "runs": 200}
OLD, SHANGHAI = Traits({}, push0=False), Traits({}, push0=True)


def first(number: int, *given: Any) -> list[dict[str, Any]]:
    return list(islice(candidates(*given), number))


def test_the_likeliest_come_first() -> None:
    assert first(6, {}, (0, 8, 28), SHANGHAI) == [
        {"optimizer": ON},
        {"optimizer": OFF},
        {"optimizer": ON, "viaIR": True},
        {"optimizer": OFF, "viaIR": True},
        {"optimizer": ON, "evmVersion": "shanghai"},
        {"optimizer": ON, "evmVersion": "prague"},
    ]


def test_code_without_push0_is_of_an_earlier_evm() -> None:
    assert first(1, {}, (0, 8, 28), OLD) == [{"optimizer": ON, "evmVersion": "paris"}]
    assert first(1, {}, (0, 8, 19), OLD) == [{"optimizer": ON}]
    assert first(1, {}, (0, 4, 11), OLD) == [{"optimizer": ON}]


@pytest.mark.parametrize(
    ("given", "optimizers"),
    [
        ({"optimizer": {"enabled": False}}, [{"enabled": False}]),
        ({"optimizer": {"enabled": True, "runs": 7}}, [{"enabled": True, "runs": 7}]),
        ({"optimizer": {"runs": 7}}, [{"enabled": True, "runs": 7}, {"enabled": False, "runs": 7}]),
    ],
)
def test_what_is_given_is_not_searched(given: Any, optimizers: list[Any]) -> None:
    given = {**given, "evmVersion": "cancun", "viaIR": False}
    tried = list(candidates(given, (0, 8, 28), SHANGHAI))
    assert [each["optimizer"] for each in tried] == optimizers
    assert {each["evmVersion"] for each in tried} == {"cancun"}
    assert {each["viaIR"] for each in tried} == {False}


def test_each_candidate_comes_once() -> None:
    for wanted in ((0, 4, 26), (0, 6, 12), (0, 8, 13), (0, 8, 28)):
        tried = [repr(each) for each in candidates({}, wanted, OLD)]
        assert len(tried) == len(set(tried))


@pytest.mark.parametrize(
    ("tail", "wanted", "metadata"),
    [
        ("", (0, 8, 28), {"bytecodeHash": "none", "appendCBOR": False}),
        ("a164736f6c634300081c000a", (0, 8, 28), {"bytecodeHash": "none"}),
        ("a164736f6c6343000706000a", (0, 7, 6), {"bytecodeHash": "none"}),
        ("a165627a7a72315820" + "11" * 32 + "0029", (0, 6, 12), {"bytecodeHash": "bzzr1"}),
        ("a165627a7a72305820" + "11" * 32 + "0029", (0, 4, 26), {}),
    ],
)
def test_the_metadata_mode_is_read_from_the_tail(tail: str, wanted: Any, metadata: Any) -> None:
    assert traits(bytes.fromhex("6080" + tail), wanted).metadata == metadata


def test_metadata_is_respelled_until_its_hash_is_right() -> None:
    """Path, runs and EVM version at once; a hit cannot be a coincidence."""
    text = (
        '{"settings":{"compilationTarget":{"contract.sol":"A"},"evmVersion":"cancun",'
        '"optimizer":{"enabled":true,"runs":200},"remappings":[]},'
        '"sources":{"contract.sol":{"keccak256":"0x00"}}}'
    )
    true = text.replace("contract.sol", "src/A.sol").replace('"runs":200', '"runs":1000000')
    cbor = b"\xa1dipfsX\x22" + ipfs(true.encode())
    tail = metadata_tail(b"\0" + cbor + len(cbor).to_bytes(2, "big"))
    assert spelling_of(tail, text, "contract.sol", likely_paths(["A"])) == true
    assert spelling_of(tail, text, "contract.sol", []) is None
    assert spelling_of(None, text, "contract.sol", []) is None
    assert not uses_push0(cbor)
