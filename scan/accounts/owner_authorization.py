"""Who may act for an address: docs/keys-and-limits.md."""

from scan.accounts.api_keys import ApiKey
from scan.database.connection import Database
from scan.errors import MissingApiKey, OwnerMismatch
from scan.hex import to_hex


def is_claimed(database: Database, owner: bytes) -> bool:
    """Whether the address has ever had an API key, which only its wallet can obtain.

    Deleting the last key leaves it claimed: what it registered is not everybody's then.
    """
    return bool(database.value("accounts/owners_is_claimed", owner=owner))


def require_owner(owner: bytes, key: ApiKey | None, mode: str, claimed: bool) -> None:
    """Raises MissingApiKey or OwnerMismatch unless the key may act for the owner.

    `mode` is SCAN_OWNER_AUTH: `never` asks for nothing, `claimed` only where the address is
    claimed, `always` everywhere.
    """
    if mode == "never" or (mode == "claimed" and not claimed):
        return
    require_key_of(owner, key)


def require_key_of(owner: bytes, key: ApiKey | None) -> None:
    if key is None:
        raise MissingApiKey(
            f"This needs an API key of {to_hex(owner)}, sent in the X-API-Key header."
        )
    if key.owner != owner:
        raise OwnerMismatch(f"The API key sent belongs to another address than {to_hex(owner)}.")
