"""Comparison of deployed with compiled bytecode, or with verified code: equal, or equal except for
the metadata and values of immutables.

Nothing is stripped because of a pattern in the deployed code, which a deployer could plant. Only
ranges that the compiler itself reports or writes are copied from the chain: link references,
immutables, the address in a library's call guard, and, for a partial match, its own auxdata.
"""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scan.verification.bytecode_metadata import INTEGRITY, read_metadata

ADDRESS_BYTES = 20
PUSH0, PUSH1, PUSH20, PUSH32 = 0x5F, 0x60, 0x73, 0x7F
# The largest operand below 128 of DUPN, SWAPN and EXCHANGE (EIP-8024). With one from there to 127,
# which may be a JUMPDEST or a PUSH of older code, they are invalid and have none.
STACK_OPERANDS = {0xE6: 90, 0xE7: 90, 0xE8: 79}
JUMPDEST = b"\x5b"
# STOP JUMP RETURN REVERT INVALID SELFDESTRUCT: only a jump leads to the code after one of these.
HALTS = bytes.fromhex("0056f3fdfeff")
_HASH_KEYS = ("ipfs", "bzzr1", "bzzr0", INTEGRITY)
# How the CBOR of a hash begins in code: the key as text, then a byte string's head.
HASH_PREFIXES = (b"dipfsX\x22\x12\x20", b"ebzzr1X\x20", b"ebzzr0X\x20")


class ByteRange(NamedTuple):
    start: int
    end: int


class LinkedCode(NamedTuple):
    """One bytecode object of the compiler's output: `code` with zeros where libraries are linked.

    `links` and `immutables` are the ranges of each library `file:Name` and of each immutable.
    """

    code: bytes
    links: Mapping[str, tuple[ByteRange, ...]]
    immutables: Mapping[str, tuple[ByteRange, ...]]


class Comparison(NamedTuple):
    """The result of a comparison. `match` is "full", "partial" or None; then `reason` says where
    the codes differ.

    `inner_metadata`: all differences are in bytes that look like metadata of embedded contracts,
    which compiling a changed copy can confirm. `differing` is the number of differing bytes if both
    codes have the same length. `auxdata` are the ranges known to be metadata.
    """

    match: str | None
    reason: str = ""
    inner_metadata: bool = False
    libraries: Mapping[str, bytes] = {}
    differing: int | None = None
    auxdata: Sequence[ByteRange] = ()


def linked_code(output: Mapping[str, Any]) -> LinkedCode:
    """Return the code of `evm.bytecode` or `evm.deployedBytecode`. Raises ValueError where its
    object is not hex."""
    links = {
        f"{file}:{name}": _ranges(references)
        for file, libraries in (output.get("linkReferences") or {}).items()
        for name, references in libraries.items()
    }
    reported = output.get("immutableReferences") or {}
    immutables = {name: _ranges(references) for name, references in reported.items()}
    text = output.get("object", "")
    for link in _all(links):
        text = text[: 2 * link.start] + "00" * ADDRESS_BYTES + text[2 * link.end :]
    return LinkedCode(bytes.fromhex(text), links, immutables)


def libraries_by_file(by_name: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return libraries grouped by file, as in standard JSON; they are given by `file:Name`."""
    by_file: dict[str, dict[str, Any]] = {}
    for qualified, address in by_name.items():
        path, _, name = qualified.rpartition(":")
        by_file.setdefault(path, {})[name] = address
    return by_file


def _ranges(references: Iterable[Mapping[str, int]]) -> tuple[ByteRange, ...]:
    return tuple(ByteRange(ref["start"], ref["start"] + ref["length"]) for ref in references)


def _all(groups: Mapping[str, tuple[ByteRange, ...]]) -> Iterator[ByteRange]:
    return itertools.chain.from_iterable(groups.values())


def compare_runtime(
    deployed: bytes,
    compiled: LinkedCode,
    libraries: Mapping[str, bytes],
    auxdata: Sequence[ByteRange] | None = None,
) -> Comparison:
    """Compare runtime code.

    `libraries` are the submitted addresses, by `file:Name` or `Name`; addresses of other libraries
    are read from the chain. `auxdata` are the ranges known to be metadata, by default the one at
    the end.
    """
    if len(deployed) != len(compiled.code):
        return Comparison(
            None,
            f"the deployed code has {len(deployed)} bytes, the compiled code {len(compiled.code)}",
        )
    for kind, groups in (("library", compiled.links), ("immutable", compiled.immutables)):
        for name, ranges in groups.items():
            if len({deployed[start:end] for start, end in ranges}) > 1:
                reason = f"the {kind} {name} has different values at different positions"
                return Comparison(None, reason)
    places = {name: ranges[0] for name, ranges in compiled.links.items() if ranges}
    linked = {name: deployed[start:end] for name, (start, end) in places.items()}
    expected = bytearray(compiled.code)
    for start, end in variable_ranges(compiled):
        expected[start:end] = deployed[start:end]
    comparison = _compare(deployed, bytes(expected), auxdata)
    for name, address in linked.items() if comparison.match else ():
        if library_address(libraries, name, address) != address:
            library = f"{name} at 0x{address.hex()}"
            wrong = f"the deployed code is linked to {library}, not at the submitted address"
            return Comparison(None, wrong, libraries=linked, differing=0)
    return comparison._replace(libraries=linked)


def library_address(submitted: Mapping[str, bytes], name: str, in_code: bytes) -> bytes:
    """Return the submitted address of a library, given as `file:Name`, or else that in the code."""
    return submitted.get(name, submitted.get(name.rpartition(":")[2], in_code))


def is_call_guarded(code: bytes) -> bool:
    """Return whether the code begins with a library's check of its own address (PUSH20 0)."""
    return code[:1] == bytes([PUSH20]) and code[1 : 1 + ADDRESS_BYTES] == bytes(ADDRESS_BYTES)


def variable_ranges(compiled: LinkedCode) -> list[ByteRange]:
    """Return the ranges of libraries, of immutables, and of the address in a library's guard."""
    guard = [ByteRange(1, 1 + ADDRESS_BYTES)] if is_call_guarded(compiled.code) else []
    return [*_all(compiled.links), *_all(compiled.immutables), *guard]


def _compare(deployed: bytes, expected: bytes, auxdata: Sequence[ByteRange] | None) -> Comparison:
    ranges = metadata_ranges(expected) if auxdata is None else auxdata
    if deployed == expected:
        metadata = read_metadata(expected)
        has_hash = metadata is not None and any(key in metadata.values for key in _HASH_KEYS)
        return Comparison("full" if has_hash else "partial", auxdata=ranges)
    offsets = differences(mask(deployed, ranges), mask(expected, ranges))
    if offsets:
        reason = (
            f"the deployed and the compiled code differ in {len(offsets)} of {len(deployed)} bytes "
            f"outside the metadata, first at offset {offsets[0]}"
        )
    elif all(has_same_shape(deployed, expected, part) for part in ranges):
        return Comparison("partial", auxdata=ranges)
    else:
        reason = "the deployed code does not end with metadata like that of the compiled code"
    inner = auxdata is None and bool(offsets) and within_hashes(offsets, expected)
    return Comparison(None, reason, inner, differing=len(offsets))


def metadata_ranges(code: bytes) -> tuple[ByteRange, ...]:
    metadata = read_metadata(code)
    return (ByteRange(metadata.start, len(code)),) if metadata else ()


def has_integrity(creation: bytes) -> bool:
    """Return whether creation code ends with Vyper's hash of the sources."""
    metadata = read_metadata(creation)
    return metadata is not None and INTEGRITY in metadata.values


def has_same_shape(deployed: bytes, expected: bytes, part: ByteRange) -> bool:
    """Return whether both codes have metadata in the range `part`: otherwise deployed code could
    hide in it, as the range is masked."""
    both = [read_metadata(code[: part.end]) for code in (deployed, expected)]
    return all(metadata is not None and metadata.start == part.start for metadata in both)


def mask(code: bytes, ranges: Sequence[ByteRange]) -> bytes:
    """Return the code with zeros in these ranges."""
    masked = bytearray(code)
    for start, end in ranges:
        masked[start:end] = bytes(end - start)
    return bytes(masked)


def differences(left: bytes, right: bytes) -> list[int]:
    return [n for n, (one, other) in enumerate(zip(left, right, strict=True)) if one != other]


def within_hashes(offsets: Sequence[int], code: bytes) -> bool:
    """Return whether all offsets are of bytes after the beginning of a hash's CBOR, which both
    codes have."""
    reach = max(len(prefix) for prefix in HASH_PREFIXES) + 64
    hash_offsets: set[int] = set()
    for prefix in HASH_PREFIXES:
        for start in occurrences(code, prefix):
            hash_offsets.update(range(start + len(prefix), start + reach))
    return hash_offsets.issuperset(offsets)


def occurrences(code: bytes, part: bytes) -> Iterator[int]:
    offset = code.find(part)
    while offset >= 0:
        yield offset
        offset = code.find(part, offset + 1)


def moved_auxdata(code: bytes, auxdata: Iterable[bytes], after: bytes) -> list[ByteRange]:
    """Return the ranges of auxdata in `code` that changed in `after`, the same contract compiled
    with a space after each source, and the range of the metadata at the end.

    A constant in the source that equals some auxdata does not change, so it is left out.
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
    """Yield every `.auxdata` in the compiler's `legacyAssembly`, including embedded contracts'."""
    if not isinstance(assembly, dict):
        return
    auxdata = assembly.get(".auxdata")
    if isinstance(auxdata, str):
        yield bytes.fromhex(auxdata)
    data = assembly.get(".data")
    for nested in data.values() if isinstance(data, dict) else ():
        yield from assembly_auxdata(nested)


def uses_push0(code: bytes) -> bool:
    """Return whether the contract's own instructions include PUSH0, which came with Shanghai
    (EIP-3855).

    They end before the metadata, and at the first halt or jump without a JUMPDEST after it:
    embedded contracts and data, which may contain any byte, follow there.
    """
    metadata = read_metadata(code)
    end = metadata.start if metadata else len(code)
    position = 0
    while position < end:
        opcode = code[position]
        if opcode == PUSH0:
            return True
        position += 1 + operand_size(code, position)
        if opcode in HALTS and code[position : position + 1] != JUMPDEST:
            return False
    return False


def operand_size(code: bytes, offset: int) -> int:
    """Return the size of the operand of the instruction at `offset`, which may pass the end."""
    opcode = code[offset]
    if opcode in STACK_OPERANDS:
        operand = code[offset + 1] if offset + 1 < len(code) else 0
        return int(operand >= 128 or operand <= STACK_OPERANDS[opcode])
    return opcode - PUSH1 + 1 if PUSH1 <= opcode <= PUSH32 else 0


class CodePattern(NamedTuple):
    """What similar code has in common. `variable` has the ranges of each value that may differ, as
    JSON; `masked_hash` is the SHA-256 of the code without them and without its metadata."""

    variable: str
    masked_hash: bytes


def pattern_of(deployed: bytes, compiled: LinkedCode) -> CodePattern:
    groups: list[Sequence[ByteRange]] = [*compiled.immutables.values()]
    if is_call_guarded(compiled.code):
        groups.append([ByteRange(1, 1 + ADDRESS_BYTES)])
    return CodePattern(json.dumps(groups), _masked_hash(deployed, groups))


def masked_hash(code: bytes, variable: str) -> bytes | None:
    """Return the hash that equals the pattern's `masked_hash` where code is similar; None where an
    immutable has several values. The code has to be as long as the pattern's."""
    groups = [[ByteRange(*part) for part in group] for group in json.loads(variable)]
    if any(len({code[start:end] for start, end in group}) > 1 for group in groups):
        return None
    return _masked_hash(code, groups)


def _masked_hash(code: bytes, groups: Iterable[Sequence[ByteRange]]) -> bytes:
    metadata = metadata_ranges(code)
    ranges = [part for group in groups for part in group]
    # The range of the metadata is hashed, too: else code could hide in longer metadata.
    return hashlib.sha256(mask(code, [*ranges, *metadata]) + repr(metadata).encode()).digest()
