"""Calls and logs in words: by a verified ABI, else by signatures that everybody uses."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from eth_hash.auto import keccak

from scan.contracts.abi import AbiError, AbiType, decode, encode, parse_types, selector, signature
from scan.contracts.abi_json import render

KNOWN = Path(__file__).with_name("known_signatures.txt")
MAX_ARGUMENTS = 100

_SIGNATURE = re.compile(r"(function|event) (\w+)\((.*)\)")


class Argument(NamedTuple):
    """`value` is as JSON has it: text, true or false, arrays, objects."""

    name: str
    type: str
    value: Any


class Decoded(NamedTuple):
    """`is_verified` is unset where the name was found by its hash alone, which others may share."""

    signature: str
    arguments: Sequence[Argument]
    is_verified: bool


def decode_call(calldata: bytes, abi: Sequence[dict[str, Any]]) -> Decoded | None:
    for entry, is_verified in _entries("function", abi):
        decoded = _call(calldata, entry, is_verified)
        if decoded is not None:
            return decoded
    return None


def decode_log(
    topics: Sequence[bytes], data: bytes, abi: Sequence[dict[str, Any]]
) -> Decoded | None:
    for entry, is_verified in _entries("event", abi):
        decoded = _log(topics, data, entry, is_verified)
        if decoded is not None:
            return decoded
    return None


def _entries(kind: str, abi: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], bool]]:
    yield from ((entry, True) for entry in abi if entry.get("type") == kind)
    yield from ((entry, False) for entry in _known() if entry["type"] == kind)


@cache
def _known() -> list[dict[str, Any]]:
    return [_parse(line) for line in KNOWN.read_text().splitlines()]


def _parse(line: str) -> dict[str, Any]:
    """`event Transfer(address indexed from, …)` as an entry of an ABI."""
    found = _SIGNATURE.fullmatch(line)
    assert found is not None, line
    kind, name, inputs = found.groups()
    words = [part.split() for part in inputs.split(",") if part]
    return {
        "type": kind,
        "name": name,
        "inputs": [
            {"type": type_, "indexed": "indexed" in more, "name": more[-1]}
            for type_, *more in words
        ],
    }


def _call(calldata: bytes, entry: dict[str, Any], is_verified: bool) -> Decoded | None:
    try:
        types = parse_types(entry.get("inputs", []))
        text = signature(str(entry.get("name")), types)
        if selector(text) != calldata[:4]:
            return None
        values = decode(types, calldata[4:])
        if not is_verified and encode(types, values) != calldata[4:]:
            return None  # another function whose selector is the same
    except (AbiError, OverflowError):
        return None
    return Decoded(text, _arguments(entry["inputs"], types, values), is_verified)


def _log(
    topics: Sequence[bytes], data: bytes, entry: dict[str, Any], is_verified: bool
) -> Decoded | None:
    try:
        inputs = entry.get("inputs", [])
        types = parse_types(inputs)
        text = signature(str(entry.get("name")), types)
        indexed = [bool(each.get("indexed")) for each in inputs]
        if not topics or keccak(text.encode()) != topics[0] or len(topics) != 1 + sum(indexed):
            return None
        words = iter(topics[1:])
        rest = iter(decode([t for t, i in zip(types, indexed, strict=True) if not i], data))
        arguments = [
            _indexed(each, type_, next(words))
            if is_indexed
            else Argument(str(each.get("name") or ""), type_.name, render(type_, next(rest)))
            for each, type_, is_indexed in zip(inputs, types, indexed, strict=True)
        ]
    except (AbiError, OverflowError):
        return None
    return Decoded(text, arguments[:MAX_ARGUMENTS], is_verified)


def _indexed(entry: dict[str, Any], type_: AbiType, word: bytes) -> Argument:
    """What has no fixed length stands in a topic as its hash."""
    name = str(entry.get("name") or "")
    if type_.dynamic or type_.kind in ("array", "tuple"):
        return Argument(name, f"hash of {type_.name}", "0x" + word.hex())
    [value] = decode([type_], word)
    return Argument(name, type_.name, render(type_, value))


def _arguments(
    inputs: Sequence[dict[str, Any]], types: Sequence[AbiType], values: Sequence[Any]
) -> list[Argument]:
    return [
        Argument(str(each.get("name") or ""), type_.name, render(type_, value))
        for each, type_, value in zip(inputs, types, values, strict=True)
    ][:MAX_ARGUMENTS]
