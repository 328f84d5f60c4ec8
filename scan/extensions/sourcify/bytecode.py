"""The creation and the runtime bytecode of a verified contract in Sourcify's form.

A transformation replaces bytes of the compiled code, or appends the constructor's arguments to it,
and its value is in transformationValues. What is not known is null: source maps, and what depends
on positions of metadata where embedded contracts have some, too.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from scan.hex import to_hex
from scan.queries.contracts import Contract
from scan.verification.code_layout import Layout, Replacement, compiled_code, replacements
from scan.verification.contract_match import FULL

CREATION, RUNTIME = "creation", "runtime"
# The values of transformations, by their reason, that have an id.
_GROUPS = {"library": "libraries", "immutable": "immutables", "cborAuxdata": "cborAuxdata"}
_OF_CREATION_CODE = {"onchainBytecode", "recompiledBytecode"} | {
    "transformations",
    "transformationValues",
}


def reads_creation(members: Sequence[str]) -> bool:
    """Return whether these members of creationBytecode need the code that created the contract."""
    return not _OF_CREATION_CODE.isdisjoint(members)


def runtime_bytecode(stored: Contract) -> dict[str, Any]:
    code = None if stored.code is None else bytes(stored.code)
    return _bytecode(stored, RUNTIME, code, b"", is_same=stored.is_verified)


def creation_bytecode(stored: Contract, creation: bytes | None) -> dict[str, Any]:
    """Return the bytecode; `creation` is that of the chain with the constructor's arguments, None
    where it is not known."""
    arguments = bytes(stored.constructor_arguments or b"")
    is_same = stored.creation_match is not None
    return _bytecode(stored, CREATION, creation, arguments, is_same=is_same)


def _bytecode(
    stored: Contract, kind: str, code: bytes | None, arguments: bytes, *, is_same: bool
) -> dict[str, Any]:
    layout: Layout = orjson.loads(stored.layouts or "{}").get(kind, {})
    is_known = layout.get("cborAuxdata") is not None or stored.match == FULL
    bytecode: dict[str, Any] = {
        name: layout.get(name)
        for name in ("linkReferences", "cborAuxdata", "immutableReferences")
        if kind == RUNTIME or name != "immutableReferences"
    }
    bytecode["onchainBytecode"] = None if code is None else to_hex(code)
    if layout and is_known and is_same and code is not None:
        compiled = code.removesuffix(arguments)
        replaced = replacements(layout, compiled)
        bytecode["recompiledBytecode"] = to_hex(compiled_code(compiled, replaced))
        bytecode["transformations"] = [*map(_transformation, replaced)]
        bytecode["transformationValues"] = _values(replaced)
        if arguments:
            inserted = {"type": "insert", "reason": "constructorArguments", "offset": len(compiled)}
            bytecode["transformations"].append(inserted)
            bytecode["transformationValues"]["constructorArguments"] = to_hex(arguments)
    return bytecode


def _transformation(replaced: Replacement) -> dict[str, Any]:
    transformation = {"type": "replace", "reason": replaced.reason, "offset": replaced.offset}
    return transformation | ({"id": replaced.id} if replaced.id else {})


def _values(replaced: Sequence[Replacement]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for replacement in replaced:
        value = to_hex(replacement.deployed)
        if replacement.reason in _GROUPS:
            values.setdefault(_GROUPS[replacement.reason], {})[replacement.id] = value
        else:
            values[replacement.reason] = value
    return values
