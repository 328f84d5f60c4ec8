"""Registration of webhooks and its rules: owner, URL, event types and limits."""

import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import NamedTuple

from scan import registry
from scan.accounts.owner_authorization import Requester, require_owner
from scan.cached_values import LazySequence
from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.environment import Network
from scan.errors import InvalidParameter, LimitReached, Unavailable
from scan.outbound import public_hosts
from scan.outbound.public_hosts import NotResolved, Purpose, RefusedUrl, WebhookUrl
from scan.rate_limits.turns import WaitingThreads
from scan.settings import Settings

# Without traces there are no internal transfers, and such a webhook would wait in vain.
EVENT_TYPES = LazySequence(
    lambda: (
        *("tx", "token_transfer"),
        *(("internal_transfer",) if registry.has("block_traces") else ()),
        *("dex_trade", "log"),
    )
)
MAX_TOPICS_PER_POSITION = 10
# Bounds on active webhooks.
MAX_PER_OWNER = 10
MAX_PER_WATCH_ADDRESS = 100
MAX_PER_CLIENT = 20  # of those registered without a key of the owner
MAX_ID = 2**53 - 1  # exact in JavaScript's numbers
SECRET_BYTES = 32
LOOKUP_TIMEOUT_S = 1.5


class UrlNotAllowed(InvalidParameter):
    """The webhook's host is not public, and no setting allows it."""


class NewWebhook(NamedTuple):
    owner: bytes
    watch_address: bytes
    url: str
    event_types: list[str]
    topics: str | None  # a filter in eth_getLogs's form, as JSON


class RegisteredWebhook(NamedTuple):
    id: int
    secret: str


class Counted(NamedTuple):
    """The parties whose active webhooks are counted. `client_address` is None if it is
    not limited."""

    owner: bytes
    watch_address: bytes
    client_address: str | None


def register(
    database: Database,
    settings: Settings,
    requester: Requester,
    webhook: NewWebhook,
    waiting_threads: WaitingThreads,
) -> RegisteredWebhook:
    """Register a webhook, whose name is looked up in a place of `waiting_threads`.

    Raises InvalidParameter, MissingApiKey, OwnerMismatch or LimitReached.
    """
    try:
        url = public_hosts.parse(webhook.url)
    except RefusedUrl as error:
        raise InvalidParameter(f"This url is not allowed: {error}.", field="url") from None
    require_owner(database, webhook.owner, requester, settings.owner_auth)
    place = waiting_threads.place_in_turn(requester.client_address, is_optional=True)
    _require_allowed(url, settings.webhook_allow_networks, place)  # last, as it looks up a name
    counted = counted_for(webhook.owner, webhook.watch_address, requester, settings)
    registered = RegisteredWebhook(1 + secrets.randbelow(MAX_ID), secrets.token_hex(SECRET_BYTES))
    with database.transaction() as tx:
        lock_counts(tx, counted)
        require_below_limits(tx, counted)
        tx.execute(
            "webhooks/webhooks_insert",
            id=registered.id,
            url=webhook.url,
            host=f"{url.host}:{url.port}",
            event_types=webhook.event_types,
            topics=webhook.topics,
            secret=registered.secret,
            now=datetime.now(UTC),
            **counted._asdict(),
        )
    return registered


def counted_for(
    owner: bytes, watch_address: bytes, requester: Requester, settings: Settings
) -> Counted:
    """Return the parties to count. The client address is not limited with a key of the owner, nor
    with SCAN_OWNER_AUTH=never."""
    is_unlimited = settings.owner_auth == "never" or requester.has_key_of(owner)
    return Counted(owner, watch_address, None if is_unlimited else requester.client_address)


def lock_counts(tx: Transaction, counted: Counted) -> None:
    """Lock the counts until the transaction ends. The lock must be taken before a queue's lock."""
    tx.execute("webhooks/webhooks_lock_counts", **counted._asdict())


def require_below_limits(tx: Transaction, counted: Counted) -> None:
    """Raise LimitReached if one more active webhook is not allowed."""
    [(by_owner, by_watch_address, by_client)] = tx.rows(
        "webhooks/webhooks_count_active", **counted._asdict()
    )
    if by_owner >= MAX_PER_OWNER:
        raise LimitReached(
            f"This owner has {by_owner} active webhooks, the maximum; delete one first."
        )
    if by_watch_address >= MAX_PER_WATCH_ADDRESS:
        raise LimitReached(f"{by_watch_address} active webhooks watch this address, the maximum.")
    if by_client >= MAX_PER_CLIENT:
        raise LimitReached(
            f"{by_client} active webhooks were registered from your address without a key of their"
            " owner, the maximum; send an API key of the owner, or delete one first."
        )


def _require_allowed(
    url: WebhookUrl, allowed: Sequence[Network], place: AbstractContextManager[None]
) -> None:
    """Raise UrlNotAllowed unless the URL's addresses are allowed. A name without an address passes,
    and so does one for whose look-up no place is free: it is checked again at every connection."""
    try:
        try:
            with place:
                addresses = public_hosts.resolve(url, LOOKUP_TIMEOUT_S, Purpose.REGISTRATION)
        except (NotResolved, Unavailable):
            addresses = []
        public_hosts.require_allowed(url, addresses, allowed)
    except RefusedUrl as error:
        raise UrlNotAllowed(f"This url is not allowed: {error}.", field="url") from None
