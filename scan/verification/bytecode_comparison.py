"""Compares deployed bytecode with compiled bytecode: exact, or exact but for the metadata.

Nothing is stripped by a pattern found in deployed code, since whoever deploys can plant one. Only
ranges that the compiler itself names or writes are filled in from the chain: link references,
immutables, the address in a library's call guard, and, for a partial match, its own auxdata.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scan.verification.bytecode_metadata import metadata_tail

ADDRESS_BYTES = 20
PUSH1, PUSH20, PUSH32, PUSH0 = 0x60, 0x73, 0x7F, 0x5F
_HASH_KEYS = ("ipfs", "bzzr1", "bzzr0")
# How the CBOR of a hash begins in code: the key as text, then a byte string's head.
_HASH_PREFIXES = (b"dipfsX\x22\x12\x20", b"ebzzr1X\x20", b"ebzzr0X\x20")


class Span(NamedTuple):
    start: int
    end: int


class LinkedCode(NamedTuple):
    """One bytecode object of the compiler's output: `code` with zeros at its open places.

    `links` and `immutables` say, for each library `file:Name` and each immutable, where it stands.
    """

    code: bytes
    links: Mapping[str, tuple[Span, ...]]
    immutables: Mapping[str, tuple[Span, ...]]


class Comparison(NamedTuple):
    """`match` is "full", "partial" or None; then `reason` says where the codes part.

    `inner_metadata` says that all differences lie where the compiled code shows metadata of
    contracts embedded in it: compiling a changed copy can tell whether that is so. `differing`
    counts the bytes that differ in codes of one length.
    """

    match: str | None
    reason: str = ""
    inner_metadata: bool = False
    libraries: Mapping[str, bytes] = {}
    differing: int | None = None


def linked_code(output: Mapping[str, Any]) -> LinkedCode:
    """From `evm.bytecode` or `evm.deployedBytecode`; raises ValueError for an unusable object."""
    links = {
        f"{file}:{name}": _spans(places)
        for file, libraries in (output.get("linkReferences") or {}).items()
        for name, places in libraries.items()
    }
    immutables = {
        name: _spans(places) for name, places in (output.get("immutableReferences") or {}).items()
    }
    text = output.get("object", "")
    for span in _all(links):
        text = text[: 2 * span.start] + "00" * ADDRESS_BYTES + text[2 * span.end :]
    return LinkedCode(bytes.fromhex(text), links, immutables)


def _spans(places: Iterable[Mapping[str, int]]) -> tuple[Span, ...]:
    return tuple(Span(place["start"], place["start"] + place["length"]) for place in places)


def _all(groups: Mapping[str, tuple[Span, ...]]) -> Iterator[Span]:
    return (span for spans in groups.values() for span in spans)


def compare_runtime(
    deployed: bytes,
    compiled: LinkedCode,
    libraries: Mapping[str, bytes],
    auxdata: Sequence[Span] | None = None,
) -> Comparison:
    """`libraries` are the addresses claimed, by `file:Name` or `Name`; those not claimed are read
    from the chain. `auxdata` are the ranges known to be metadata; by default the tail alone.
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
        for name, spans in groups.items():
            if len({deployed[span.start : span.end] for span in spans}) > 1:
                return f"the {what} {name} has different values at different places"
    return None


def _addresses(deployed: bytes, links: Mapping[str, tuple[Span, ...]]) -> dict[str, bytes]:
    return {name: deployed[spans[0].start : spans[0].end] for name, spans in links.items() if spans}


def _wrong_library(found: Mapping[str, bytes], claimed: Mapping[str, bytes]) -> str | None:
    for name, address in found.items():
        wanted = claimed.get(name, claimed.get(name.rpartition(":")[2]))
        if wanted is not None and wanted != address:
            return f"the deployed code is linked to {name} at 0x{address.hex()}, not as given"
    return None


def _filled(deployed: bytes, compiled: LinkedCode) -> bytes:
    expected = bytearray(compiled.code)
    for span in (*_all(compiled.links), *_all(compiled.immutables)):
        expected[span.start : span.end] = deployed[span.start : span.end]
    if is_call_guarded(compiled.code):
        expected[1 : 1 + ADDRESS_BYTES] = deployed[1 : 1 + ADDRESS_BYTES]
    return bytes(expected)


def is_call_guarded(code: bytes) -> bool:
    """A library compares its own address, written in at deployment, with the one it runs at."""
    return code[:1] == bytes([PUSH20]) and code[1 : 1 + ADDRESS_BYTES] == bytes(ADDRESS_BYTES)


def _compare(deployed: bytes, expected: bytes, auxdata: Sequence[Span] | None) -> Comparison:
    if deployed == expected:
        return Comparison("full" if _has_hash(expected) else "partial")
    spans = tail_spans(expected) if auxdata is None else auxdata
    if all(_same_shape(deployed, expected, span) for span in spans) and (
        _masked(deployed, spans) == _masked(expected, spans)
    ):
        return Comparison("partial")
    offsets = _differences(_masked(deployed, spans), _masked(expected, spans))
    reason = (
        f"the deployed and the compiled code differ in {len(offsets)} of {len(deployed)} bytes "
        f"besides the metadata, first at offset {offsets[0]}"
        if offsets
        else "the deployed code does not end in metadata of the compiled shape"
    )
    inner = auxdata is None and bool(offsets) and _within_hashes(offsets, expected)
    return Comparison(None, reason, inner, differing=len(offsets))


def tail_spans(code: bytes) -> tuple[Span, ...]:
    tail = metadata_tail(code)
    return (Span(tail.start, len(code)),) if tail else ()


def _has_hash(code: bytes) -> bool:
    tail = metadata_tail(code)
    return tail is not None and any(key in tail.values for key in _HASH_KEYS)


def _same_shape(deployed: bytes, expected: bytes, span: Span) -> bool:
    """Both sides hold metadata there, or the chain could hide code where nobody looks."""
    tails = [metadata_tail(code[: span.end]) for code in (deployed, expected)]
    return all(tail is not None and tail.start == span.start for tail in tails)


def _masked(code: bytes, spans: Sequence[Span]) -> bytes:
    masked = bytearray(code)
    for span in spans:
        masked[span.start : span.end] = bytes(span.end - span.start)
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


def moved_auxdata(code: bytes, auxdata: Iterable[bytes], after: bytes) -> list[Span]:
    """Where `code` holds auxdata that is another in `after`, its copy with spaces in the sources.

    A constant that a source spells like the auxdata of a contract beside it stays as it is there.
    """
    spans = {Span(n, n + len(part)) for part in auxdata for n in occurrences(code, part)}
    same_length = len(code) == len(after)
    moved = {
        span
        for span in spans
        if same_length and code[span.start : span.end] != after[span.start : span.end]
    }
    return sorted(moved | set(tail_spans(code)))


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
    auxdata: Sequence[Span],
) -> bytes | None:
    """What follows the creation code in the creating transaction; None where the code differs.

    `auxdata` are the ranges that may differ, none for an exact comparison.
    """
    length = len(compiled.code)
    deployed, expected = creation_input[:length], _linked(compiled, libraries)
    if len(deployed) != length or _masked(deployed, auxdata) != _masked(expected, auxdata):
        return None
    if not all(_same_shape(deployed, expected, span) for span in auxdata):
        return None
    return creation_input[length:]


def _linked(compiled: LinkedCode, libraries: Mapping[str, bytes]) -> bytes:
    code = bytearray(compiled.code)
    for name, spans in compiled.links.items():
        address = libraries.get(name, libraries.get(name.rpartition(":")[2]))
        for span in spans if address else ():
            code[span.start : span.end] = address or b""
    return bytes(code)


def uses_push0(code: bytes) -> bool:
    """Whether the code before its metadata has the opcode that Shanghai brought (EIP-3855)."""
    end = tail_spans(code)[0].start if tail_spans(code) else len(code)
    position = 0
    while position < end:
        opcode = code[position]
        if opcode == PUSH0:
            return True
        position += 1 + (opcode - PUSH1 + 1 if PUSH1 <= opcode <= PUSH32 else 0)
    return False
