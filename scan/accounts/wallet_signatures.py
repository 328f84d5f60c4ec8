"""Signatures of plain wallets: accepted formats, and recovery of the signer's address."""

from typing import NamedTuple

from eth_hash.auto import keccak
from eth_keys.datatypes import Signature
from eth_keys.exceptions import BadSignature

# Order of secp256k1 (SEC 2, 2.4.1). EIP-2 allows only the lower half of s, so that nobody can
# turn a signature into a second valid one.
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_PARITY_OF_V = {0: 0, 1: 1, 27: 0, 28: 1}


class MalformedSignature(ValueError):
    """Bytes that cannot be a wallet's signature of a personal message."""


class WalletSignature(NamedTuple):
    y_parity: int
    r: int
    s: int


def message_hash(message: str) -> bytes:
    """The 32 bytes that a wallet signs for a personal message (EIP-191), and ERC-1271 checks."""
    content = message.encode()
    return keccak(b"\x19Ethereum Signed Message:\n%d" % len(content) + content)


def parse_signature(data: bytes) -> WalletSignature:
    """65 bytes r, s, v, or the 64 of EIP-2098; raises MalformedSignature with the reason."""
    signature = _split(data)
    for name, number in (("r", signature.r), ("s", signature.s)):
        if not 0 < number < CURVE_ORDER:
            raise MalformedSignature(f"{name} is outside the curve's order")
    if signature.s > CURVE_ORDER // 2:
        raise MalformedSignature("s is in the upper half of the curve's order (EIP-2)")
    return signature


def _split(data: bytes) -> WalletSignature:
    r, s = int.from_bytes(data[:32]), int.from_bytes(data[32:64])
    if len(data) == 64:
        return WalletSignature(s >> 255, r, s & (1 << 255) - 1)
    if len(data) != 65:
        raise MalformedSignature(f"it must have 65 bytes (or 64, EIP-2098), not {len(data)}")
    if data[64] not in _PARITY_OF_V:
        raise MalformedSignature(f"v must be 27, 28, 0 or 1, not {data[64]}")
    return WalletSignature(_PARITY_OF_V[data[64]], r, s)


def recover_signer(hashed: bytes, signature: WalletSignature) -> bytes | None:
    """The 20-byte address that signed a message hash, or None if r is not on the curve."""
    # Not eth-account's recover_message: importing it takes 40 % of the service's start.
    vrs = (signature.y_parity, signature.r, signature.s)
    try:
        public_key = Signature(vrs=vrs).recover_public_key_from_msg_hash(hashed)
    except BadSignature:
        return None
    return public_key.to_canonical_address()
