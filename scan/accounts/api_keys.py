"""API keys: their text and hash, creation and limits; the lookup by their text for every request,
with a short-lived cache; and counts of requests and last use, kept in memory and written in
batches.
"""

import hashlib
import logging
import math
import re
import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from scan.database.connection import Database
from scan.database.outages import log_pause
from scan.errors import LimitReached, NotFound, RateLimited, ReplayedRequest, Unavailable
from scan.rate_limits.limiter import Limiter, requests_per_minute
from scan.rate_limits.window_storage import Window
from scan.settings import Settings

MAX_ACTIVE_KEYS = 10  # per owner
MAX_LABEL_CHARACTERS = 100
PREFIX_LENGTH = 12
SESSION_S = 7 * 86_400
MAX_SESSIONS = 1_000  # of a key
_KEY = re.compile(r"scan_[0-9a-f]{64}")
_SESSION = re.compile(r"[0-9a-f]{64}")


class NewKey(NamedTuple):
    id: int
    text: str
    prefix: str
    hash: bytes


class Maker(NamedTuple):
    """Who makes something that ends with them, where access needs a key: the key, or the person
    whom a proxy has signed in. Both are None where everybody has access."""

    maker_key: int | None = None
    maker_user: str | None = None


class ApiKey(NamedTuple):
    """An active key."""

    id: int
    owner: bytes | None  # None: an operator made it, for no wallet
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
    maker: Maker,
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
            **maker._asdict(),
        )
        # Within the transaction, so that a key beyond the limit is rolled back.
        window = Window(limiter.new_key_rate, client_address)
        charge = limiter.store.charge(window) if is_created else None
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


def deactivate(database: Database, key_id: int, owner: bytes | None) -> None:
    """Deactivate a key. Raises NotFound if the owner has no active key with this id."""
    with database.transaction() as tx:
        if tx.value("accounts/api_keys_deactivate", id=key_id, owner=owner) is None:
            raise NotFound("This owner has no active API key with this id.")


def begin_session(database: Database, key: ApiKey) -> str:
    """Return the secret of a new session of somebody who has signed in by a key. Its hash alone is
    stored, so that nothing in the database is a session."""
    secret = secrets.token_hex(32)
    with database.transaction() as tx:
        tx.execute(
            "accounts/sessions_create",
            session_hash=_hash(secret),
            key_id=key.id,
            seconds=SESSION_S,
            max_sessions=MAX_SESSIONS,
        )
    return secret


def end_session(database: Database, secret: str) -> None:
    if (hashed := session_hash(secret)) is not None:
        with database.transaction() as tx:
            tx.execute("accounts/sessions_delete", session_hash=hashed)


def session_hash(secret: str) -> bytes | None:
    """Return the SHA-256 of a session's secret; None for what is none."""
    return _hash(secret) if _SESSION.fullmatch(secret) else None


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("ascii")).digest()


# A key revoked in another process stops working here within this time; the docs promise 5 s.
CACHED_S = 3.0
# A key whose response is still being sent is looked up again while the last look-up counts.
LOOKED_UP_BEFORE_S = 1.5
# Unknown keys are cached too, so that a client with a wrong key does not cause a query a request.
MAX_CACHED = 10_000
# While the database is unavailable, one lookup in this time waits for it; the others do not.
PAUSE_AFTER_FAILURE_S = 1.0


_Sought = tuple[str, bytes]  # the statement that finds a key, the hash of its text or of a session


class CachedKey(NamedTuple):
    key: ApiKey | None  # None for a key that is malformed, unknown or inactive
    until: float


class ApiKeyLookup:
    """The lookup of active keys, each `given` by its text, or by the hash of a session. While
    `database` is unavailable, keys are read from its replica, if there is one."""

    def __init__(
        self,
        database: Database,
        replica: Database | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        most_cached: int = MAX_CACHED,
    ) -> None:
        self._database = database
        self._replica = replica
        self._most_cached = most_cached
        self._clock = clock
        self._cache: OrderedDict[_Sought, CachedKey] = OrderedDict()
        self._lock = threading.Lock()
        self._paused_until = 0.0
        self._due: set[_Sought] = set()  # to be looked up by the thread
        self._threads: ThreadPoolExecutor | None = None

    def find(self, given: str | bytes) -> ApiKey | None:
        """Return the active key; None if it is malformed, unknown or inactive. Raises
        Unavailable."""
        cached, sought = self.find_cached(given), _sought(given)
        if cached is None and sought is not None:
            cached = self._find_anew(sought)
        return cached and cached.key

    def find_cached(self, given: str | bytes) -> CachedKey | None:
        """Return the result of find() if it is known without a query, else None. Never wait."""
        sought = _sought(given)
        if sought is None:
            return CachedKey(None, math.inf)
        cached = self._cache.get(sought)
        return cached if cached is not None and cached.until > self._clock() else None

    def is_in_force(self, given: str | bytes) -> bool:
        """Return whether a key that was active still is, as far as it is known, which is looked up
        again in a thread: an end is known CACHED_S later at the latest. Never wait."""
        sought = _sought(given)
        if sought is None:
            return False
        cached = self._cache.get(sought)
        if cached is None or cached.until - self._clock() < LOOKED_UP_BEFORE_S:
            with self._lock:
                if sought not in self._due:
                    self._due.add(sought)
                    self._threads = self._threads or ThreadPoolExecutor(1, "keys-in-use")
                    self._threads.submit(self._look_again, sought)
        return cached is None or cached.key is not None

    def _look_again(self, sought: _Sought) -> None:
        try:
            self._find_anew(sought)
        except Unavailable as error:
            log.debug("whether a key is still active is not known: %s", error)
        finally:
            with self._lock:
                self._due.discard(sought)

    def _find_anew(self, sought: _Sought) -> CachedKey:
        now, cache = self._clock(), self._cache
        cached = CachedKey(self._look_up(sought, now), now + CACHED_S)
        with self._lock:
            cache[sought] = cached
            cache.move_to_end(sought)
            if len(cache) > self._most_cached:
                cache.popitem(last=False)
        return cached

    def clear_cache(self) -> None:
        """Forget keys after one was revoked in this process, so that it stops working at once: what
        a look-up has read before, and keeps later, it keeps in the former cache."""
        self._cache = OrderedDict()

    def _look_up(self, sought: _Sought, now: float) -> ApiKey | None:
        try:
            if now < self._paused_until:
                raise Unavailable("The API key cannot be checked now; try again shortly.")
            return _read_key(self._database, sought)
        except Unavailable:
            # Lookups that failed without waiting do not prolong the pause.
            if now >= self._paused_until:
                self._paused_until = self._clock() + PAUSE_AFTER_FAILURE_S
            if self._replica is None:
                raise
            return _read_key(self._replica, sought)


def _sought(given: str | bytes) -> _Sought | None:
    """Return None where a text is malformed."""
    if isinstance(given, bytes):
        return "accounts/sessions_find", given
    hashed = key_hash(given)
    return None if hashed is None else ("accounts/api_keys_find", hashed)


def _read_key(database: Database, sought: _Sought) -> ApiKey | None:
    row = database.row(sought[0], hash=sought[1])
    if row is None:
        return None
    id_, owner, limit = row
    return ApiKey(id_, None if owner is None else bytes(owner), limit)


log = logging.getLogger(__name__)

# The docs promise that totalRequests is exact to the second.
FLUSH_EVERY_S = 0.5


class KeyUsage:
    """The counts of this process. Its thread starts with the first count, and so after a fork."""

    def __init__(self, database: Database, flush_every_s: float = FLUSH_EVERY_S) -> None:
        self._database = database
        self._flush_every_s = flush_every_s
        self._requests: Counter[int] = Counter()  # by key
        self._used_at: dict[int, float] = {}  # Unix seconds of the last one
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def count(self, key_id: int, now: float) -> None:
        with self._lock:
            self._add({key_id: 1}, {key_id: now})
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="key-usage", daemon=True)
                thread.start()
                self._thread = thread

    def flush(self) -> None:
        """Write the counts, which are kept if that fails. Raises Unavailable."""
        with self._flushing:
            with self._lock:
                requests, self._requests = self._requests, Counter()
                used_at, self._used_at = self._used_at, {}
            if not requests:
                return
            try:
                # A transaction is never repeated, as rows() may be.
                with self._database.transaction() as transaction:
                    transaction.execute(
                        "accounts/api_keys_count_uses",
                        ids=list(requests),
                        requests=list(requests.values()),
                        used_at=[used_at[key_id] for key_id in requests],
                    )
            except BaseException:
                with self._lock:
                    self._add(requests, used_at)
                raise

    def close(self) -> None:
        """Stop the thread and write the remaining counts."""
        self._closed.set()
        try:
            self.flush()
        except Unavailable as error:
            log.error("usage counts of API keys were lost at shutdown: %s", error)

    def _add(self, requests: dict[int, int], used_at: dict[int, float]) -> None:
        self._requests.update(requests)
        for key_id, moment in used_at.items():
            self._used_at[key_id] = max(moment, self._used_at.get(key_id, 0.0))

    def _run(self) -> None:
        while not self._closed.wait(self._flush_every_s):
            try:
                self.flush()
            except Exception as error:
                log_pause(log, "cannot write usage counts of API keys, retrying", error)
