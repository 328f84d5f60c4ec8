"""API keys: their text and hash, creation, and limits."""

import hashlib
import re
import secrets
from collections.abc import Callable
from typing import NamedTuple

from scan.database.connection import Database
from scan.errors import LimitReached, NotFound, RateLimited, ReplayedRequest
from scan.rate_limits.limiter import Limiter, requests_per_minute
from scan.settings import Settings

MAX_ACTIVE_KEYS = 10  # per owner
MAX_LABEL_CHARACTERS = 100
PREFIX_LENGTH = 12
_KEY = re.compile(r"scan_[0-9a-f]{64}")


class NewKey(NamedTuple):
    id: int
    text: str
    prefix: str
    hash: bytes


class ApiKey(NamedTuple):
    """An active key."""

    id: int
    owner: bytes
    requests_per_minute: int


def new_key(token_bytes: Callable[[int], bytes] = secrets.token_bytes) -> NewKey:
    """Return a new key: `scan_` and 256 random bits in hex, with a random id that cannot be
    enumerated."""
    text = "scan_" + token_bytes(32).hex()
    key_id = 1 + int.from_bytes(token_bytes(8)) % (2**53 - 1)
    return NewKey(key_id, text, text[:PREFIX_LENGTH], _hash(text))


def key_hash(text: str) -> bytes | None:
    """Return the SHA-256 of a well-formed key; None for any other text.

    Looking keys up by hash is safe against timing attacks: the hashes of similar keys have nothing
    in common.
    """
    return _hash(text) if _KEY.fullmatch(text) else None


def create(
    database: Database,
    limiter: Limiter,
    settings: Settings,
    *,
    owner: bytes,
    signed_at_ms: int,
    label: str,
    client_address: str,
) -> NewKey:
    """Create a key for an owner who signed a request for it at `signed_at_ms`.

    Raises ReplayedRequest if that request was used before, LimitReached if the owner has the
    maximum of keys, RateLimited if the client address has created too many.
    """
    key = new_key()
    with database.transaction() as tx:
        tx.execute("accounts/api_keys_lock_owner", owner=owner)
        [(is_replayed, active_keys, is_created)] = tx.rows(
            "accounts/api_keys_create",
            id=key.id,
            owner=owner,
            signed_at_ms=signed_at_ms,
            key_hash=key.hash,
            key_prefix=key.prefix,
            label=label,
            requests_per_minute=requests_per_minute(settings.rate_limit_key),
            max_keys=MAX_ACTIVE_KEYS,
        )
        # Within the transaction, so that a key beyond the limit is rolled back.
        charge = limiter.charge_new_key(client_address) if is_created else None
        if charge is not None and not charge.allowed:
            raise RateLimited(
                f"{charge.limit} API keys were created from your address, the maximum of"
                f" {settings.rate_limit_new_keys}; try again in {charge.retry_after_s} s.",
                headers={"Retry-After": str(charge.retry_after_s)},
            )
    if is_created:
        return key
    if is_replayed:
        raise ReplayedRequest("This signed request was already used; sign a new timestamp.")
    raise LimitReached(
        f"This owner has {active_keys} active API keys, the maximum; delete one first."
    )


def deactivate(database: Database, key_id: int, owner: bytes) -> None:
    """Deactivate a key. Raises NotFound if the owner has no active key with this id."""
    with database.transaction() as tx:
        if tx.value("accounts/api_keys_deactivate", id=key_id, owner=owner) is None:
            raise NotFound("This owner has no active API key with this id.")


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("ascii")).digest()
