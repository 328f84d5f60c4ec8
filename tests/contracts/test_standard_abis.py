"""The standards' signatures beside the packages that define them."""

import json

import pytest
from eth_utils import keccak

from scan.contracts.abi import parse_types, signature
from scan.contracts.abi_decoding import STANDARDS, standard_abis
from tests.support.solidity import NODE

pytestmark = pytest.mark.check

# The packages' contracts whose events and functions that change state are all claimed, by the
# folder of their artifacts.
OPENZEPPELIN = "@openzeppelin/contracts/build/contracts/{}.json"
UNISWAP_V2 = "@uniswap/v2-core/build/{}.json"
UNISWAP_V3 = "@uniswap/v3-core/artifacts/contracts/{0}.sol/{0}.json"
# Of those that no package here has: selectors as the contracts' documentation and users have them.
SELECTORS = {
    "weth9": "d0e30db0 2e1a7d4d",
    "multicall": "252dba42 c3077fa9 bce38bd7 399542e9 82ad56cb 174dea71",
    "safe": "61b69abd 1688f0b9 d18af54d ec9e80bb b63e800d 6a761202 468721a7 5229073f d4d9bdcd"
    " 0d582f13 f8dc5dd9 e318b52b 694e80c3 610b5925 e009cfde f08a0323 e19a9dd9 8d80ff0a",
    "uniswap_v2": "e8e33700 f305d719 baa2abde 02751cec 2195995c ded9382a af2979eb 5b0d5984 38ed1739"
    " 8803dbee 7ff36ab5 4a25d94a 18cbafe5 fb3bdb41 5c11d795 b6f9de95 791ac947",
    "uniswap_v3": "414bf389 c04b8d59 db3e2198 f28c0498 49404b7c 9b2c0a37 12210e8a df2ab5bb e0e189a0"
    " f3995c67 c2e3140a 4659a494 a4a78f0c ac9650d8 5ae401dc 1f0464d1 04e45aaf b858183f 5023b4df"
    " 09b81346 472b43f3 42712a67 49616997 1c58db4f f2d5d56b e90a182f 13ead562 88316456 219f5d17"
    " 0c49ccbe fc6f7865 7ac2ff7b 3593564c 24856bc3",
    "erc4337": "1fad948c 765e827f",
    "op_stack": "c2b3e5ac",
    "erc20": "40c10f19 39509351 a457c2d7",
}


def claimed(standard):
    index = standard_abis()
    kinds = (("function", index.functions), ("event", index.events), ("error", index.errors))
    return [
        (kind, entry)
        for kind, by_key in kinds
        for entries in by_key.values()
        for entry in entries
        if entry.standard == standard
    ]


@pytest.mark.parametrize(
    ("standard", "file", "names"),
    [
        ("erc20", OPENZEPPELIN, "IERC20Metadata ERC20Burnable"),
        ("erc721", OPENZEPPELIN, "IERC721 IERC721Metadata IERC721Enumerable"),
        ("erc1155", OPENZEPPELIN, "IERC1155MetadataURI"),
        ("erc2612", OPENZEPPELIN, "IERC20Permit"),
        ("erc4626", OPENZEPPELIN, "IERC4626"),
        ("uniswap_v2", UNISWAP_V2, "UniswapV2Factory UniswapV2Pair"),
        ("uniswap_v3", UNISWAP_V3, "UniswapV3Factory UniswapV3Pool"),
        ("access", OPENZEPPELIN, "Ownable2Step AccessControl Pausable Initializable IVotes"),
        ("erc1967", OPENZEPPELIN, "IERC1967 UpgradeableBeacon"),
        ("erc4337", OPENZEPPELIN, "IEntryPoint"),
        ("erc6093", OPENZEPPELIN, "IERC20Errors IERC721Errors IERC1155Errors"),
    ],
)
def test_what_is_claimed_is_what_the_packages_define_and_all_of_it(standard, file, names):
    """The names of arguments, and which of them an event indexes."""
    files = [NODE / "node_modules" / file.format(name) for name in names.split()]
    defined = {
        (entry["type"], signature(entry["name"], parse_types(entry["inputs"]))): entry
        for path in files
        for entry in json.loads(path.read_text())["abi"]
        if entry["type"] in ("function", "event", "error")
    }
    both = [key for key in claimed(standard) if (key[0], key[1].signature) in defined]
    assert len(both) >= 2
    for kind, entry in both:
        inputs = defined[kind, entry.signature]["inputs"]
        assert [*entry.names] == [parameter["name"] for parameter in inputs], entry.signature
        indexed = [parameter.get("indexed", False) for parameter in inputs]
        assert [*entry.indexed] == indexed, entry.signature
    everywhere = {(kind, entry.signature) for other in STANDARDS for kind, entry in claimed(other)}
    views = ("view", "pure")
    changing = {key for key, entry in defined.items() if entry.get("stateMutability") not in views}
    assert changing and changing <= everywhere


@pytest.mark.parametrize("standard", sorted(SELECTORS))
def test_selectors_are_those_in_use(standard):
    selectors = {keccak(text=entry.signature)[:4].hex() for _, entry in claimed(standard)}
    assert set(SELECTORS[standard].split()) <= selectors


@pytest.mark.parametrize(
    ("name", "topic0"),
    [
        ("UserOperationEvent", "49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f"),
        ("AccountDeployed", "d51a9c61267aa6196961883ecf5ff2da6619c37dac0fa92122513fb32c032d2d"),
        ("ProxyCreation", "4f51faf6c4561ff95f067657e43439f0f856d97c04d9ec9070a6199ad418e235"),
        ("ExecutionSuccess", "442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e"),
        ("ExecutionFailure", "23428b18acfb3ea64b08dc0c1d296ea9c09702c09083ca5272e64d115b687d23"),
        (
            "SafeMultiSigTransaction",
            "66753cd2356569ee081232e3be8909b950e0a76c1f8460c3a5e3c2be32b11bed",
        ),
        ("MessagePassed", "02a52367d10742d8032712c1bb8e0144ff1ec5ffda1ed7d70bb05a2744955054"),
        ("Withdrawal", "7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65"),
    ],
)
def test_topics_are_those_in_use(name, topic0):
    events = standard_abis().events.items()
    assert topic0 in {topic.hex() for topic, (first, *_) in events if first.name == name}
