"""Which codes and sources of proxies are known, and what the state and calls decide of others."""

import json
from hashlib import sha256

import pytest

from scan.contracts.known_proxies import (
    CLAIMS,
    DIAMOND_MARKS,
    IMPLEMENTATION_SLOT,
    delegation_text,
    way_of_source,
)
from scan.contracts.proxy_contracts import (
    MAX_CLAIMS,
    MAX_DIAMONDS,
    MAX_TRACED,
    at_blocks,
    stored_delegation,
)
from scan.ethereum.client import RpcError
from scan.ethereum.served_chain import BlockId
from scan.hex import to_hex
from tests.support.explorer import NODE, compiled, standard_input
from tests.support.many_functions import VERSION

PROXY, FIRST, SECOND, THIRD = (bytes([n]) * 20 for n in (0x11, 0xA1, 0xA2, 0xA3))
PACKAGES = "@openzeppelin/contracts", "openzeppelin-5.0"


def openzeppelin(package):
    """The sources of OpenZeppelin's proxies, by their paths."""
    folder = NODE / "node_modules" / package
    patterns = "proxy/**/*.sol access/Ownable.sol interfaces/*1967.sol interfaces/*1822.sol"
    names = "Address StorageSlot Errors Context LowLevelCall"
    patterns = [*patterns.split(), *(f"utils/{name}.sol" for name in names.split())]
    paths = [path for pattern in patterns for path in folder.glob(pattern)]
    paths = [path for path in paths if "Clones" not in path.name]
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


@pytest.mark.parametrize("is_optimized", [False, True])
@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("ERC1967Proxy", "ERC1967"),
        ("TransparentUpgradeableProxy", "transparent"),
        ("BeaconProxy", "beacon"),
    ],
)
def test_openzeppelins_proxies_are_known_by_their_code(name, folder, package, is_optimized):
    """With any immutables and metadata, and with one other byte not at all."""
    sources = openzeppelin(package)
    standard = standard_input(sources, optimizer={"enabled": is_optimized, "runs": 200})
    runtime = compiled(VERSION, standard, f"proxy/{folder}/{name}.sol", name).runtime
    code = bytes.fromhex(runtime.removeprefix("0x"))
    where = "beacon " if name == "BeaconProxy" else f"slot {IMPLEMENTATION_SLOT[2:]}"
    assert delegation_text(code).startswith(f"eip1967 {where}")
    immutable = code.replace(b"\x7f" + bytes(32), b"\x7f" + bytes(12) + FIRST)
    assert delegation_text(immutable).startswith(f"eip1967 {where}")
    metadata = code[:-20] + bytes(range(18)) + code[-2:]
    assert delegation_text(metadata) == delegation_text(code)
    at = code.index(b"\xf4")
    for changed in (code[:at] + b"\xf2" + code[at + 1 :], b"\x5b" + code):
        assert delegation_text(changed).startswith("other")


@pytest.mark.parametrize("package", PACKAGES)
def test_a_source_is_known_by_all_of_its_files(package):
    files = [sha256(text.encode()).hexdigest() for text in openzeppelin(package).values()]
    needed = [file for file in files if way_of_source("ERC1967Proxy", [file])]
    assert len(needed) > len(files) // 2
    assert way_of_source("ERC1967Proxy", needed).kind == "eip1967"
    assert way_of_source("ERC1967Proxy", []) is None
    assert way_of_source("Stolen", needed) is None
    assert way_of_source("ERC1967Proxy", [*needed, sha256(b"other").hexdigest()]) is None


# Passes calls on to what is in the slot of the caller, and has the name of another slot.
CLAIMING = bytes.fromhex("7f" + IMPLEMENTATION_SLOT[2:] + "505f5f5f5f33545af4")


class States:
    """A node that has the words of the claimed slot by block, and no state of other blocks."""

    failed = False

    def __init__(self, words):
        self.words, self.read = words, 0

    def record_failed(self):
        self.failed = True

    def results(self, calls, most_bytes=0):
        self.read += len(calls)
        return [self.answer(call) for call in calls]

    def answer(self, call):
        if call.method != "eth_getStorageAt" or call.params[1] != IMPLEMENTATION_SLOT:
            return "0x" + 64 * "0"
        word = self.words.get(call.params[-1].number)
        missing = RpcError(-32000, "missing trie node")
        return missing if word is None else "0x" + word.hex().rjust(64, "0")


def block(number):
    return BlockId(number, bytes([number]) * 32)


def traced(*calls):
    """Delegated calls as the index has them: selector, implementation, block, the newest first."""
    rows = [
        [f"0x{selector:08x}", to_hex(to), n, to_hex(bytes([n]) * 32), to_hex(bytes([n - 1]) * 32)]
        for selector, to, n in calls
    ]
    return json.dumps(rows)


ZERO = bytes(20)


# What the slot has by block, calls, and the implementations, the evidence and what is unused.
@pytest.mark.check
@pytest.mark.parametrize(
    ("words", "calls", "expected"),
    [
        pytest.param({9: FIRST}, [], ((FIRST,), "claim", b""), id="a claim"),
        pytest.param({9: ZERO}, [], None, id="nothing"),
        pytest.param(
            {9: FIRST}, [(1, FIRST, 5)], ((FIRST,), "trace", b""), id="a call of what is claimed"
        ),
        pytest.param(
            {9: FIRST, 5: FIRST, 4: FIRST},
            [(1, SECOND, 5)],
            ((SECOND,), "trace", FIRST),
            id="a call of another one",
        ),
        pytest.param(
            {9: SECOND, 5: FIRST, 4: FIRST},
            [(1, FIRST, 5)],
            ((SECOND,), "claim", b""),
            id="an upgrade since",
        ),
        pytest.param(
            {9: SECOND, 8: SECOND, 7: SECOND, 5: FIRST, 4: FIRST},
            [(2, SECOND, 8), (1, FIRST, 5)],
            ((SECOND,), "trace", b""),
            id="an upgrade, and a call",
        ),
        pytest.param(
            {9: SECOND},
            [(2, SECOND, 8), (1, FIRST, 5)],
            ((SECOND,), "trace", b""),
            id="without old state, an upgrade and a call",
        ),
        pytest.param(
            dict.fromkeys(range(10), FIRST),
            [(2, FIRST, 8), (1, SECOND, 5)],
            ((FIRST, SECOND), "trace", b""),
            id="two that it ran by function, one of them claimed",
        ),
        pytest.param(
            dict.fromkeys(range(10), ZERO),
            [(2, THIRD, 8), (1, SECOND, 5)],
            ((THIRD, SECOND), "trace", b""),
            id="two that it ran by function, none claimed",
        ),
        pytest.param({5: ZERO}, [(1, SECOND, 9)], None, id="a later call is not of the block"),
    ],
)
def test_calls_decide_and_a_claim_holds_where_the_state_was_its(words, calls, expected):
    delegation = stored_delegation(delegation_text(CLAIMING), traced(*calls))
    [decided] = at_blocks(States(words), [(PROXY, delegation, block(max(words)))])
    shown = decided and (decided.implementations, decided.evidence, decided.unused)
    assert shown == expected


@pytest.mark.check
def test_few_implementations_are_compared_with_a_claim():
    calls = [(n, bytes([n]) * 20, n) for n in range(200, 20, -1)]
    node = States(dict.fromkeys(range(256), FIRST))
    delegation = stored_delegation(delegation_text(CLAIMING), traced(*calls))
    many = [(bytes([n]) * 20, delegation, block(255)) for n in range(30)]
    at_blocks(node, many)
    assert node.read <= len(many) * (len(delegation.claims) + 2 * MAX_TRACED)


@pytest.mark.check
def test_of_code_that_may_claim_all_a_few_ways_are_read():
    marks = "".join(mark for claim in CLAIMS.values() for mark in claim.marks)
    delegation = stored_delegation(delegation_text(CLAIMING + bytes.fromhex(marks)))
    node = States(dict.fromkeys(range(256), ZERO))
    assert at_blocks(node, [(PROXY, delegation, block(9))]) == [None]
    assert node.read == MAX_CLAIMS
    diamond = stored_delegation(delegation_text(bytes.fromhex("f4" + DIAMOND_MARKS[0])))
    node = States({})
    at_blocks(node, [(bytes([n]) * 20, diamond, None) for n in range(9 * MAX_DIAMONDS)])
    assert node.read == MAX_DIAMONDS
