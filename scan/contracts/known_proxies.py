"""Codes and sources of proxies that are known, and what they say of where calls go. Pure.

known_proxies.json has them: clones by their code, with `{}` for the address of the implementation,
`?` for any half of a byte and `*` for what is appended; compiled code by the SHA-256 of what is
left without metadata and with zeros for immutables; sources by the names of contracts, and by the
SHA-256 of the only files that they may be compiled from. What code says is matched, never run.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import orjson

IMPLEMENTATION = "implementation"  # a contract that only has implementation() of EIP-897
UNKNOWN = "other"
# keccak256("eip1967.proxy.implementation") - 1, and so on
IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
BEACON_SLOT = "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50"
ADMIN_SLOT = "0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103"
PROXIABLE_SLOT = "0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7"
ZEPPELINOS_SLOT = "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3"
# keccak256("diamond.standard.diamond.storage"), facetAddresses(), facetAddress(bytes4)
DIAMOND_MARKS = (
    "c8fcad8db84d3cc18b4c41d551ea0ee66dd599cde068d998e57d5e09332c131c",
    *("52ef6b2c", "cdffacc6"),
)
# PUSH1 to PUSH32 with their data; behind one that the code cuts short is no instruction.
_PUSH = b"|".join(re.escape(bytes([0x5F + n])) + b"." * n for n in range(1, 33))
# Instructions up to a DELEGATECALL or CALLCODE.
_DELEGATING = re.compile(b"(?:[^\x60-\x7f\xf2\xf4]++|" + _PUSH + b")*+[\xf2\xf4]", re.DOTALL)


class Way(NamedTuple):
    """How a proxy says where it passes calls on. `how` is `to` (to the address `at`), `slot` (to
    the one in that slot), `beacon` and `beacon-slot` (to what the contract at that address, or in
    that slot, answers to implementation()), `function` (what the function with that selector
    answers), or `facets` (the array of addresses that it answers)."""

    kind: str
    how: str
    at: bytes

    @property
    def text(self) -> str:
        return f"{self.kind} {self.how} {self.at.hex()}"


def way_of(text: str) -> Way:
    kind, how, at = text.split()
    return Way(kind, how, bytes.fromhex(at))


class Claim(NamedTuple):
    """What code may say of where it passes calls on, where it has one of the `marks`, in hex."""

    marks: Sequence[str]
    ways: Sequence[Way]


_OF_EIP1967 = (
    way_of(f"eip1967 slot {IMPLEMENTATION_SLOT[2:]}"),
    way_of(f"eip1967 beacon-slot {BEACON_SLOT[2:]}"),
)
CLAIMS: Mapping[str, Claim] = {
    "eip1967": Claim((IMPLEMENTATION_SLOT[2:], BEACON_SLOT[2:], "5c60da1b"), _OF_EIP1967),
    "eip1822": Claim((PROXIABLE_SLOT[2:],), (way_of(f"eip1822 slot {PROXIABLE_SLOT[2:]}"),)),
    "openzeppelin": Claim(
        (ZEPPELINOS_SLOT[2:],), (way_of(f"openzeppelin slot {ZEPPELINOS_SLOT[2:]}"),)
    ),
    "safe": Claim(("a619486e",), (way_of(f"safe slot {'00' * 32}"),)),
    "comptroller": Claim(("bb82aa5e",), (way_of("comptroller function bb82aa5e"),)),
    "eip897": Claim(("4555d5c9",), (way_of("eip897 function 5c60da1b"),)),
    IMPLEMENTATION: Claim(("5c60da1b",), (way_of(f"{UNKNOWN} function 5c60da1b"),)),
    "eip2535": Claim(DIAMOND_MARKS, (way_of("eip2535 facets 52ef6b2c"),)),
}


class _Known(NamedTuple):
    clones: Sequence[tuple[re.Pattern[bytes], str]]
    compiled: Mapping[int, Sequence[Any]]  # by length
    contracts: Mapping[str, str]
    files: frozenset[str]


@cache
def _known() -> _Known:
    stored = orjson.loads(Path(__file__).with_suffix(".json").read_bytes())
    compiled = defaultdict(list)
    for entry in stored["compiled"]:
        compiled[entry["length"]].append(entry)
    clones = [(_pattern(clone["code"]), clone["delegation"]) for clone in stored["clones"]]
    return _Known(clones, compiled, stored["contracts"], frozenset(stored["files"]))


def _pattern(code: str) -> re.Pattern[bytes]:
    parts = {"{}": b"(.{20})", "??": b".", "*": b".*"}
    texts = re.findall(r"\{\}|\?\?|\*|..", code)
    pattern = (parts.get(text) or re.escape(bytes.fromhex(text)) for text in texts)
    return re.compile(b"".join(pattern), re.DOTALL)


@lru_cache(maxsize=64)  # many contracts share their code
def delegation_text(code: bytes) -> str:
    """Return how code passes calls on, as it is stored with it: empty where it cannot, Way.text of
    a known proxy, else `other` with the names of CLAIMS that it may make."""
    if _DELEGATING.match(code) is None:
        return ""
    known = _known()
    for pattern, text in known.clones:
        if (match := pattern.fullmatch(code)) is not None:
            return f"{text} {match[1].hex()}" if match.groups() else text
    bare = without_metadata(code)
    for entry in known.compiled.get(len(bare), ()):
        masked, first = bytearray(bare), b""
        for start, size in entry["immutables"]:
            first = first or bare[start : start + size]
            masked[start : start + size] = bytes(size)
        if sha256(masked).hexdigest() == entry["sha256"]:
            text = entry["delegation"]
            return text if text.count(" ") == 2 else f"{text} {first[-20:].hex()}"
    names = (
        name
        for name, claim in CLAIMS.items()
        if any(bytes.fromhex(mark) in code for mark in claim.marks)
    )
    return " ".join((UNKNOWN, *names))


def without_metadata(code: bytes) -> bytes:
    """Return code without the map of CBOR that solc appends, and its length."""
    size = int.from_bytes(code[-2:]) + 2
    is_map = len(code) > size > 2 and code[-size] >> 4 == 0xA
    return code[:-size] if is_map else code


def way_of_source(contract_name: str, files: Sequence[str]) -> Way | None:
    """Return how a contract passes calls on that was compiled from files with these hashes; None
    where the source is not known."""
    known = _known()
    text = known.contracts.get(contract_name)
    return way_of(text) if text and files and known.files.issuperset(files) else None
