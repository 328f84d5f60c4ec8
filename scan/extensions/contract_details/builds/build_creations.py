"""Creation code of builds, by which the line is found where a creation failed, and blueprints.

What failed to be created cannot be verified. The source map is the one that the build has, with the
sources that its own input or the project has: not compiled here.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from scan.errors import ScanError
from scan.extensions.contract_details.builds import build_sources
from scan.extensions.contract_details.builds.build_folders import MAX_FILE_BYTES, read
from scan.extensions.contract_details.builds.build_formats import (
    ARTIFACT,
    COMPILATION,
    MALFORMED,
    BuiltContract,
    Code,
    NoBuild,
    linked,
)
from scan.extensions.transaction_details.explanations.mapped_code import MappedCode
from scan.verification import creation_codes, source_maps
from scan.verification.blueprints import PREAMBLE
from scan.verification.creation_codes import CreationCode
from scan.verification.languages.vyper import source_map

_NOWHERE = f"0x{'00' * 20}"  # of a request that is not sent


class BuiltCreation(NamedTuple):
    """The creation code of a built contract, and its source map as source_maps.packed() has it."""

    built: BuiltContract
    code: CreationCode
    source_map: bytes

    @property
    def size(self) -> int:
        return len(self.source_map) + 200 * (1 + len(self.code.links))


class _Source(msgspec.Struct):
    id: int | None = None


class _Output(msgspec.Struct):
    sources: dict[str, _Source] = {}


class _Numbers(msgspec.Struct):
    """What a file has of the numbers of sources: a compilation's, or that of an artifact's own."""

    output: _Output | None = None
    sources: msgspec.Raw = msgspec.Raw(b"{}")
    id: Any = None


def creation_of(built: BuiltContract) -> BuiltCreation | None:
    """Return the creation code of a built contract; None where the build has no map of it."""
    given = built.creation
    if built.form not in (COMPILATION, ARTIFACT):
        return None
    try:
        linked_code = linked(given.object, {})
        packed = source_maps.packed(source_map(given.source_map, linked_code.code.hex()))
        code = creation_codes.of_compiled(linked_code)
    except MALFORMED:
        return None
    return None if packed is None or code is None else BuiltCreation(built, code, packed)


def with_blueprint(built: BuiltContract) -> Iterator[BuiltContract]:
    """Yield a contract, and its blueprint (ERC-5202), which cannot be called, both without creation
    code. A contract whose creation code is malformed has none."""
    yield built._replace(creation=Code())
    creation = built.creation.object.removeprefix("0x")
    try:
        blueprint = linked(PREAMBLE.hex() + creation, {}) if creation else None
    except ValueError:
        return
    if blueprint is not None:
        yield built._replace(runtime=blueprint, abi=b"[]", creation=Code())


def mapped(creation: BuiltCreation, deployed: bytes) -> MappedCode | None:
    """Return the code of a creation with the build's map and sources; None where the build has just
    changed, or lacks them."""
    built = creation.built
    try:
        content = msgspec.json.decode(read(built.file, MAX_FILE_BYTES), type=_Numbers)
        if built.form == ARTIFACT:
            files = {content.id: built.path} if isinstance(content.id, int) else {}
        else:
            output = content.output or _Output(
                msgspec.json.decode(content.sources, type=dict[str, _Source])
            )
            files = {s.id: path for path, s in output.sources.items() if s.id is not None}
        request = build_sources.request(built, _NOWHERE)
        sources = json.loads(request["sourceCode"])["sources"]
        texts = {path: str(source["content"]) for path, source in sources.items()}
    except (NoBuild, OSError, ScanError, msgspec.MsgspecError, *MALFORMED):
        return None
    return MappedCode(
        deployed[: creation.code.size],
        None,
        creation.code.masked_hash,
        source_maps.unpacked(creation.source_map),
        files,
        texts,
    )
