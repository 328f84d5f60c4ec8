"""Who may act for an address, and on a webhook; see docs/webhooks.md."""

import hashlib
from typing import NamedTuple

from scan.accounts.api_keys import ApiKey
from scan.database.connection import Database
from scan.errors import MissingApiKey, OwnerMismatch
from scan.hex import to_hex


class Requester(NamedTuple):
    """The sender of a request: the API key that it was charged to, if any, the client address, and
    the secret of a webhook, None if it sent none.

    `has_address_alone` is False where other clients may come from the same address, as from behind
    a proxy that settings do not name: the address permits nothing then.
    """

    key: ApiKey | None
    client_address: str
    webhook_secret: str | None = None
    has_address_alone: bool = False

    @property
    def own_address(self) -> str | None:
        return self.client_address if self.has_address_alone else None

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
        raise MissingApiKey(f"This requires an API key of {to_hex(owner)} in the X-API-Key header.")
    if key.owner != owner:
        raise OwnerMismatch(f"The API key does not belong to {to_hex(owner)}.")
