"""Signatures of functions and events such as `f((address,bytes)[] calls)`, parsed to ABI entries.

Types are Solidity's, with tuples in parentheses. `indexed` and a name may follow a type.
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
    """Return an ABI entry without `type`. Raises AbiError if the text is not a signature."""
    whole = _WHOLE.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if whole is None:
        raise AbiError("expected a name followed by types in parentheses")
    return {"name": whole[1], "inputs": _parameters(whole[2], 0)}


def canonical(text: str) -> str:
    """Return the signature whose hash is the selector: without names and spaces, with full type
    names. Raises AbiError."""
    entry = parse_signature(text)
    return signature(entry["name"], parse_types(entry["inputs"]))


def _parameters(text: str, depth: int) -> list[dict[str, Any]]:
    if depth > MAX_DEPTH:
        raise AbiError("the type is nested too deeply")
    return [_parameter(part.strip(), depth) for part in _split(text)] if text.strip() else []


def _parameter(text: str, depth: int) -> dict[str, Any]:
    match = _PARAMETER.fullmatch(text)
    if match is None or match[4] == "indexed":
        raise AbiError("a parameter is not a type, optionally followed by a name")
    base, suffix, indexed, name = match.groups()
    entry = {"name": name or "", "indexed": indexed is not None}
    if not base.startswith("("):
        return {**entry, "type": base + suffix}
    return {**entry, "type": "tuple" + suffix, "components": _parameters(base[1:-1], depth + 1)}


def _split(text: str) -> Iterator[str]:
    """Yield the parts between commas that are not in parentheses. Raises AbiError where
    parentheses are not balanced."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == "," and not depth:
            yield text[start:position]
            start = position + 1
    if depth:
        raise AbiError("its parentheses are not balanced")
    yield text[start:]
