"""A request to verify a contract from the compiler's metadata file and the sources that it lists,
and the search for the variant of the file whose hash is in the deployed code.

The code can be equal while the metadata differs: a single file is submitted without its path, and
settings such as `runs` may not change the code. A variant with the hash is the deployer's file.
Hashing a variant takes microseconds, compiling again takes seconds.

Variations of sources: tools and editors change ends of lines, the last of them, and a byte order
mark (Foundry and Vyper's command line compile LF whatever the file has; Sourcify tries the same).
"""

import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from scan import parameters
from scan.errors import InvalidParameter, TooLarge
from scan.ethereum.rlp_and_tries import keccak256
from scan.hex import to_hex
from scan.json_bodies import BYTE_ORDER_MARK
from scan.verification import bytecode_metadata, settings_search
from scan.verification.request import MAX_FILES, MAX_SOURCE_BYTES


def request_of(
    address: str, metadata: Mapping[str, Any], contents: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the body of a request to /api/v1/verify. `contents` have the sources, by path or by
    any other name: each is known by its hash."""
    listed = member(metadata, "sources", "metadata.")
    return request_with(address, metadata, _sources(listed, contents))


def request_with(
    address: str, metadata: Mapping[str, Any], sources: Mapping[str, str]
) -> dict[str, Any]:
    """Return the body of a request with sources that are known to be those of the metadata. Raises
    InvalidParameter."""
    settings = dict(member(metadata, "settings", "metadata."))
    target = member(settings, "compilationTarget", "metadata.settings.")
    if len(target) != 1:
        raise InvalidParameter("metadata.settings.compilationTarget must name one contract.")
    del settings["compilationTarget"]
    [(path, name)] = target.items()
    standard_input = {
        "language": metadata.get("language"),
        "sources": {path: {"content": content} for path, content in sources.items()},
        "settings": settings,
    }
    return {
        "address": address,
        "sourceCode": json.dumps(standard_input),
        "compilerVersion": text_member(member(metadata, "compiler", "metadata."), "version"),
        "contractName": f"{path}:{name}",
    }


def _sources(listed: Mapping[str, Any], contents: Mapping[str, Any]) -> dict[str, str]:
    """Return the sources that the metadata lists, each with the content that has its hash.

    Counts and sizes are checked before hashing, which takes 10 ms a megabyte and 2 us a file.
    """
    check_number(listed)
    check_number(contents)
    encoded = {path: _encoded(path, content) for path, content in contents.items()}
    if sum(map(len, encoded.values())) > MAX_SOURCE_BYTES:
        raise TooLarge("The sources may have at most 1 MiB in total.", field="sources")
    entries = {p: entry if isinstance(entry, dict) else {} for p, entry in listed.items()}
    hashes = {path: str(e.get("keccak256"))[:100].lower() for path, e in entries.items()}
    by_hash: dict[str, str] = {}
    for content in contents.values():
        hashed, text = with_hash(content, {*hashes.values()}) or ("", "")
        by_hash[hashed] = text
    sources = {}
    for path, entry in entries.items():
        content = by_hash.get(hashes[path], entry.get("content"))
        if not isinstance(content, str):
            message = f"sources: no source matches the metadata's hash of {path[:100]!r}."
            raise InvalidParameter(message, field="sources")
        sources[path] = content
    return sources


def with_hash(content: str, hashes: Collection[str]) -> tuple[str, str] | None:
    """Return the first of a source's variations that has one of these hashes, after its hash."""
    texts = {content: None} | dict.fromkeys(variations(content))
    hashed = ((to_hex(keccak256(text.encode("utf-8", "replace"))), text) for text in texts)
    return next((pair for pair in hashed if pair[0] in hashes), None)


LIKELY_VARIATIONS = 6  # with ends of lines that are all equal


def variations(content: str) -> Iterator[str]:
    """Yield a source without a byte order mark as tools may have changed it, the likely first; some
    are equal."""
    content = content.removeprefix(BYTE_ORDER_MARK)
    lf = content.replace("\r\n", "\n")
    by_end = {"\n": lf, "\r\n": lf.replace("\n", "\r\n")}
    for end, text in by_end.items():
        yield from (text, text.rstrip() + end, text.rstrip())
    for text in (content, *by_end.values()):
        for end in by_end:
            yield from (text, text.rstrip() + end, text + end, text.rstrip())


def varied_sources(
    sources: Mapping[str, str], *, may_have_marks: bool
) -> Iterator[Mapping[str, str]]:
    """Yield likely variations of files, the same of all, that differ from what they are. Vyper
    takes files with a byte order mark, which its hash includes."""
    seen = [sources]
    marks = ("", BYTE_ORDER_MARK) if may_have_marks else ("",)
    for mark, number in itertools.product(marks, range(LIKELY_VARIATIONS)):
        varied = {
            path: mark + next(itertools.islice(variations(text), number, None))
            for path, text in sources.items()
        }
        if varied not in seen:
            seen.append(varied)
            yield varied


def variation_of(sources: Mapping[str, str]) -> str:
    """Return in words which variation files are."""
    texts = [*sources.values()]
    ends = "CRLF" if any("\r\n" in text for text in texts) else "LF"
    last = "a" if all(text.endswith("\n") for text in texts) else "no"
    mark = "a" if any(text.startswith(BYTE_ORDER_MARK) for text in texts) else "no"
    return f"{ends} at the ends of lines, {last} newline at the end and {mark} byte order mark"


def check_number(sources: Mapping[str, Any]) -> None:
    """Raise InvalidParameter for too many files: serialising and parsing 45,000 takes 110 ms."""
    if len(sources) > MAX_FILES:
        raise InvalidParameter(f"sources may have at most {MAX_FILES} files.", field="sources")


def _encoded(path: str, content: object) -> bytes:
    if not isinstance(content, str):
        raise InvalidParameter(f"sources: {path[:100]!r} must be text.", field="sources")
    return content.encode("utf-8", "replace")


def member(values: Mapping[str, Any], name: str, where: str = "") -> dict[str, Any]:
    value = values.get(name)
    if not isinstance(value, dict):
        raise InvalidParameter(f"{where}{name} is required, as an object.", field=name)
    return value


def text_member(values: Mapping[str, Any], name: str) -> str:
    if not values.get(name):
        raise InvalidParameter(f"{name} is required.", field=name)
    return parameters.text(values[name], name, most=500)


# The most that is hashed: SHA-256 of 3 KB takes 10 µs, Swarm's hashes 1 to 2 ms.
MOST_BYTES = {"ipfs": 12_000_000, "bzzr0": 1_500_000, "bzzr1": 900_000}

_OPTIMIZER = re.compile(r'"optimizer":\{"enabled":(?:true|false),"runs":[0-9]+\}')
_EVM_VERSION = re.compile(r'"evmVersion":"[A-Za-z]+",?')
_PATHS_BY_NAME = tuple(
    """
    {}.sol contracts/{}.sol src/{}.sol browser/{}.sol ./{}.sol ./contracts/{}.sol /{}.sol
    /contracts/{}.sol project:/contracts/{}.sol {}_flat.sol contracts/{}_flat.sol flattened/{}.sol
    """.split()
)
_PATHS = (
    *"""
    contract.sol Contract.sol contracts/contract.sol contracts/Contract.sol flattened.sol
    Flattened.sol contracts/flattened.sol source.sol input.sol main.sol test.sol contracts/test.sol
    a.sol A.sol 1.sol
    """.split(),
    "browser/test.sol",
    "browser/Untitled.sol",
    "",
    "<stdin>",
)


def find_variant(
    deployed: bytecode_metadata.BytecodeMetadata | None,
    metadata: str,
    path: str,
    contract_names: Collection[str],
    parts: int = 1,
) -> str | None:
    """Return the metadata file with the deployed hash, None without one. Variants have other
    settings, and likely paths of a file with these contracts in place of `path`; none where the
    path is known. Of the most that is hashed, one of so many parts."""
    kind = bytecode_metadata.hash_kind(deployed)
    if deployed is None or kind is None:
        return None
    deployed_hash, digest = deployed.values[kind], bytecode_metadata.BY_KIND[kind]
    most = MOST_BYTES[kind] // parts // len(metadata)
    likely = [path.format(name) for path in _PATHS_BY_NAME for name in contract_names]
    paths = [path, *likely, *_PATHS] if contract_names else [path]
    variants = (
        settings.replace(f'"{path}":', f'"{other}":')
        for settings in _settings(metadata)
        for other in paths
    )
    for text in itertools.islice(variants, most):
        if digest(text.encode()) == deployed_hash:
            return text
    return None


def _settings(metadata: str) -> Iterator[str]:
    """Yield the metadata file unchanged, then with other settings that may give equal code."""
    yield metadata
    for runs in (200, *settings_search.RARER_RUNS):
        for enabled in ("true", "false") if runs == 200 else ("true",):
            optimizer = f'"optimizer":{{"enabled":{enabled},"runs":{runs}}}'
            yield _OPTIMIZER.sub(optimizer, metadata)
    for evm_version in settings_search.EVM_VERSIONS:
        yield _EVM_VERSION.sub(f'"evmVersion":"{evm_version}",', metadata)
