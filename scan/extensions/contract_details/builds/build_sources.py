"""A built contract's sources and settings, as a request to verify it, and creation code of builds,
by which the line is found where a creation failed, and blueprints.

Where the build has the compiler's input, the sources are that, with the files that the contract
uses. Else the compiler's metadata lists them by hash, and they are read from the project, or from
the repository that it is in, as packages of a workspace are: a file counts only if its hash is the
listed one. No file is read outside of that, be it by a link, or with another ending than a
language's. What failed to be created cannot be verified: its source map is the one that the build
has, not compiled here.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from scan.cached_values import json_decoder
from scan.errors import ScanError
from scan.extensions.compiled_sources import creation_codes, source_maps
from scan.extensions.compiled_sources.mapped_code import MappedCode
from scan.extensions.contract_details.builds.build_folders import read, read_json
from scan.extensions.contract_details.builds.build_formats import (
    MALFORMED,
    OUTPUT_SUFFIX,
    BuildFile,
    BuiltContract,
    Code,
    Contracts,
    NoBuild,
    linked,
    metadata_of,
    read_file,
)
from scan.verification import creation_comparison, metadata_request
from scan.verification.languages import BESIDE_SETTINGS, LANGUAGES, solidity
from scan.verification.languages.vyper import source_map
from scan.verification.request import MAX_FILES, MAX_SOURCE_BYTES, Submission
from scan.verification.submission_compilations import OUTPUTS

MAX_PARENTS = 12  # folders around a build's file, up to the project's
PARENTS = 3  # where nothing says which is the project's, as in out/Token.sol/Token.json
# What a project's own folder has, around which sources are read up to the one of git alone.
GIT = (".git",)
PROJECT_FILES = tuple(
    """
    foundry.toml hardhat.config.js hardhat.config.ts hardhat.config.cjs hardhat.config.mjs
    pyproject.toml package.json
    """.split()
)
# Of the files that are read: sources of any other name may be secrets.
SUFFIXES = (".sol", *(suffix for language in LANGUAGES.values() for suffix in language.suffixes))


def verification_request(built: BuiltContract, address: str) -> dict[str, Any]:
    """Return the body of a request to /api/v1/verify. Raises NoBuild where the build does not say
    what was compiled, or says it in another form, InvalidParameter, TooLarge, OSError."""
    try:
        decoded = read_file(built.file)
        if decoded.compiled.contracts is not None:
            return _compilation_request(built, decoded, decoded.compiled.contracts, address)
        metadata = metadata_of(decoded.raw_metadata or decoded.metadata)
        return _listed_request(built, metadata, address)
    except NoBuild:
        raise
    except MALFORMED as error:
        raise NoBuild("the build is malformed") from error


def together(submissions: Sequence[Submission]) -> Sequence[Submission]:
    """Return submissions of equal settings so that one compilation serves all: with the sources and
    contracts of all. Those of builds with different files at a path stay as they are, as do those
    whose compiler lists no sources, by which others would be left out of what is stored."""
    sources: dict[str, str] = {}
    selection: defaultdict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    for one in submissions:
        is_named = one.contract_path is not None and one.contract_name is not None
        fits = all(sources.get(path, text) == text for path, text in one.sources.items())
        if not (is_named and fits) or one.language is not solidity.SOLIDITY:
            return submissions
        sources |= one.sources
        selection[one.contract_path or ""][one.contract_name or ""] = OUTPUTS
    if len(sources) > MAX_FILES or sum(map(len, sources.values())) > MAX_SOURCE_BYTES:
        return submissions
    return [one._replace(sources=sources, selection=selection) for one in submissions]


def settings_of(one: Submission) -> str:
    """Return how a submission is compiled, apart from its sources."""
    return repr((one.language.name, one.version, one.settings, sorted(one.libraries.items())))


def _compilation_request(
    built: BuiltContract, decoded: BuildFile, outputs: Contracts, address: str
) -> dict[str, Any]:
    contract = outputs.get(built.path, {}).get(built.name)
    if contract is None:
        raise NoBuild("the build has just changed")
    metadata = metadata_of(contract.metadata)
    input_, version = decoded.input, built.version
    name = built.file.name
    if input_ is None and name.endswith(OUTPUT_SUFFIX):
        beside = read_file(built.file.with_name(f"{name.removesuffix(OUTPUT_SUFFIX)}.json"))
        input_, version = beside.input, beside.solc_long_version or version
    if input_ is None:
        return _listed_request(built, metadata, address)
    sources = input_.get("sources")
    if not isinstance(sources, dict):
        raise NoBuild("the build's input has no sources")
    used = metadata.get("sources") or sources
    contents = {
        path: source["content"]
        for path, source in sources.items()
        if path in used and isinstance(source, dict) and "content" in source
    }
    settings = input_.get("settings")
    more = {name: input_[name] for name in ("interfaces", *BESIDE_SETTINGS) if name in input_}
    return _request(built, address, version, contents, settings or {}, more)


def _listed_request(
    built: BuiltContract, metadata: Mapping[str, Any], address: str
) -> dict[str, Any]:
    if not metadata:
        raise NoBuild("the build has neither the compiler's input nor its metadata")
    listed = metadata.get("sources")
    if not isinstance(listed, dict) or len(listed) > MAX_FILES:
        raise NoBuild(f"its metadata lists no sources, or more than {MAX_FILES}")
    sources: dict[str, str] = {}
    characters = 0
    for path, source in listed.items():
        entry = source if isinstance(source, dict) else {}
        # The project's file at the path, or its variation, that has the stated hash.
        texts = (content.decode("utf-8", "replace") for content in _contents(built.file, path))
        stated = [str(entry.get("keccak256"))]
        hashed_texts = (metadata_request.with_hash(text, stated) for text in texts)
        hashed = next(filter(None, hashed_texts), None)
        content = hashed[1] if hashed else entry.get("content")
        if not isinstance(content, str):
            raise NoBuild(f"no source matches the metadata's hash of {path[:100]!r}")
        sources[path] = content
        characters += len(content)
        if characters > MAX_SOURCE_BYTES:
            raise NoBuild(f"its sources have more than {MAX_SOURCE_BYTES >> 20} MiB")
    return metadata_request.request_with(address, metadata, sources)


def _request(
    built: BuiltContract,
    address: str,
    version: str,
    sources: Mapping[str, str],
    settings: Mapping[str, Any],
    more: Mapping[str, Any] = {},
) -> dict[str, Any]:
    if not version:
        raise NoBuild("the build does not say which compiler's version made it")
    standard_input = {
        "language": built.language,
        "sources": {path: {"content": content} for path, content in sources.items()},
        "settings": {name: v for name, v in settings.items() if name != "outputSelection"},
        **more,
    }
    return {
        "address": address,
        "sourceCode": json.dumps(standard_input),
        "compilerVersion": version,
        "contractName": f"{built.path}:{built.name}",
    }


def _contents(file: Path, path: str) -> Iterator[bytes]:
    """Yield what the files around a build's file have that it may list as this path. Links of a
    repository are followed first, so that what is read is inside, and none."""
    folders, is_of_git = _folders(file)
    for folder in (*folders, *(folder / "node_modules" for folder in folders)):
        with suppress(OSError, ValueError):  # such as a name of 10 kB, or with a null byte
            followed = os.path.realpath if is_of_git else os.path.normpath
            target = Path(followed(folder / path))
            if target.is_relative_to(folders[-1]) and target.suffix in SUFFIXES:
                yield read(target, MAX_SOURCE_BYTES)


def _folders(file: Path) -> tuple[list[Path], bool]:
    """Return the folders around a build's file up to the one of git, or else the project's, but not
    the file system's; and whether there is one of git."""
    parents = [*file.parents][:-1][:MAX_PARENTS]
    for names in (GIT, PROJECT_FILES):
        for number, folder in enumerate(parents, 1):
            if any((folder / name).exists() for name in names):
                return parents[:number], names == GIT
    return parents[:PARENTS], False


_NOWHERE = f"0x{'00' * 20}"  # of a request that is not sent


class BuiltCreation(NamedTuple):
    """The creation code of a built contract, and its source map as source_maps.packed() has it."""

    built: BuiltContract
    code: creation_codes.CreationCode
    source_map: bytes

    @property
    def size(self) -> int:
        return len(self.source_map) + 200 * (1 + len(self.code.links))


class _Source(msgspec.Struct):
    id: int | None = None


class _Numbers(msgspec.Struct):
    """What a file has of the numbers of sources: a compilation's, or that of an artifact's own."""

    output: "_Numbers | None" = None
    sources: msgspec.Raw = msgspec.Raw(b"{}")
    id: Any = None


def creation_of(built: BuiltContract) -> BuiltCreation | None:
    """Return the creation code of a built contract; None where the build has no map of it."""
    creation = built.creation
    try:
        linked_code = linked(Code(creation.object, creation.link_references))
        packed = source_maps.packed(source_map(creation.source_map, linked_code.code.hex()))
        code = creation_codes.creation_code_of(linked_code)
    except MALFORMED:
        return None
    return None if packed is None or code is None else BuiltCreation(built, code, packed)


def contract_and_blueprint(built: BuiltContract) -> Iterator[BuiltContract]:
    """Yield a contract, and its blueprint (ERC-5202), which cannot be called, both without creation
    code. A contract whose creation code is malformed has none."""
    yield built._replace(creation=Code())
    creation = built.creation.object.removeprefix("0x")
    preceded = Code(creation_comparison.PREAMBLE.hex() + creation)
    try:
        blueprint = linked(preceded) if creation else None
    except ValueError:
        return
    if blueprint is not None:
        yield built._replace(runtime=blueprint, abi=b"[]", creation=Code())


def mapped(creation: BuiltCreation, deployed: bytes) -> MappedCode | None:
    """Return the code of a creation with the build's map and sources; None where the build has just
    changed, or lacks them."""
    built = creation.built
    try:
        content = json_decoder(_Numbers).decode(read_json(built.file))
        if isinstance(content.id, int):
            files = {content.id: built.path}
        else:
            listed = (content.output or content).sources
            numbers = json_decoder(dict[str, _Source]).decode(listed)
            files = {s.id: path for path, s in numbers.items() if s.id is not None}
        request = verification_request(built, _NOWHERE)
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
