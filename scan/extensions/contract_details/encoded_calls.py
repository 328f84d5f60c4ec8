"""Calls of any function of a verified contract, encoded for a wallet to sign."""

from collections.abc import Sequence
from typing import NamedTuple

from scan.contracts.abi import AbiError, AbiType
from scan.contracts.abi_json import coerce
from scan.contracts.calldata_encoding import PreparedCall
from scan.contracts.proxy_contracts import Proxy
from scan.contracts.read_calls import abis_of
from scan.errors import InvalidParameter
from scan.hex import to_hex
from scan.queries.reader import Reader

_WEI = AbiType("uint", "uint256", 256)


class EncodedCall(NamedTuple):
    """The call of a function; `proxy` as in CallResult."""

    prepared: PreparedCall
    value_wei: int
    proxy: Proxy | None


def encode(
    reader: Reader,
    address: bytes,
    function: str,
    arguments: Sequence[object],
    value: object = 0,
    sender: bytes | None = None,
) -> EncodedCall:
    """Encode a call of any function. With a sender, the call is first tried on the node's newest
    state. Raises as ReadCalls.call() does."""
    calls, node = reader.sources.read_calls, reader.node
    prepared, proxy = calls.prepared(node, address, function, arguments, read_only=False)
    try:
        value_wei = int(coerce(_WEI, value, "value"))
    except AbiError as error:
        raise InvalidParameter(f"{error}.", field="value") from None
    if value_wei and prepared.function.mutability != "payable":
        signature = prepared.function.signature[:500]
        raise InvalidParameter(f"The function {signature} is not payable.", field="value")
    if sender is not None:
        call = {
            "from": to_hex(sender),
            "to": to_hex(address),
            "data": to_hex(prepared.calldata),
            "value": hex(value_wei),
        }
        calls.execute(node, call, abis_of(address, proxy), None)
    return EncodedCall(prepared, value_wei, proxy)
