"""Converts Sourcify's verification requests to bodies of /api/v1/verify."""

import json
from collections.abc import Mapping
from typing import Any

from eth_utils.crypto import keccak

from scan import parameters
from scan.errors import InvalidParameter, TooLarge
from scan.hex import to_hex
from scan.verification.request import MAX_FILES, MAX_SOURCE_BYTES


def from_standard_json(address: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a submission's body from a standard JSON input, the compiler's version and the
    contract's `path:Name`."""
    _check_transaction_hash(body)
    standard_input = _object(body, "stdJsonInput")
    sources = standard_input.get("sources")
    _check_number(sources if isinstance(sources, dict) else {})
    identifier = _text(body, "contractIdentifier")
    if ":" not in identifier:
        raise InvalidParameter(
            "The contractIdentifier must consist of the file path and the contract name separated"
            " by a ':'.",
            field="contractIdentifier",
        )
    return {
        "address": address,
        "sourceCode": json.dumps(standard_input),
        "compilerVersion": _text(body, "compilerVersion"),
        "contractName": identifier,
    }


def from_metadata(address: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a submission's body from the compiler's metadata file and the sources that it
    lists, by path or by hash."""
    _check_transaction_hash(body)
    metadata, contents = _object(body, "metadata"), _object(body, "sources")
    settings = dict(_object(metadata, "settings", "metadata."))
    target = _object(settings, "compilationTarget", "metadata.settings.")
    if len(target) != 1:
        raise InvalidParameter("metadata.settings.compilationTarget must name one contract.")
    del settings["compilationTarget"]
    [(path, name)] = target.items()
    sources = _sources(_object(metadata, "sources", "metadata."), contents)
    standard_input = {
        "language": metadata.get("language"),
        "sources": sources,
        "settings": settings,
    }
    return {
        "address": address,
        "sourceCode": json.dumps(standard_input),
        "compilerVersion": _text(_object(metadata, "compiler", "metadata."), "version"),
        "contractName": f"{path}:{name}",
    }


def _sources(listed: Mapping[str, Any], contents: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the sources that the metadata lists, each with the content that has its hash.

    Counts and sizes are checked before hashing, which takes 10 ms a megabyte and 2 us a file.
    """
    _check_number(listed)
    _check_number(contents)
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
        sources[path] = {"content": content}
    return sources


def _check_number(sources: Mapping[str, Any]) -> None:
    """Raise InvalidParameter for too many files: serialising and parsing 45,000 takes 110 ms."""
    if len(sources) > MAX_FILES:
        raise InvalidParameter(f"sources may have at most {MAX_FILES} files.", field="sources")


def _encoded(path: str, content: object) -> bytes:
    if not isinstance(content, str):
        raise InvalidParameter(f"sources: {path[:100]!r} must be text.", field="sources")
    return content.encode("utf-8", "replace")


def _check_transaction_hash(body: Mapping[str, Any]) -> None:
    """Raise InvalidParameter for a malformed hash; it has no other use, since the index has the
    creating transaction."""
    if body.get("creationTransactionHash") is not None:
        parameters.hash32(body["creationTransactionHash"], "creationTransactionHash")


def _object(values: Mapping[str, Any], name: str, where: str = "") -> dict[str, Any]:
    value = values.get(name)
    if not isinstance(value, dict):
        raise InvalidParameter(f"{where}{name} is required, as an object.", field=name)
    return value


def _text(values: Mapping[str, Any], name: str) -> str:
    if not values.get(name):
        raise InvalidParameter(f"{name} is required.", field=name)
    return parameters.text(values[name], name, most=500)
