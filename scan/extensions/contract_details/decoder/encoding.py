"""Calldata of a function, by its typed signature or by the verified ABI of an address."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError
from scan.contracts.calldata_encoding import PreparedCall, prepare
from scan.contracts.function_lookup import NoSuchFunction
from scan.contracts.signature_text import parse_signature
from scan.errors import InvalidParameter
from scan.extensions.contract_details import encoded_calls
from scan.hex import to_hex
from scan.queries.reader import Reader

FIELD = "functionName"


class EncodedCall(NamedTuple):
    """A call; `address` is None where it is of no certain contract."""

    prepared: PreparedCall
    address: bytes | None

    def record(self) -> dict[str, Any]:
        function = self.prepared.function
        return {
            "to": None if self.address is None else to_hex(self.address),
            "data": to_hex(self.prepared.calldata),
            "function": function.signature,
            "selector": to_hex(function.selector),
        }


def entry_of(signature: str) -> dict[str, Any]:
    """Return a typed signature as an ABI's entry; raises InvalidParameter."""
    try:
        return {"type": "function", **parse_signature(signature)}
    except AbiError as error:
        raise InvalidParameter(f"The function is not a signature: {error}.", field=FIELD) from None


def encode(
    reader: Reader, function: str, arguments: Sequence[object], address: bytes | None = None
) -> EncodedCall:
    """Encode a call of `function`: a signature, or of an address also the name of a function.

    Raises InvalidParameter, NotFound for an address without a verified source, Unavailable.
    """
    if address is not None:
        encoded = encoded_calls.encode(reader, address, function, arguments)
        return EncodedCall(encoded.prepared, address)
    entry = entry_of(function)
    try:
        prepared = prepare([entry], entry["name"], arguments, read_only=False)
    except NoSuchFunction as error:
        raise InvalidParameter(f"{error}.", field=FIELD) from None
    except AbiError as error:
        raise InvalidParameter(f"{str(error)[:2000]}.", field="args") from None
    return EncodedCall(prepared, None)
