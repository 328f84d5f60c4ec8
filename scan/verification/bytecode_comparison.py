"""Compares deployed bytecode with compiled bytecode: exact, or exact but for the metadata.

Nothing is stripped by a pattern found in deployed code, since whoever deploys can plant one. Only
ranges that the compiler itself names or writes are filled in from the chain: link references,
immutables, the address in a library's call guard, and, for a partial match, its own auxdata.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scan.verification.bytecode_metadata import read_metadata

ADDRESS_BYTES = 20
PUSH1, PUSH20, PUSH32, PUSH0 = 0x60, 0x73, 0x7F, 0x5F
JUMPDEST = b"\x5b"
_NOTHING_FOLLOWS = bytes.fromhex("0056f3fdfeff")  # STOP JUMP RETURN REVERT INVALID SELFDESTRUCT
_HASH_KEYS = ("ipfs", "bzzr1", "bzzr0")
# How the CBOR of a hash begins in code: the key as text, then a byte string's head.
_HASH_PREFIXES = (b"dipfsX\x22\x12\x20", b"ebzzr1X\x20", b"ebzzr0X\x20")


class ByteRange(NamedTuple):
    start: int
    end: int


class LinkedCode(NamedTuple):
    """One bytecode object of the compiler's output: `code` with zeros at its open places.

    `links` and `immutables` are the places of each library `file:Name` and of each immutable.
    """

    code: bytes
    links: Mapping[str, tuple[ByteRange, ...]]
    immutables: Mapping[str, tuple[ByteRange, ...]]


class Comparison(NamedTuple):
    """`match` is "full", "partial" or None; then `reason` is where the codes differ.

    `inner_metadata`: all differences lie where the compiled code seems to hold metadata of
    contracts embedded in it, which compiling a changed copy can confirm. `differing` is the
    number of bytes that differ in codes of one length.
    """

    match: str | None
    reason: str = ""
    inner_metadata: bool = False
    libraries: Mapping[str, bytes] = {}
    differing: int | None = None


def linked_code(output: Mapping[str, Any]) -> LinkedCode:
    """From `evm.bytecode` or `evm.deployedBytecode`; raises ValueError for an unusable object."""
    links = {
        f"{file}:{name}": _ranges(places)
        for file, libraries in (output.get("linkReferences") or {}).items()
        for name, places in libraries.items()
    }
    immutables = {
        name: _ranges(places) for name, places in (output.get("immutableReferences") or {}).items()
    }
    text = output.get("object", "")
    for part in _all(links):
        text = text[: 2 * part.start] + "00" * ADDRESS_BYTES + text[2 * part.end :]
    return LinkedCode(bytes.fromhex(text), links, immutables)


def _ranges(places: Iterable[Mapping[str, int]]) -> tuple[ByteRange, ...]:
    return tuple(ByteRange(place["start"], place["start"] + place["length"]) for place in places)


def _all(groups: Mapping[str, tuple[ByteRange, ...]]) -> Iterator[ByteRange]:
    return (part for ranges in groups.values() for part in ranges)


def compare_runtime(
    deployed: bytes,
    compiled: LinkedCode,
    libraries: Mapping[str, bytes],
    auxdata: Sequence[ByteRange] | None = None,
) -> Comparison:
    """`libraries` are the addresses claimed, by `file:Name` or `Name`; those not claimed are read
    from the chain. `auxdata` are the ranges known to be metadata; by default those at its end.
    """
    if len(deployed) != len(compiled.code):
        return Comparison(
            None, f"the deployed code has {len(deployed)} bytes, the compiled {len(compiled.code)}"
        )
    inconsistent = _inconsistent(deployed, compiled)
    if inconsistent:
        return Comparison(None, inconsistent)
    found = _addresses(deployed, compiled.links)
    comparison = _compare(deployed, _filled(deployed, compiled), auxdata)
    wrong = _wrong_library(found, libraries)
    if wrong and comparison.match:
        return Comparison(None, wrong, libraries=found, differing=0)
    return comparison._replace(libraries=found)


def _inconsistent(deployed: bytes, compiled: LinkedCode) -> str | None:
    """An open place that the chain fills differently from its twin is not what it claims to be."""
    for what, groups in (("library", compiled.links), ("immutable", compiled.immutables)):
        for name, ranges in groups.items():
            if len({deployed[part.start : part.end] for part in ranges}) > 1:
                return f"the {what} {name} has different values at different places"
    return None


def _addresses(deployed: bytes, links: Mapping[str, tuple[ByteRange, ...]]) -> dict[str, bytes]:
    return {
        name: deployed[ranges[0].start : ranges[0].end] for name, ranges in links.items() if ranges
    }


def _wrong_library(found: Mapping[str, bytes], claimed: Mapping[str, bytes]) -> str | None:
    for name, address in found.items():
        wanted = claimed.get(name, claimed.get(name.rpartition(":")[2]))
        if wanted is not None and wanted != address:
            return f"the deployed code is linked to {name} at 0x{address.hex()}, not as given"
    return None


def _filled(deployed: bytes, compiled: LinkedCode) -> bytes:
    expected = bytearray(compiled.code)
    for part in (*_all(compiled.links), *_all(compiled.immutables)):
        expected[part.start : part.end] = deployed[part.start : part.end]
    if is_call_guarded(compiled.code):
        expected[1 : 1 + ADDRESS_BYTES] = deployed[1 : 1 + ADDRESS_BYTES]
    return bytes(expected)


def is_call_guarded(code: bytes) -> bool:
    """A library compares its own address, written in at deployment, with the one it runs at."""
    return code[:1] == bytes([PUSH20]) and code[1 : 1 + ADDRESS_BYTES] == bytes(ADDRESS_BYTES)


def _compare(deployed: bytes, expected: bytes, auxdata: Sequence[ByteRange] | None) -> Comparison:
    if deployed == expected:
        return Comparison("full" if _has_hash(expected) else "partial")
    ranges = metadata_ranges(expected) if auxdata is None else auxdata
    if all(_same_shape(deployed, expected, part) for part in ranges) and (
        _masked(deployed, ranges) == _masked(expected, ranges)
    ):
        return Comparison("partial")
    offsets = _differences(_masked(deployed, ranges), _masked(expected, ranges))
    reason = (
        f"the deployed and the compiled code differ in {len(offsets)} of {len(deployed)} bytes "
        f"besides the metadata, first at offset {offsets[0]}"
        if offsets
        else "the deployed code does not end in metadata of the compiled shape"
    )
    inner = auxdata is None and bool(offsets) and _within_hashes(offsets, expected)
    return Comparison(None, reason, inner, differing=len(offsets))


def metadata_ranges(code: bytes) -> tuple[ByteRange, ...]:
    metadata = read_metadata(code)
    return (ByteRange(metadata.start, len(code)),) if metadata else ()


def _has_hash(code: bytes) -> bool:
    metadata = read_metadata(code)
    return metadata is not None and any(key in metadata.values for key in _HASH_KEYS)


def _same_shape(deployed: bytes, expected: bytes, part: ByteRange) -> bool:
    """Both sides hold metadata there, or the chain could hide code where nobody looks."""
    found = [read_metadata(code[: part.end]) for code in (deployed, expected)]
    return all(metadata is not None and metadata.start == part.start for metadata in found)


def _masked(code: bytes, ranges: Sequence[ByteRange]) -> bytes:
    masked = bytearray(code)
    for part in ranges:
        masked[part.start : part.end] = bytes(part.end - part.start)
    return bytes(masked)


def _differences(left: bytes, right: bytes) -> list[int]:
    return [n for n, (one, other) in enumerate(zip(left, right, strict=True)) if one != other]


def _within_hashes(offsets: Sequence[int], code: bytes) -> bool:
    reach = max(len(prefix) for prefix in _HASH_PREFIXES) + 64
    shown: set[int] = set()
    for prefix in _HASH_PREFIXES:
        for place in occurrences(code, prefix):
            shown.update(range(place, place + reach))
    return shown.issuperset(offsets)


def occurrences(code: bytes, part: bytes) -> Iterator[int]:
    found = code.find(part)
    while found >= 0:
        yield found
        found = code.find(part, found + 1)


def moved_auxdata(code: bytes, auxdata: Iterable[bytes], after: bytes) -> list[ByteRange]:
    """Where `code` holds auxdata that is another in `after`, its copy with spaces in the sources.

    A constant that a source spells like the auxdata of a contract beside it stays as it is there.
    """
    ranges = {ByteRange(n, n + len(part)) for part in auxdata for n in occurrences(code, part)}
    same_length = len(code) == len(after)
    moved = {
        part
        for part in ranges
        if same_length and code[part.start : part.end] != after[part.start : part.end]
    }
    return sorted(moved | set(metadata_ranges(code)))


def assembly_auxdata(assembly: object) -> Iterator[bytes]:
    """Every `.auxdata` in the compiler's `legacyAssembly`, those of embedded contracts too."""
    if not isinstance(assembly, dict):
        return
    auxdata = assembly.get(".auxdata")
    if isinstance(auxdata, str):
        yield bytes.fromhex(auxdata)
    data = assembly.get(".data")
    for nested in data.values() if isinstance(data, dict) else ():
        yield from assembly_auxdata(nested)


def constructor_data(
    creation_input: bytes,
    compiled: LinkedCode,
    libraries: Mapping[str, bytes],
    auxdata: Sequence[ByteRange],
) -> bytes | None:
    """What follows the creation code in the creating transaction; None where the code differs.

    `auxdata` are the ranges that may differ, none for an exact comparison.
    """
    length = len(compiled.code)
    deployed, expected = creation_input[:length], _linked(compiled, libraries)
    if len(deployed) != length or _masked(deployed, auxdata) != _masked(expected, auxdata):
        return None
    if not all(_same_shape(deployed, expected, part) for part in auxdata):
        return None
    return creation_input[length:]


def _linked(compiled: LinkedCode, libraries: Mapping[str, bytes]) -> bytes:
    code = bytearray(compiled.code)
    for name, ranges in compiled.links.items():
        address = libraries.get(name, libraries.get(name.rpartition(":")[2]))
        for part in ranges if address else ():
            code[part.start : part.end] = address or b""
    return bytes(code)


def uses_push0(code: bytes) -> bool:
    """Whether the contract's own instructions include the opcode of Shanghai (EIP-3855).

    They end before the metadata, and at the first halt or jump that no JUMPDEST follows: after it
    come embedded contracts and data, in which any byte may stand.
    """
    end = metadata_ranges(code)[0].start if metadata_ranges(code) else len(code)
    position = 0
    while position < end:
        opcode = code[position]
        if opcode == PUSH0:
            return True
        position += 1 + (opcode - PUSH1 + 1 if PUSH1 <= opcode <= PUSH32 else 0)
        if opcode in _NOTHING_FOLLOWS and code[position : position + 1] != JUMPDEST:
            return False
    return False
