"""Code that equals verified code except for values of immutables and the metadata.

The ranges that may differ are those that the compiler reported for the verified code, never a
pattern in the other code.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scan.verification.bytecode_comparison import (
    ADDRESS_BYTES,
    ByteRange,
    LinkedCode,
    is_call_guarded,
    mask,
    metadata_ranges,
)


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
