"""Blueprints (ERC-5202): creation code that is deployed as it is, for contracts that create others.

The preamble `fe 71`, a byte with the version and the number of bytes of the length of data, that
length and the data precede it. A blueprint cannot be called.
"""

from collections.abc import Mapping
from typing import Any

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
    contracts = {
        path: {name: _blueprint(contract, preamble) for name, contract in of_file.items()}
        for path, of_file in (output.get("contracts") or {}).items()
    }
    return {**output, "contracts": contracts}


def _blueprint(contract: Mapping[str, Any], preamble: bytes) -> dict[str, Any]:
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
