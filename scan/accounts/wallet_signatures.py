"""Signatures of wallets: a plain wallet's address is recovered, a contract wallet (ERC-1271) is
called through the node.
"""

import logging

from eth_abi.abi import encode
from eth_hash.auto import keccak

from scan.errors import UpstreamFailed
from scan.ethereum.client import RpcError
from scan.ethereum.request_node import NodeAway, NodeSession
from scan.ethereum.signatures import CURVE_ORDER, Signature
from scan.hex import BadHex, data, to_hex

log = logging.getLogger(__name__)

TIMEOUT_S = 3.0
# The selector of isValidSignature(bytes32,bytes), which it returns if the signature is valid.
MAGIC_VALUE = bytes.fromhex("1626ba7e")
_GAS = 10_000_000  # verifying a passkey in Solidity takes some 400,000

_PARITY_OF_V = {0: 0, 1: 1, 27: 0, 28: 1}


class MalformedSignature(ValueError):
    """Bytes that cannot be a wallet's signature of a personal message."""


def message_hash(message: str) -> bytes:
    """Return the 32 bytes that a wallet signs for a personal message (EIP-191), and that ERC-1271
    checks."""
    content = message.encode()
    return keccak(b"\x19Ethereum Signed Message:\n%d" % len(content) + content)


def parse_signature(signature_bytes: bytes) -> Signature:
    """Parse the 65 bytes r, s, v, or the 64 of EIP-2098. Raises MalformedSignature with
    the reason."""
    signature = _split(signature_bytes)
    for name, number in (("r", signature.r), ("s", signature.s)):
        if not 0 < number < CURVE_ORDER:
            raise MalformedSignature(f"{name} is outside the curve's order")
    if signature.s > CURVE_ORDER // 2:
        raise MalformedSignature("s is in the upper half of the curve's order (EIP-2)")
    return signature


def _split(signature: bytes) -> Signature:
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:64])
    if len(signature) == 64:
        return Signature(s >> 255, r, s & (1 << 255) - 1)
    if len(signature) != 65:
        raise MalformedSignature(f"it must have 65 bytes (or 64, EIP-2098), not {len(signature)}")
    if signature[64] not in _PARITY_OF_V:
        raise MalformedSignature(f"v must be 27, 28, 0 or 1, not {signature[64]}")
    return Signature(_PARITY_OF_V[signature[64]], r, s)


def is_accepted_by_contract(
    node: NodeSession, wallet: bytes, hashed: bytes, signature: bytes
) -> bool | None:
    """Return whether the contract at `wallet` accepts a signature; None if there is no contract, or
    the node does not respond: then only plain wallets can be verified.

    Raises Unavailable if too many requests wait for the node.
    """
    node = node.within(TIMEOUT_S)
    try:
        if not data(node.call("eth_getCode", to_hex(wallet), "latest")):
            return None
        call = {
            "to": to_hex(wallet),
            "gas": hex(_GAS),
            "data": to_hex(MAGIC_VALUE + encode(["bytes32", "bytes"], [hashed, signature])),
        }
        returned = data(node.call("eth_call", call, "latest"))
        return returned[:32] == MAGIC_VALUE.ljust(32, b"\0")
    except (UpstreamFailed, NodeAway, BadHex) as error:
        log.warning("the signature of a contract wallet could not be checked: %s", error)
        return None
    except RpcError as error:
        return False if error.is_refusal else None
