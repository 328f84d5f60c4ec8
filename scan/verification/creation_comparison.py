"""Comparison of the code that created a contract with compiled creation code, without arguments.

Only the creation code has the constructor and the initial values that it writes: sources that
differ in nothing else have the same runtime code. It is the input of the contract's transaction, or
of a traced call.

A blueprint (ERC-5202) is creation code that is deployed as it is, for contracts that create others:
after `fe 71`, a byte with the version and the number of bytes of the length of data, that length
and the data. It cannot be called.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError, decode, encode, parse_types
from scan.contracts.abi_json import AbiEntries, constructor_inputs
from scan.verification import bytecode_comparison
from scan.verification.languages.solidity import in_form


class Creation(NamedTuple):
    """The result of comparing creation code; `is_same` is None if it was not compared.

    `match` is "full" or "partial" if the code is the same and constructor arguments follow it.
    `libraries` are the addresses of the compiled code's libraries, by `file:Name`.
    `inner_metadata`: all differences are in bytes that look like metadata of embedded contracts.
    `auxdata` are the ranges known to be metadata. `proves_source`: the code is equal, and
    has a hash of the source that the runtime code lacks. `unread` follows equal code, and is not
    how constructor arguments are encoded.
    """

    is_same: bool | None = None
    match: str | None = None
    constructor_arguments: bytes | None = None
    libraries: Mapping[str, bytes] = {}
    inner_metadata: bool = False
    auxdata: Sequence[bytecode_comparison.ByteRange] = ()
    proves_source: bool = False
    unread: bytes | None = None


NOT_COMPARED = Creation()


class DeployedCode(NamedTuple):
    """A contract's code on the chain. `creation` is the input of its creation, None if unknown."""

    runtime: bytes
    creation: bytes | None


def compare_creation(
    deployed: DeployedCode,
    compiled: bytecode_comparison.LinkedCode,
    libraries: Mapping[str, bytes],
    auxdata: Sequence[bytecode_comparison.ByteRange],
    abi: AbiEntries,
) -> Creation:
    """Compare creation code. `auxdata` are the ranges of metadata, which may differ.

    The match is "full" if the metadata is equal, too, or is that of the deployed runtime code.
    """
    if deployed.creation is None:
        return NOT_COMPARED
    length = len(compiled.code)
    code, arguments = deployed.creation[:length], deployed.creation[length:]
    if len(code) != length:
        return Creation(is_same=False)
    # Libraries that were not submitted are read from the creation code: runtime code lacks those
    # that only the constructor calls.
    linked: dict[str, bytes] = {}
    linked_code = bytearray(compiled.code)
    for name, ranges in compiled.links.items():
        in_code = code[ranges[0].start : ranges[0].end]
        linked[name] = bytecode_comparison.library_address(libraries, name, in_code)
        for start, end in ranges:
            linked_code[start:end] = linked[name]
    expected = bytes(linked_code)
    offsets = bytecode_comparison.differences(code, expected)
    metadata = auxdata if offsets else ()
    masked, other = (bytecode_comparison.mask(text, metadata) for text in (code, expected))
    have_same_shape = (
        bytecode_comparison.has_same_shape(code, expected, part) for part in metadata
    )
    if masked != other or not all(have_same_shape):
        inner = bytecode_comparison.within_hashes(offsets, expected)
        return Creation(is_same=False, inner_metadata=inner)
    if not are_constructor_arguments(abi, arguments):
        return Creation(is_same=True, libraries=linked, auxdata=auxdata, unread=arguments)
    is_full = all(deployed.runtime.endswith(code[start:end]) for start, end in metadata)
    level = "full" if is_full else "partial"
    proves_source = not offsets and bytecode_comparison.has_integrity(expected)
    return Creation(True, level, arguments, linked, auxdata=auxdata, proves_source=proves_source)


def are_constructor_arguments(abi: AbiEntries, arguments: bytes) -> bool:
    try:
        types = parse_types(constructor_inputs(abi))
        return encode(types, decode(types, arguments)) == arguments
    except (AbiError, OverflowError):
        return False


_MARK = b"\xfe\x71"
PREAMBLE = _MARK + b"\0"  # of the first version, without data
_LENGTHS = 0b11  # bits of the number of bytes of the length; the others are the version, 0
_RESERVED = 3


def preamble_of(code: bytes) -> bytes | None:
    """Return what precedes the creation code in a blueprint; None for other code."""
    if code[:2] != _MARK or len(code) < 3 or code[2] >= _RESERVED:
        return None
    data = 3 + (code[2] & _LENGTHS)
    start = data + int.from_bytes(code[3:data], "big")
    return code[:start] if start < len(code) else None


def as_deployed(output: Mapping[str, Any], preamble: bytes) -> dict[str, Any]:
    """Return a compiler's output with blueprints of contracts in the place of their runtime code,
    without source maps: the code of a blueprint never runs."""
    return in_form(output, partial(_blueprint, preamble))


def _blueprint(preamble: bytes, contract: Mapping[str, Any]) -> dict[str, Any]:
    evm = contract.get("evm") or {}
    creation = evm.get("bytecode") or {}
    links = {
        path: {
            name: [{**place, "start": place["start"] + len(preamble)} for place in places]
            for name, places in libraries.items()
        }
        for path, libraries in (creation.get("linkReferences") or {}).items()
    }
    code = creation.get("object")
    runtime = {"object": preamble.hex() + code if code else "", "linkReferences": links}
    return {**contract, "evm": {**evm, "deployedBytecode": runtime}}
