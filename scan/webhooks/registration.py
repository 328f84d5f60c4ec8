"""Registration of webhooks and its rules (owner, URL, event types and limits), an owner's webhooks,
and actions on one: stop, activate, change, delete, test, rotate its secret, retry a delivery,
replay those of a span of time, change its addresses.

A webhook is managed with a key of its owner, with its secret, or from the client address that
registered it, as long as the owner has never had a key. Others see its URL without the path.
"""

import json
import secrets
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from scan.accounts.wallet_signatures import Requester, require_owner
from scan.cached_values import LazyMapping
from scan.concurrency.waiting_threads import WaitingThreads
from scan.database import lists, transaction
from scan.database.connection import Database
from scan.errors import InvalidParameter, LimitReached, NotFound, OwnerMismatch, Unavailable
from scan.outbound import allowed_urls
from scan.outbound.allowed_urls import HttpUrl, NotResolved, Purpose, RefusedUrl
from scan.parameters import Faults, require
from scan.registry import enabled
from scan.settings import Settings
from scan.webhooks import endings

EVENT_TYPES = LazyMapping(
    lambda: {
        name: event
        for name, event in lists.all_event_types().items()
        if event.extension is None or event.extension in enabled()
    }
)
"""The types of events that are indexed, by name."""
MAX_TOPICS_PER_POSITION = 10
# Bounds on active webhooks. An address's own, of an owner with a key who watches that address, are
# bounded by MAX_PER_OWNER alone, so that others cannot take their places.
MAX_PER_OWNER = 10
MAX_PER_WATCH_ADDRESS = 100
MAX_PER_CLIENT = 20  # of each watched address; of all, those of owners without an established key
ESTABLISHED_AFTER = timedelta(days=7)  # from the owner's first key on: anybody makes new wallets
# Bounds on the addresses of webhooks with a list, which stopped ones keep.
MAX_ADDRESSES = 100_000
MAX_ADDRESSES_WITH_LOGS = 1_000  # the indexer keeps the emitters whose logs are sent in memory
MAX_ADDRESSES_PER_OWNER = 1_000_000
# Of all lists, as list_cost() in sql/schema counts them. Those from one network have a tenth at
# most of what others leave, so that none takes all. Registrations at one time may exceed it.
MAX_LIST_COST = 10_000_000
NETWORKS = 10
DELETED_AT_ONCE = 5_000  # addresses, in a transaction
MAX_TOKENS = 100
MAX_CONFIRMATIONS = 1_000
MAX_ID = 2**53 - 1  # exact in JavaScript's numbers
SECRET_BYTES = 32
FORMER_SECRET_KEPT = timedelta(hours=24)
# By a replay: half of what stops a webhook (scan/indexer/derivation.py).
MAX_WAITING, MAX_BYTES_WAITING = 5_000, 16 * 1024 * 1024
LOOKUP_TIMEOUT_S = 1.5


class UrlNotAllowed(InvalidParameter):
    """The webhook's host is not public, and no setting allows it."""


class Narrowing(NamedTuple):
    """Which events of its addresses a webhook gets, and how many blocks behind the head: each None
    does not narrow them, or waits for SCAN_CONFIRMATIONS."""

    direction: str | None = None  # of transactions and transfers: "in" or "out"
    tokens: list[bytes] | None = None  # of token transfers and trades
    minimum_value: int | None = None  # of transactions and transfers, in units of their `value`
    minimum_values: dict[str, str] | None = None  # in its place: by "coin" and tokens' addresses
    confirmations: int | None = None


class NewWebhook(NamedTuple):
    owner: bytes
    watch_address: bytes | None  # None: it watches `addresses`
    addresses: list[bytes] | None  # without duplicates
    url: str
    event_types: list[str]
    topics: list[object] | None  # a filter in eth_getLogs's form
    format: str | None  # of messages; None: signed JSON
    narrowing: Narrowing


class RegisteredWebhook(NamedTuple):
    id: int
    secret: str


class Counted(NamedTuple):
    """The parties whose active webhooks are counted. `client_address` is None if it is not limited,
    as with SCAN_OWNER_AUTH=never."""

    owner: bytes
    watch_address: bytes | None  # None: a list
    client_address: str | None


def register(
    database: Database,
    settings: Settings,
    requester: Requester,
    waiting_threads: WaitingThreads,
    webhook: NewWebhook,
) -> RegisteredWebhook:
    """Register a webhook, whose name is looked up in a place of `waiting_threads`.

    Raises InvalidParameter, MissingApiKey, OwnerMismatch or LimitReached.
    """
    require_owner(database, webhook.owner, requester, settings.owner_auth)
    # last, as it looks up a name
    host = _allowed_host(webhook.url, settings, waiting_threads, requester.client_address)
    client_address = None if settings.owner_auth == "never" else requester.client_address
    counted = Counted(webhook.owner, webhook.watch_address, client_address)
    registered = RegisteredWebhook(1 + secrets.randbelow(MAX_ID), secrets.token_hex(SECRET_BYTES))
    narrowing = webhook.narrowing._asdict()
    with database.transaction() as tx:
        lock_counts(tx, counted)
        require_below_limits(tx, counted)
        if webhook.addresses is not None:
            count = len(webhook.addresses)
            _require_addresses_allowed(tx, counted, webhook.event_types, count, is_new=True)
        tx.execute(
            "webhooks/webhooks_insert",
            id=registered.id,
            url=webhook.url,
            host=host,
            event_types=webhook.event_types,
            topics=_json(webhook.topics),
            format=webhook.format,
            secret=registered.secret,
            now=_now(),
            addresses=webhook.addresses,
            address_count=1 if webhook.addresses is None else len(webhook.addresses),
            **{**narrowing, "minimum_values": _json(narrowing["minimum_values"])},
            **counted._asdict(),
            **requester.maker._asdict(),
        )
    return registered


def lock_counts(tx: transaction.Transaction, counted: Counted) -> None:
    """Lock the counts until the transaction ends. The lock must be taken before a queue's lock."""
    tx.execute("webhooks/webhooks_lock_counts", **counted._asdict())


def require_below_limits(tx: transaction.Transaction, counted: Counted) -> None:
    """Raise LimitReached if one more active webhook is not allowed."""
    [(by_owner, others, others_of_client, new_of_client, is_own, is_established)] = tx.rows(
        "webhooks/webhooks_count_active",
        established_before=_now() - ESTABLISHED_AFTER,
        **counted._asdict(),
    )
    if by_owner >= MAX_PER_OWNER:
        raise LimitReached(
            f"This owner has {by_owner} active webhooks, the maximum; delete one first."
        )
    if is_own:
        return
    if others >= MAX_PER_WATCH_ADDRESS:
        raise LimitReached(
            f"{others} active webhooks watch this address, the maximum; an API key of this address"
            " registers others."
        )
    if others_of_client >= MAX_PER_CLIENT:
        raise LimitReached(
            f"{others_of_client} active webhooks that watch this address were registered from your"
            " address, the maximum; delete one first."
        )
    if new_of_client >= MAX_PER_CLIENT and not is_established:
        raise LimitReached(
            f"{new_of_client} active webhooks were registered from your address for owners without"
            f" an API key older than {ESTABLISHED_AFTER.days} days, the maximum; send an API key of"
            " the owner and watch the owner's address, or delete one first."
        )


def _require_addresses_allowed(
    tx: transaction.Transaction,
    counted: Counted,
    event_types: Collection[str],
    count: int,
    *,
    is_new: bool = False,
) -> None:
    """Raise LimitReached if a list may not have `count` addresses, which are in the database unless
    it is new. The caller has locked the counts."""
    has_logs = "log" in event_types
    most = MAX_ADDRESSES_WITH_LOGS if has_logs else MAX_ADDRESSES
    if count > most:
        raise LimitReached(
            f"This webhook would watch {count:,} addresses, and may watch {most:,}"
            f"{' with the event type log' if has_logs else ''}."
        )
    [(of_owner, of_network, of_others)] = tx.rows(
        "webhooks/addresses_count",
        owner=counted.owner,
        client_address=counted.client_address,
        new_addresses=count if is_new else None,
        event_types=list(event_types),
    )
    if of_owner > MAX_ADDRESSES_PER_OWNER:
        raise LimitReached(
            f"The webhooks of this owner would watch {of_owner:,} addresses, and may"
            f" watch {MAX_ADDRESSES_PER_OWNER:,}."
        )
    share = (MAX_LIST_COST - of_others) // (1 if counted.client_address is None else NETWORKS)
    if of_network > share:
        raise LimitReached(
            f"The lists that were registered from your network would count as {of_network:,}"
            f" addresses, and may count as {share:,}: a list counts as 5,000 at least, and with the"
            " event type log as 100 for each."
        )


def parse_url(text: str) -> HttpUrl:
    """Parse a receiver's URL. Raises InvalidParameter."""
    try:
        return allowed_urls.parse(text, Purpose.REGISTRATION)
    except RefusedUrl as error:
        raise InvalidParameter(f"This url is not allowed: {error}.", field="url") from None


def require_narrowable(narrowing: Narrowing, event_types: Collection[str]) -> None:
    """Raise InvalidParameter for a narrowing that none of the event types has."""
    events, faults = [EVENT_TYPES[name] for name in event_types], Faults()
    least = narrowing.minimum_values if narrowing.minimum_value is None else narrowing.minimum_value
    for field, is_given, are_narrowed, having in (
        ("direction", narrowing.direction, [e.has_direction for e in events], "senders"),
        ("tokens", narrowing.tokens, [bool(e.tokens) for e in events], "tokens"),
        ("minimumValue", least, [bool(e.value) for e in events], "values"),
    ):
        reason = f"{field} requires an event type with {having}."
        faults.read(require, is_given is None or any(are_narrowed), field, reason)
    faults.raise_found()


def _allowed_host(
    text: str, settings: Settings, waiting_threads: WaitingThreads, client_address: str
) -> str:
    """Return a URL's host and port; raise UrlNotAllowed unless its addresses are allowed. A public
    name without an address passes, and so does one for whose look-up no place is free: it is
    checked again at every connection. Any other is looked up in turn, as only its addresses can
    allow it."""
    url = parse_url(text)
    try:
        is_public = True  # as far as is known without addresses
        try:
            allowed_urls.require_allowed(url, [], ())
        except RefusedUrl:
            is_public = False
        try:
            with waiting_threads.place_in_turn(client_address, is_optional=is_public):
                addresses = allowed_urls.resolve(url, LOOKUP_TIMEOUT_S, Purpose.REGISTRATION)
        except (NotResolved, Unavailable):
            addresses = []
        allowed_urls.require_allowed(url, addresses, settings.webhook_allow_networks)
    except RefusedUrl as error:
        raise UrlNotAllowed(f"This url is not allowed: {error}.", field="url") from None
    return f"{url.host}:{url.port}"


class Webhook(NamedTuple):
    """A webhook that the requester may act on."""

    id: int
    owner: bytes
    watch_address: bytes | None  # None: it watches a list
    is_active: bool
    client_address: str | None  # that it is counted for
    event_types: list[str]
    address_count: int


def webhooks_of(database: Database, settings: Settings, requester: Requester, owner: bytes) -> str:
    """Return the JSON text of an owner's webhooks, with the whole URLs of those that the requester
    may act on. Raises MissingApiKey, OwnerMismatch."""
    require_owner(database, owner, requester, settings.owner_auth)
    text: str = database.value(
        "webhooks/webhooks_list",
        owner=owner,
        is_owner=settings.owner_auth == "never" or requester.has_key_of(owner),
        client_address=requester.own_address,
        secret_digest=requester.secret_digest,
        **requester.maker._asdict(),
    )
    return text


def managed_webhook(
    database: Database, settings: Settings, requester: Requester, webhook_id: int
) -> Webhook:
    """Return a webhook that the requester may act on. Raises NotFound, also to a key that is not
    its claimed owner's; MissingApiKey if a key is required and none was sent; OwnerMismatch."""
    row = database.row(
        "webhooks/webhooks_get_owner",
        webhook_id=webhook_id,
        secret_digest=requester.secret_digest,
        **requester.maker._asdict(),
    )
    if row is None:
        raise _not_found()
    owner, watch_address, is_active, registered_from, has_secret, event_types, is_maker, count = row
    watched = None if watch_address is None else bytes(watch_address)
    webhook = Webhook(
        webhook_id, bytes(owner), watched, is_active, registered_from, event_types, count
    )
    if has_secret or requester.has_key_of(webhook.owner):
        return webhook
    try:
        require_owner(database, webhook.owner, requester, settings.owner_auth)
    except OwnerMismatch:
        raise _not_found() from None
    is_registrant = requester.own_address is not None and requester.own_address == registered_from
    if settings.owner_auth != "never" and not is_registrant and not is_maker:
        raise OwnerMismatch(
            "This webhook is changed with its secret in the X-Webhook-Secret header, with an API"
            " key of its owner, or from the address that registered it."
        )
    return webhook


def change(
    database: Database,
    settings: Settings,
    requester: Requester,
    waiting_threads: WaitingThreads,
    webhook: Webhook,
    changed: Mapping[str, Any],
    is_active: bool | None,
) -> None:
    """Change columns of a webhook to these values. Unless `is_active` is None, activate it, or stop
    it and cancel its pending deliveries. Raises InvalidParameter, LimitReached by the same limits
    as a registration, and then changes nothing."""
    host = None
    if "url" in changed:
        host = _allowed_host(changed["url"], settings, waiting_threads, requester.client_address)
    client_address = webhook.client_address
    if settings.owner_auth == "never":
        client_address = None
    elif requester.has_key_of(webhook.owner) and webhook.watch_address is not None:
        client_address = requester.client_address  # a list stays with who registered it
    of_webhook = {"webhook_id": webhook.id, "secret_digest": None, **requester.maker._asdict()}
    with database.transaction() as tx:
        lock_counts(tx, Counted(webhook.owner, None, None))  # it may have been changed meanwhile
        rows = tx.rows("webhooks/webhooks_get_owner", **of_webhook)
        before = bytes(rows[0][1]) if rows and rows[0][1] else None
        watched = changed.get("watch_address", before)
        is_moved = watched != before
        counted = Counted(webhook.owner, watched, client_address)
        lock_counts(tx, counted)
        _lock(tx, webhook)
        if changed:
            columns = {"changed": _json(changed), "host": host}
            tx.execute("webhooks/webhooks_change", webhook_id=webhook.id, **columns)
        if is_active is False:
            endings.stop(tx, webhook.id, "the webhook was deactivated")
        [state] = tx.rows("webhooks/webhooks_get_owner", **of_webhook)
        was_active, event_types, address_count = state[2], state[5], state[7]
        if before is None and "event_types" in changed:
            _require_addresses_allowed(tx, counted, event_types, address_count)
        if is_moved and was_active:  # it is counted anew, with those of the other address
            tx.execute("webhooks/webhooks_deactivate", webhook_id=webhook.id, reason=None)
        if is_moved if was_active else is_active:
            require_below_limits(tx, counted)
            tx.execute(
                "webhooks/webhooks_activate",
                webhook_id=webhook.id,
                client_address=counted.client_address,
                **requester.maker._asdict(),
            )


def _json(value: object) -> str | None:
    """Return a value of columns as PostgreSQL reads it from JSON."""
    to_text = lambda octets: f"\\x{octets.hex()}"  # noqa: E731
    return None if value is None else json.dumps(value, separators=(",", ":"), default=to_text)


def rotate_secret(database: Database, webhook: Webhook) -> tuple[str, datetime]:
    """Give a webhook another secret; return it, and until when the present one signs beside it."""
    secret, now = secrets.token_hex(SECRET_BYTES), _now()
    times = {"now": now, "ends_at": now + FORMER_SECRET_KEPT}
    with database.transaction() as tx:
        _lock(tx, webhook)
        tx.execute("webhooks/secrets_rotate", webhook_id=webhook.id, secret=secret, **times)
    return secret, times["ends_at"]


def require_list(webhook: Webhook) -> None:
    """Raise InvalidParameter for a webhook without a list of addresses."""
    if webhook.watch_address is not None:
        raise InvalidParameter("This webhook watches one address: it has no list.")


class ChangedList(NamedTuple):
    added: int
    removed: int
    address_count: int


def change_addresses(
    database: Database, webhook: Webhook, *, add: list[bytes], remove: list[bytes]
) -> ChangedList:
    """Add addresses to a webhook's list, and remove others. Raises LimitReached, InvalidParameter
    for a webhook without a list, and then changes nothing."""
    require_list(webhook)
    counted = Counted(webhook.owner, None, webhook.client_address)
    with database.transaction() as tx:
        lock_counts(tx, counted)
        _lock(tx, webhook)
        [row] = tx.rows("webhooks/addresses_change", webhook_id=webhook.id, add=add, remove=remove)
        *counts, event_types = row
        changed = ChangedList(*counts)
        if changed.added > changed.removed:
            _require_addresses_allowed(tx, counted, event_types, changed.address_count)
    return changed


def delete(database: Database, webhook: Webhook) -> None:
    """Delete a webhook. It is stopped before its list is deleted, a part at a time, so that the
    indexer needs no row of it meanwhile."""
    with database.transaction() as tx:
        _lock(tx, webhook)
        endings.stop(tx, webhook.id, "the webhook was deleted")
    batch = {"webhook_id": webhook.id, "limit": DELETED_AT_ONCE}
    while database.rows("webhooks/addresses_delete", **batch):
        pass
    with database.transaction() as tx:
        _lock(tx, webhook)
        tx.execute("webhooks/webhooks_delete", webhook_id=webhook.id)


def send_test(database: Database, webhook: Webhook) -> int:
    """Queue a test event and return the id of its delivery."""
    _require_active(webhook)
    with database.transaction() as tx:
        _lock(tx, webhook)
        delivery_id = tx.value("webhooks/deliveries_insert_test", webhook_id=webhook.id, now=_now())
        _refresh_queue(tx, webhook)
    return int(delivery_id)


def retry(database: Database, webhook: Webhook, delivery_id: int) -> None:
    """Queue a delivery again. Raises NotFound for another webhook's delivery, InvalidParameter
    where the webhook is not active or the event's block is orphaned."""
    _require_active(webhook)
    with database.transaction() as tx:
        _lock(tx, webhook)
        rows = tx.rows(
            "webhooks/deliveries_retry", id=delivery_id, webhook_id=webhook.id, now=_now()
        )
        if not rows:
            raise NotFound("This webhook has no delivery with this id.")
        [(is_orphaned,)] = rows
        if is_orphaned:
            raise InvalidParameter("The block of this event is no longer part of the chain.")
        _refresh_queue(tx, webhook)


def replay(database: Database, webhook: Webhook, first_s: int, last_s: int) -> tuple[int, bool]:
    """Queue deliveries that were created in a span of time, and failed or were cancelled, again by
    their ids, until MAX_WAITING wait; return how many, and whether there are more. Raises
    LimitReached where as many wait already, InvalidParameter where the webhook is not active."""
    _require_active(webhook)
    bounds = {"most": MAX_WAITING, "most_bytes": MAX_BYTES_WAITING, "now": _now()}
    span = {"webhook_id": webhook.id, "first_s": first_s, "last_s": last_s}
    with database.transaction() as tx:
        _lock(tx, webhook)
        [(count, has_more)] = tx.rows("webhooks/deliveries_replay", **span, **bounds)
        if has_more and not count:
            raise LimitReached("The webhook's queue is full; replay when it has been sent.")
        _refresh_queue(tx, webhook)
    return count, has_more


def _require_active(webhook: Webhook) -> None:
    if not webhook.is_active:
        raise InvalidParameter('This webhook is not active; PATCH it with {"active": true} first.')


def _lock(tx: transaction.Transaction, webhook: Webhook) -> None:
    """Lock a webhook's queue. Raises NotFound if the webhook was deleted in the meantime."""
    if not tx.rows("webhooks/queues_lock", webhook_id=webhook.id):
        raise _not_found()


def _refresh_queue(tx: transaction.Transaction, webhook: Webhook) -> None:
    tx.execute("webhooks/queues_count_waiting", webhook_ids=[webhook.id])
    tx.execute("webhooks/events_notify")


def _not_found() -> NotFound:
    return NotFound("No webhook has this id.")


def _now() -> datetime:
    return datetime.now(UTC)
