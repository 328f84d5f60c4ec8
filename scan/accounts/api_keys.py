"""API keys as text and as what is stored of them."""

import hashlib
import re
import secrets
from collections.abc import Callable
from typing import NamedTuple

PREFIX_LENGTH = 12
_KEY = re.compile(r"scan_[0-9a-f]{64}")


class NewKey(NamedTuple):
    id: int
    text: str
    prefix: str
    hash: bytes


class ApiKey(NamedTuple):
    """An active key, as every request sees it."""

    id: int
    owner: bytes
    requests_per_minute: int


def new_key(token_bytes: Callable[[int], bytes] = secrets.token_bytes) -> NewKey:
    """256 random bits as `scan_` + 64 hex, and an id that nobody can count through."""
    text = "scan_" + token_bytes(32).hex()
    key_id = 1 + int.from_bytes(token_bytes(8)) % (2**53 - 1)
    return NewKey(key_id, text, text[:PREFIX_LENGTH], _hash(text))


def key_hash(text: str) -> bytes | None:
    """SHA-256 of a well-formed key, the only thing ever looked up; None for any other text.

    Comparing hashes of 256 random bits tells a guesser nothing through time: the next guess's
    hash has nothing in common with this one's.
    """
    return _hash(text) if _KEY.fullmatch(text) else None


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("ascii")).digest()
