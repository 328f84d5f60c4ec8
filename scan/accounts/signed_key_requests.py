"""The signed request for an API key: its message, its age and its signer.

A replay is refused by api_keys.py.
"""

from scan.accounts.wallet_signatures import (
    MalformedSignature,
    is_accepted_by_contract,
    message_hash,
    parse_signature,
)
from scan.errors import InvalidParameter, SignatureMismatch
from scan.ethereum.request_node import NodeSession
from scan.ethereum.signatures import recover_signer
from scan.hex import to_hex

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
    raise InvalidParameter(f"timestamp {reason}. It is now {now_ms}.", field="timestamp")


def require_signed(owner: bytes, timestamp_ms: int, signature: bytes, node: NodeSession) -> None:
    """Raise unless the owner signed: a plain wallet by recovery, a contract by ERC-1271.

    Raises InvalidParameter for a malformed signature, SignatureMismatch for another wallet's,
    Unavailable if too many requests wait for the node.
    """
    message = key_request_message(owner, timestamp_ms)
    hashed = message_hash(message)
    signer, malformed = None, None
    try:
        signer = recover_signer(hashed, parse_signature(signature))
    except MalformedSignature as error:
        malformed = error
    if signer == owner:
        return
    is_accepted = is_accepted_by_contract(node, owner, hashed, signature)
    if is_accepted:
        return
    if is_accepted is None and malformed is not None:
        raise InvalidParameter(f"signature is malformed: {malformed}.", field="signature")
    raise SignatureMismatch(
        f"The signature is not by {to_hex(owner)} over the expected message, three lines"
        f" separated by a line feed: {message!r}.",
        field="signature",
    )
