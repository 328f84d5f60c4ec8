"""Signatures of wallets: a plain wallet's address is recovered, a contract wallet (ERC-1271) is
called through the node. The signed request for an API key: its message, its age and its signer; a
replay is refused by api_keys.py. Who may act for an address, and on a webhook: docs/webhooks.md.
"""

import hashlib
import logging
from typing import NamedTuple

from scan import errors
from scan.accounts.api_keys import ApiKey, Maker
from scan.database.connection import Database
from scan.ethereum import client, transaction_checks
from scan.ethereum.request_node import NodeAway, NodeSession
from scan.ethereum.rlp_and_tries import keccak256
from scan.hex import BadHex, data, to_hex

log = logging.getLogger(__name__)

TIMEOUT_S = 3.0
# The selector of isValidSignature(bytes32,bytes), which it returns if the signature is valid.
MAGIC_VALUE = bytes.fromhex("1626ba7e")
_GAS = 10_000_000  # verifying a passkey in Solidity takes some 400,000

_PARITY_OF_V = {0: 0, 1: 1, 27: 0, 28: 1}


class MalformedSignature(ValueError):
    """Bytes that cannot be a wallet's signature of a personal message."""


def parse_signature(signature_bytes: bytes) -> transaction_checks.Signature:
    """Parse the 65 bytes r, s, v, or the 64 of EIP-2098. Raises MalformedSignature with
    the reason."""
    r, s = int.from_bytes(signature_bytes[:32]), int.from_bytes(signature_bytes[32:64])
    size, v = len(signature_bytes), signature_bytes[64:]
    if size not in (64, 65):
        raise MalformedSignature(f"it must have 65 bytes (or 64, EIP-2098), not {size}")
    if v and v[0] not in _PARITY_OF_V:
        raise MalformedSignature(f"v must be 27, 28, 0 or 1, not {v[0]}")
    parity = _PARITY_OF_V[v[0]] if v else s >> 255
    s = s if v else s & (1 << 255) - 1
    for name, number in (("r", r), ("s", s)):
        if not 0 < number < transaction_checks.CURVE_ORDER:
            raise MalformedSignature(f"{name} is outside the curve's order")
    if s > transaction_checks.CURVE_ORDER // 2:
        raise MalformedSignature("s is in the upper half of the curve's order (EIP-2)")
    return transaction_checks.Signature(parity, r, s)


def is_accepted_by_contract(
    node: NodeSession, wallet: bytes, hashed: bytes, signature: bytes
) -> bool | None:
    """Return whether the contract at `wallet` accepts a signature; None if there is no contract, or
    the node does not respond: then only plain wallets can be verified.

    Raises Unavailable if too many requests wait for the node.
    """
    from eth_abi.abi import encode  # takes 0.3 s, with what eth_utils imports

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
    except (errors.UpstreamFailed, NodeAway, BadHex) as error:
        log.warning("the signature of a contract wallet could not be checked: %s", error)
        return None
    except client.RpcError as error:
        return False if error.is_refusal else None


MAX_AGE_MS, MAX_AHEAD_MS = 5 * 60_000, 60_000
MAX_SIGNATURE_BYTES = 8192  # a contract wallet's may consist of many signatures


def key_request_message(owner: bytes, timestamp_ms: int) -> str:
    """Return the three lines that a wallet signs as an EIP-191 personal message."""
    return f"Scan API Key Request\nAddress: {to_hex(owner)}\nTimestamp: {timestamp_ms}"


def require_recent(timestamp_ms: int, now_ms: int) -> None:
    """Raise InvalidParameter unless the signed Unix time in milliseconds is recent."""
    if now_ms - MAX_AGE_MS <= timestamp_ms <= now_ms + MAX_AHEAD_MS:
        return
    if abs(now_ms - timestamp_ms * 1000) < 86_400_000:
        reason = "is in seconds; it must be in milliseconds, also in the signed message"
    elif timestamp_ms < now_ms:
        reason = "is more than 5 minutes old; sign a new message"
    else:
        reason = "is more than 1 minute ahead; check the clock, or the unit (milliseconds)"
    raise errors.InvalidParameter(f"timestamp {reason}. It is now {now_ms}.", field="timestamp")


def require_signed(owner: bytes, timestamp_ms: int, signature: bytes, node: NodeSession) -> None:
    """Raise unless the owner signed: a plain wallet by recovery, a contract by ERC-1271.

    Raises InvalidParameter for a malformed signature, SignatureMismatch for another wallet's,
    Unavailable if too many requests wait for the node.
    """
    message = key_request_message(owner, timestamp_ms)
    content = message.encode()
    # What a wallet signs for a personal message (EIP-191), and ERC-1271 checks.
    hashed = keccak256(b"\x19Ethereum Signed Message:\n%d" % len(content) + content)
    malformed = None
    try:
        parsed = parse_signature(signature)
        if transaction_checks.recover_signer(hashed, parsed.to_bytes()) == owner:
            return
    except MalformedSignature as error:
        malformed = error
    is_accepted = is_accepted_by_contract(node, owner, hashed, signature)
    if is_accepted:
        return
    if is_accepted is None and malformed is not None:
        raise errors.InvalidParameter(f"signature is malformed: {malformed}.", field="signature")
    raise errors.SignatureMismatch(
        f"The signature is not by {to_hex(owner)} over the expected message, three lines"
        f" separated by a line feed: {message!r}.",
        field="signature",
    )


class Requester(NamedTuple):
    """The sender of a request: the API key that it was charged to, if any, the client address, the
    secret of a webhook, None if it sent none, and who makes what it makes.

    `has_address_alone` is False where other clients may come from the same address, as from behind
    a proxy that settings do not name: the address permits nothing then, nor where makers are known.
    """

    key: ApiKey | None
    client_address: str
    webhook_secret: str | None = None
    has_address_alone: bool = False
    maker: Maker = Maker()

    @property
    def own_address(self) -> str | None:
        return self.client_address if self.has_address_alone and self.maker == Maker() else None

    @property
    def secret_digest(self) -> bytes | None:
        """The SHA-256 of the secret. Digests are compared, as the time that it takes to compare two
        says nothing of the secret."""
        secret = self.webhook_secret
        return None if secret is None else hashlib.sha256(secret.encode()).digest()

    def has_key_of(self, owner: bytes) -> bool:
        return self.key is not None and self.key.owner == owner


def require_owner(database: Database, owner: bytes, requester: Requester, mode: str) -> None:
    """Raise MissingApiKey or OwnerMismatch unless the requester may act for the owner.

    `mode` is SCAN_OWNER_AUTH: `never` requires no key, `always` for every address, `claimed` if the
    address has ever had one, which only its wallet can obtain. It stays claimed when the last key
    is deleted: otherwise anybody could change its webhooks.
    """
    is_claimed = mode == "claimed" and database.value("accounts/owners_is_claimed", owner=owner)
    if mode == "always" or is_claimed:
        require_key_of(owner, requester.key)


def require_key_of(owner: bytes, key: ApiKey | None) -> None:
    if key is None:
        raise errors.MissingApiKey(
            f"This requires an API key of {to_hex(owner)} in the X-API-Key header."
        )
    if key.owner != owner:
        raise errors.OwnerMismatch(f"The API key does not belong to {to_hex(owner)}.")
