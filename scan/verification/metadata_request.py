"""A request to verify a contract, from the compiler's metadata file and the sources it lists."""

import json
from collections.abc import Mapping
from typing import Any

from eth_utils.crypto import keccak

from scan import parameters
from scan.errors import InvalidParameter, TooLarge
from scan.hex import to_hex
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
    by_hash = {to_hex(bytes(keccak(encoded[path]))): contents[path] for path in contents}
    sources = {}
    for path, entry in listed.items():
        entry = entry if isinstance(entry, dict) else {}
        content = by_hash.get(str(entry.get("keccak256"))[:100].lower(), entry.get("content"))
        if not isinstance(content, str):
            raise InvalidParameter(
                f"sources: no source matches the metadata's hash of {path[:100]!r}.",
                field="sources",
            )
        sources[path] = content
    return sources


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
