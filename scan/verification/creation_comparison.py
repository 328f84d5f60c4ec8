"""Comparison of the code that created a contract with compiled creation code, without arguments.

Only the creation code has the constructor and the initial values that it writes: sources that
differ in nothing else have the same runtime code.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError, decode, encode, parse_types
from scan.verification.bytecode_comparison import (
    ByteRange,
    LinkedCode,
    differences,
    has_integrity,
    has_same_shape,
    mask,
    within_hashes,
)


class Creation(NamedTuple):
    """The result of comparing creation code; `is_same` is None if it was not compared.

    `match` is "full" or "partial" if the code is the same and constructor arguments follow it.
    `libraries` are the addresses of the compiled code's libraries, by `file:Name`.
    `inner_metadata`: all differences are in bytes that look like metadata of embedded contracts.
    `auxdata` are the ranges known to be metadata. `proves_source`: the code is equal, and
    has a hash of the source that the runtime code lacks.
    """

    is_same: bool | None = None
    match: str | None = None
    constructor_arguments: bytes | None = None
    libraries: Mapping[str, bytes] = {}
    inner_metadata: bool = False
    auxdata: Sequence[ByteRange] = ()
    proves_source: bool = False


NOT_COMPARED = Creation()


class DeployedCode(NamedTuple):
    """A contract's code on the chain. `creation` is the input of its creation, None if unknown."""

    runtime: bytes
    creation: bytes | None


def compare_creation(
    deployed: DeployedCode,
    compiled: LinkedCode,
    libraries: Mapping[str, bytes],
    auxdata: Sequence[ByteRange],
    abi: Sequence[Mapping[str, Any]],
) -> Creation:
    """Compare creation code. `auxdata` are the ranges of metadata, which may differ.

    The match is "full" if the metadata is equal, too, or is that of the deployed runtime code.
    """
    if deployed.creation is None:
        return NOT_COMPARED
    length = len(compiled.code)
    code, arguments = deployed.creation[:length], deployed.creation[length:]
    if len(code) != length:
        return Creation(is_same=False)
    linked = _libraries(code, compiled, libraries)
    expected = _with_libraries(compiled, linked)
    offsets = differences(code, expected)
    metadata = auxdata if offsets else ()
    if mask(code, metadata) != mask(expected, metadata) or not all(
        has_same_shape(code, expected, part) for part in metadata
    ):
        return Creation(is_same=False, inner_metadata=within_hashes(offsets, expected))
    if not are_constructor_arguments(abi, arguments):
        return Creation(is_same=True, libraries=linked, auxdata=auxdata)
    is_full = all(deployed.runtime.endswith(code[start:end]) for start, end in metadata)
    level = "full" if is_full else "partial"
    proves_source = not offsets and has_integrity(expected)
    return Creation(True, level, arguments, linked, auxdata=auxdata, proves_source=proves_source)


def _libraries(
    code: bytes, compiled: LinkedCode, submitted: Mapping[str, bytes]
) -> Mapping[str, bytes]:
    """Return the addresses of all libraries by `file:Name`. Those that were not submitted are read
    from the creation code: the runtime code lacks libraries that only the constructor calls."""
    return {
        name: submitted.get(
            name, submitted.get(name.rpartition(":")[2], code[first.start : first.end])
        )
        for name, (first, *_) in compiled.links.items()
    }


def _with_libraries(compiled: LinkedCode, libraries: Mapping[str, bytes]) -> bytes:
    code = bytearray(compiled.code)
    for name, ranges in compiled.links.items():
        for start, end in ranges:
            code[start:end] = libraries[name]
    return bytes(code)


def are_constructor_arguments(abi: Sequence[Mapping[str, Any]], arguments: bytes) -> bool:
    constructor = next((entry for entry in abi if entry.get("type") == "constructor"), {})
    try:
        types = parse_types(constructor.get("inputs", []))
        return encode(types, decode(types, arguments)) == arguments
    except (AbiError, OverflowError):
        return False
