"""Signatures on secp256k1, of wallets' messages and of authorizations, and their signers. Pure."""

from typing import NamedTuple

from coincurve import PublicKey

from scan.ethereum.keccak import keccak256

# Order of secp256k1 (SEC 2, 2.4.1). EIP-2 allows only the lower half of s, so that nobody can
# turn a signature into a second valid one.
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


class Signature(NamedTuple):
    y_parity: int
    r: int
    s: int

    @property
    def is_in_range(self) -> bool:
        """Whether its values are those of a valid signature in its one canonical form (EIP-2)."""
        is_in_curve = 0 < self.r < CURVE_ORDER and 0 < self.s <= CURVE_ORDER // 2
        return is_in_curve and self.y_parity in (0, 1)


def recover_signer(hashed: bytes, signature: Signature) -> bytes | None:
    """Return the 20-byte address that signed a message hash; None if r is not on the curve."""
    signature_bytes = signature.r.to_bytes(32) + signature.s.to_bytes(32)
    try:
        key = PublicKey.from_signature_and_message(
            signature_bytes + bytes([signature.y_parity]), hashed, hasher=None
        )
    except ValueError:
        return None
    return keccak256(key.format(compressed=False)[1:])[12:]
