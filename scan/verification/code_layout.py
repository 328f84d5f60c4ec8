"""Where compiled code has libraries, immutables and metadata, in the form of compilers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.hex import data, to_hex
from scan.verification.bytecode_comparison import (
    ADDRESS_BYTES,
    HASH_PREFIXES,
    ByteRange,
    LinkedCode,
    is_call_guarded,
    linked_code,
    mask,
    metadata_ranges,
)
from scan.verification.contract_match import FULL, Match
from scan.verification.creation_comparison import DeployedCode

Layout = Mapping[str, Any]

# What metadata of any contract contains: a hash, or since 0.5.9 the compiler's version.
_METADATA = re.compile(b"|".join(map(re.escape, (*HASH_PREFIXES, b"dsolcC"))))


class Replacement(NamedTuple):
    """Bytes at an offset in which deployed code differs, or may differ, from compiled code.

    `reason` is library, immutable, cborAuxdata or callProtection; `id` says which of them.
    """

    reason: str
    id: str
    offset: int
    deployed: bytes
    compiled: bytes


def layouts_of(match: Match, deployed: DeployedCode) -> str:
    """Return the layouts of the creation and the runtime code as JSON.

    In a full match the metadata is the deployed one: also where another path or other settings
    than those compiled were found to give it.
    """
    creation = linked_code(match.contract.output["evm"]["bytecode"])
    is_created = match.creation.is_same and deployed.creation is not None
    created = deployed.creation if match.level == FULL and is_created else None
    layouts = {
        "creation": _layout(
            creation,
            match.creation.auxdata or metadata_ranges(creation.code),
            created or creation.code,
        ),
        "runtime": _layout(
            match.contract.runtime,
            match.auxdata,
            deployed.runtime if match.level == FULL else match.contract.runtime.code,
        ),
    }
    return orjson.dumps(layouts).decode()


def _layout(compiled: LinkedCode, auxdata: Sequence[ByteRange], code: bytes) -> dict[str, Any]:
    """Return a layout with the metadata that `code` has in the ranges of `auxdata`."""
    by_file: dict[str, dict[str, object]] = {}
    for qualified, ranges in compiled.links.items():
        path, _, name = qualified.rpartition(":")
        by_file.setdefault(path, {})[name] = _references(ranges)
    return {
        "linkReferences": by_file,
        "immutableReferences": {
            name: _references(ranges) for name, ranges in compiled.immutables.items()
        },
        "cborAuxdata": _auxdata(compiled.code, auxdata, code),
        "isCallGuarded": is_call_guarded(compiled.code),
    }


def _references(ranges: Sequence[ByteRange]) -> list[dict[str, int]]:
    return [{"start": start, "length": end - start} for start, end in ranges]


def _auxdata(
    compiled: bytes, ranges: Sequence[ByteRange], code: bytes
) -> Mapping[str, object] | None:
    """Return the metadata by its number; None where other bytes look like metadata of embedded
    contracts, which no comparison had to know."""
    if _METADATA.search(mask(compiled, ranges)):
        return None
    return {
        str(number): {"offset": start, "value": to_hex(code[start:end])}
        for number, (start, end) in enumerate(ranges, 1)
    }


def replacements(layout: Layout, deployed: bytes) -> list[Replacement]:
    """Return what replaces bytes of the compiled code, without metadata that is the same."""
    made = [
        Replacement(reason, name, start, deployed[start : start + length], bytes(length))
        for reason, name, start, length in _zeros(layout)
    ]
    for number, auxdata in (layout["cborAuxdata"] or {}).items():
        compiled, offset = data(auxdata["value"]), auxdata["offset"]
        present = deployed[offset : offset + len(compiled)]
        if present != compiled:
            made.append(Replacement("cborAuxdata", number, offset, present, compiled))
    return made


def _zeros(layout: Layout) -> Iterator[tuple[str, str, int, int]]:
    """Yield reason, id, start and length of what is zero in compiled code."""
    for path, libraries in layout["linkReferences"].items():
        for name, references in libraries.items():
            for reference in references:
                yield "library", f"{path}:{name}", reference["start"], reference["length"]
    for name, references in layout["immutableReferences"].items():
        for reference in references:
            yield "immutable", name, reference["start"], reference["length"]
    if layout["isCallGuarded"]:
        yield "callProtection", "", 1, ADDRESS_BYTES


def compiled_code(deployed: bytes, replaced: Sequence[Replacement]) -> bytes:
    """Return the code as it was compiled, with zeros in the place of libraries and immutables."""
    code = bytearray(deployed)
    for _, _, offset, present, compiled in replaced:
        code[offset : offset + len(present)] = compiled
    return bytes(code)
