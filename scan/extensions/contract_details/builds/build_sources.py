"""A built contract's sources and settings, as a request to verify it.

Where the build has the compiler's input, it is that, with the files that the contract uses. Else
the compiler's metadata lists them by hash, and they are read from the project: a file counts, at
whatever path, only if its hash is the listed one. Vyper's combined JSON lists none: its file is
read from the project's folder, and nowhere else.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eth_utils.crypto import keccak

from scan.extensions.contract_details.builds.build_formats import (
    COMBINED,
    COMPILATION,
    MALFORMED,
    OUTPUT_SUFFIX,
    TYPE,
    BuildFile,
    BuiltContract,
    NoBuild,
    ape_compiler_of,
    ape_sources_of,
    metadata_of,
    read_file,
)
from scan.hex import to_hex
from scan.verification.languages import BESIDE_SETTINGS, LANGUAGES
from scan.verification.metadata_request import request_with
from scan.verification.request import MAX_FILES, MAX_SOURCE_BYTES

MAX_PARENTS = 12  # folders around a build's file, up to the project's
PARENTS = 3  # where nothing says which is the project's, as in out/Token.sol/Token.json
# What a project's own folder has, around which no sources are read.
PROJECT_FILES = (
    "foundry.toml",
    "hardhat.config.js",
    "hardhat.config.ts",
    "hardhat.config.cjs",
    "hardhat.config.mjs",
    "truffle-config.js",
    "ape-config.yaml",
    "pyproject.toml",
    "package.json",
    ".git",
)
_TRUFFLE_ROOT = "project:/"


def request(built: BuiltContract, address: str) -> dict[str, Any]:
    """Return the body of a request to /api/v1/verify. Raises NoBuild where the build does not say
    what was compiled, or says it in another form, InvalidParameter, TooLarge, OSError."""
    try:
        return _request_of(built, address)
    except NoBuild:
        raise
    except MALFORMED as error:
        raise NoBuild(f"the build is malformed: {error}") from None


def _request_of(built: BuiltContract, address: str) -> dict[str, Any]:
    decoded = read_file(built.file)
    if built.form == COMPILATION:
        return _of_compilation(built, decoded, address)
    if built.form == TYPE:
        return _of_manifest(built, decoded, address)
    if built.form == COMBINED:
        sources = {built.path: _inside_project(built.file, built.path)}
        return _request(built, address, built.version, sources, {})
    return _of_metadata(built, metadata_of(decoded.raw_metadata or decoded.metadata), address)


def _of_compilation(built: BuiltContract, decoded: BuildFile, address: str) -> dict[str, Any]:
    outputs = decoded.output.contracts if decoded.output else decoded.contracts or {}
    contract = outputs.get(built.path, {}).get(built.name)
    if contract is None:
        raise NoBuild("the build has just changed")
    metadata = metadata_of(contract.metadata)
    given, version = decoded.input, built.version
    name = built.file.name
    if given is None and name.endswith(OUTPUT_SUFFIX):
        beside = read_file(built.file.with_name(f"{name.removesuffix(OUTPUT_SUFFIX)}.json"))
        given, version = beside.input, beside.solc_long_version or version
    if given is None:
        return _of_metadata(built, metadata, address)
    sources = given.get("sources")
    if not isinstance(sources, dict):
        raise NoBuild("the build's input has no sources")
    used = metadata.get("sources") or sources
    contents = {
        path: source["content"]
        for path, source in sources.items()
        if path in used and isinstance(source, dict) and "content" in source
    }
    settings = given.get("settings")
    more = {name: given[name] for name in ("interfaces", *BESIDE_SETTINGS) if name in given}
    return _request(built, address, version, contents, settings or {}, more)


def _of_metadata(built: BuiltContract, metadata: Mapping[str, Any], address: str) -> dict[str, Any]:
    if not metadata:
        raise NoBuild("the build has neither the compiler's input nor its metadata")
    listed = metadata.get("sources")
    if not isinstance(listed, dict) or len(listed) > MAX_FILES:
        raise NoBuild(f"its metadata lists no sources, or more than {MAX_FILES}")
    sources: dict[str, str] = {}
    characters = 0
    for path, source in listed.items():
        entry = source if isinstance(source, dict) else {}
        content = _with_hash(built.file, path, entry.get("keccak256"))
        content = entry.get("content") if content is None else content
        if not isinstance(content, str):
            raise NoBuild(f"no source matches the metadata's hash of {path[:100]!r}")
        sources[path] = content
        characters += len(content)
        if characters > MAX_SOURCE_BYTES:
            raise NoBuild(f"its sources have more than {MAX_SOURCE_BYTES >> 20} MiB")
    return request_with(address, metadata, sources)


def _of_manifest(built: BuiltContract, decoded: BuildFile, address: str) -> dict[str, Any]:
    compiler = ape_compiler_of(decoded, built.name)
    sources = ape_sources_of(decoded)
    if compiler is None or not sources:
        raise NoBuild("the build has neither a compiler's version nor sources")
    suffixes = LANGUAGES[built.language].suffixes or (".sol",)
    used = {path: content for path, content in sources.items() if path.endswith(suffixes)}
    return _request(built, address, compiler.version, used, compiler.settings or {})


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


def _with_hash(file: Path, path: str, stated: object) -> str | None:
    """Return the text of the project's file at a path, None where none has the stated hash."""
    for candidate in _candidates(file, path):
        content = _read(candidate)
        if content is not None and to_hex(bytes(keccak(content))) == stated:
            return content.decode("utf-8", "replace")
    return None


def _inside_project(file: Path, path: str) -> str:
    """Return the text of a file in the folders around a build. Raises NoBuild where there is none,
    or where the path leads out of them."""
    for folder in _folders(file):
        candidate = (folder / path).resolve()
        content = _read(candidate) if candidate.is_relative_to(folder.resolve()) else None
        if content is not None:
            return content.decode("utf-8", "replace")
    raise NoBuild(f"the project has no file {path[:200]!r}")


def _candidates(file: Path, path: str) -> Iterator[Path]:
    relative = path.removeprefix(_TRUFFLE_ROOT)
    yield from (folder / relative for folder in _folders(file))
    yield from (folder / "node_modules" / relative for folder in _folders(file))


def _folders(file: Path) -> list[Path]:
    """Return the folders around a build's file up to the project's, but not the file system's."""
    parents = [*file.parents][:-1][:MAX_PARENTS]
    for number, folder in enumerate(parents, 1):
        if any((folder / name).exists() for name in PROJECT_FILES):
            return parents[:number]
    return parents[:PARENTS]


def _read(path: Path) -> bytes | None:
    try:
        if path.is_file() and path.stat().st_size <= MAX_SOURCE_BYTES:
            return path.read_bytes()
    except (OSError, ValueError):  # such as a name of 10 kB, or with a null byte
        pass
    return None
