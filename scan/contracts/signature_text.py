"""Signatures of functions and events as text: `f((address,bytes)[] calls)` to an ABI's entry.

Types are Solidity's, tuples are written in brackets; `indexed` and names may follow a type.
"""

import re
from collections.abc import Iterator
from typing import Any

from scan.contracts.abi import MAX_DEPTH, AbiError, parse_types, signature

MAX_LENGTH = 2000  # of a signature; PostgreSQL indexes no text above 2,700 bytes

_NAME = r"[A-Za-z_$][A-Za-z0-9_$]*"
_WHOLE = re.compile(rf"({_NAME})\((.*)\)", re.ASCII | re.DOTALL)
_PARAMETER = re.compile(
    rf"(?:tuple)?(\(.*\)|[a-z0-9]+)((?:\[[0-9]*\])*)(\s+indexed)?(?:\s+({_NAME}))?",
    re.ASCII | re.DOTALL,
)


def parse_signature(text: str) -> dict[str, Any]:
    """An entry of an ABI, without its type; raises AbiError for what is no signature."""
    whole = _WHOLE.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if whole is None:
        raise AbiError("a name and its types in brackets are expected")
    return {"name": whole[1], "inputs": _parameters(whole[2], 0)}


def canonical(text: str) -> str:
    """The signature whose hash is the selector: without names and spaces, with whole type names."""
    entry = parse_signature(text)
    return signature(entry["name"], parse_types(entry["inputs"]))


def _parameters(text: str, depth: int) -> list[dict[str, Any]]:
    if depth > MAX_DEPTH:
        raise AbiError("the type is nested too deep")
    return [_parameter(part.strip(), depth) for part in _split(text)] if text.strip() else []


def _parameter(text: str, depth: int) -> dict[str, Any]:
    found = _PARAMETER.fullmatch(text)
    if found is None or found[4] == "indexed":
        raise AbiError("there is something else than a type, and a name after it")
    base, suffix, indexed, name = found.groups()
    entry = {"name": name or "", "indexed": indexed is not None}
    if not base.startswith("("):
        return {**entry, "type": base + suffix}
    return {**entry, "type": "tuple" + suffix, "components": _parameters(base[1:-1], depth + 1)}


def _split(text: str) -> Iterator[str]:
    """The parts between commas outside of brackets."""
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == "," and not depth:
            yield text[start:place]
            start = place + 1
    if depth:
        raise AbiError("its brackets are not in pairs")
    yield text[start:]
