"""Subscriptions by mail, at /mail: asked for, confirmed by their mail address, left by one click,
each by a form that works without a script. GET changes nothing, since programs follow the links of
mails.

A thread sends the mails that ask for a confirmation.
"""

import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from flask import Blueprint, Response, request

from scan import parameters
from scan.database.connection import Database
from scan.database.lists import all_event_types
from scan.errors import InvalidParameter, LimitReached, NotFound, ScanError
from scan.extensions.mail.messages import Confirmations, Mailer, mailer
from scan.extensions.mail.settings import mail_address
from scan.http import background_threads, hooks, request_state
from scan.http.requests import client_address, form, reader
from scan.pages.hooks import AddressSection, HomeSection, Pages
from scan.pages.records import address_of
from scan.pages.site import page
from scan.rate_limits.client_address import network_around
from scan.webhooks import registration
from scan.webhooks.registration import EVENT_TYPES, Counted, Webhook

URL, HOST = "mail://smtp", "mail"  # of their webhooks; the host's queues are served 8 at a time
MAX_PER_CLIENT_A_DAY = 5
MAX_PER_NETWORK_A_DAY = 20
MAX_PER_MAILBOX_A_DAY = 3
MAX_PER_MAILBOX = 10
MAX_A_DAY = 20_000  # in all, so that they are stored


class Subscription(NamedTuple):
    """`webhook_id` is None until it is confirmed."""

    mail_address: str
    watch_address: bytes
    event_types: list[str]
    webhook_id: int | None


def ask(
    database: Database,
    mail_address: str,
    watch_address: bytes,
    event_types: list[str],
    client_address: str,
) -> None:
    """Store a subscription that is to be confirmed. Raises LimitReached."""
    client = {"client_address": client_address, "network": network_around(client_address)}
    with database.transaction() as tx:
        tx.execute("webhooks/mail_subscriptions_lock")
        [(by_client, by_network, by_mailbox, in_all, confirmed, is_refused)] = tx.rows(
            "webhooks/mail_subscriptions_count", mail_address=mail_address, now=_now(), **client
        )
        is_client_full = by_client >= MAX_PER_CLIENT_A_DAY or by_network >= MAX_PER_NETWORK_A_DAY
        if is_client_full or in_all >= MAX_A_DAY:
            raise LimitReached("Too many were asked for today; try again tomorrow.")
        is_full = by_mailbox >= MAX_PER_MAILBOX_A_DAY or confirmed >= MAX_PER_MAILBOX
        if is_full or is_refused:  # in the same words: it is nobody else's business which
            raise LimitReached("This mail address can have no more today.")
        tx.execute(
            "webhooks/mail_subscriptions_insert",
            token=secrets.token_urlsafe(24),
            mail_address=mail_address,
            watch_address=watch_address,
            event_types=event_types,
            now=_now(),
            **client,
        )


def get(database: Database, token: str) -> Subscription:
    """Return the subscription of a token; raises NotFound."""
    row = database.row("webhooks/mail_subscriptions_get", token=token)
    if row is None:
        raise NotFound("There is no such subscription: it has ended, or the link is too old.")
    mail_address, watch_address, event_types, webhook_id = row
    return Subscription(mail_address, bytes(watch_address), event_types, webhook_id)


def confirm(database: Database, token: str) -> Subscription:
    """Confirm a subscription, whose webhook is then registered. The owner is a random address, so
    that nobody can name it. Raises NotFound, LimitReached."""
    with database.transaction() as tx:
        tx.execute("webhooks/mail_subscriptions_lock")
        subscription = get(database, token)
        if subscription.webhook_id is not None:
            return subscription
        counted = Counted(secrets.token_bytes(20), subscription.watch_address, None)
        registration.lock_counts(tx, counted)
        registration.require_below_limits(tx, counted)
        webhook_id = 1 + secrets.randbelow(registration.MAX_ID)
        tx.execute(
            "webhooks/webhooks_insert",
            id=webhook_id,
            url=URL,
            host=HOST,
            event_types=subscription.event_types,
            topics=None,
            secret=token,
            now=_now(),
            **counted._asdict(),
        )
        tx.execute("webhooks/mail_subscriptions_confirm", token=token, webhook_id=webhook_id)
    return subscription._replace(webhook_id=webhook_id)


def leave(database: Database, token: str) -> None:
    """End a subscription. Where it was not confirmed, the mail address is not asked again. A token
    that is unknown has been left before."""
    try:
        subscription = get(database, token)
    except NotFound:
        return
    if subscription.webhook_id is None:
        with database.transaction() as tx:
            tx.execute("webhooks/mail_subscriptions_refuse", token=token)
        return
    row = database.row(
        "webhooks/webhooks_get_owner", webhook_id=subscription.webhook_id, secret_digest=None
    )
    if row is not None:
        owner, watch_address, is_active, *_ = row
        webhook = Webhook(subscription.webhook_id, bytes(owner), bytes(watch_address), is_active)
        registration.delete(database, webhook)


def _now() -> datetime:
    return datetime.now(UTC)


EVERY_S = 1.0


def confirmation_threads(core: request_state.Services) -> Iterable[background_threads.WorkerThread]:
    mails = core.sources.get(Mailer)
    if mails.server is None:
        return ()
    send_next = Confirmations(core.writes, mails).send_next
    failure = "mails that ask for a confirmation wait"
    return (background_threads.WorkerThread("mail", send_next, EVERY_S, core.writes, failure),)


MAX_TOKEN = 64  # characters

page_views = Blueprint("pages_mail", __name__)


def values_of_sections(*_: object) -> Mapping[str, Any]:
    """Return the values of home_mail.html and address_mail.html."""
    return {"sends_mail": reader().sources.get(Mailer).server is not None}


@page_views.get("/mail")
def show_form() -> Response:
    _require_mailer()
    return _page("form", fields={"watchAddress": request.args.get("address", "")})


@page_views.post("/mail")
def ask_page() -> Response:
    """Store the subscription, whose link that confirms it is mailed afterwards: how long this takes
    says nothing of the mail address."""
    _require_mailer()
    sent = form()
    try:
        to = _mail_address(sent.get("mail", ""))
        watch_address = address_of(sent.get("watchAddress", ""))
        event_types = [parameters.one_of(t, "events", EVENT_TYPES) for t in sent.getlist("events")]
        if not event_types:
            raise InvalidParameter("Choose at least one kind of events.", field="events")
        distinct = [*dict.fromkeys(event_types)]
        ask(request_state.services().writes, to, watch_address, distinct, client_address())
    except ScanError as error:
        return _page("form", error.status, fields=sent, error=error.message)
    return _page("sent")


@page_views.get("/mail/confirm")
def show_confirmation() -> Response:
    token = _token()
    return _page("confirm", token=token, subscription=_shown(token))


@page_views.post("/mail/confirm")
@request_state.marked(request_state.Mark.NEEDS_TOKEN)
def confirm_page() -> Response:
    subscription = confirm(request_state.services().writes, _token())
    return _page("confirmed", subscription=subscription)


@page_views.get("/mail/leave")
def show_leave() -> Response:
    token = _token()
    return _page("leave", token=token, subscription=_shown(token))


@page_views.post("/mail/leave")
@request_state.marked(request_state.Mark.NEEDS_TOKEN)  # mail programs send it
def leave_page() -> Response:
    """End a subscription by one request, as mail programs send it (RFC 8058)."""
    leave(request_state.services().writes, _token())
    return _page("left")


def _page(step: str, status: int = 200, **values: Any) -> Response:
    reader().do_not_cache()
    empty: Mapping[str, Any] = {"fields": {}, "error": None, "token": "", "subscription": None}
    kinds = {"kinds": all_event_types(), "offered": EVENT_TYPES}
    response = page("mail.html", status, step=step, **{**kinds, **empty, **values})
    response.headers["Cache-Control"] = "no-store"  # it has a mail address
    return response


def _require_mailer() -> None:
    reader().do_not_cache()
    if reader().sources.get(Mailer).server is None:
        raise NotFound("This site sends no e-mail.")


def _mail_address(text: str) -> str:
    try:
        return mail_address(text)
    except ValueError as error:
        raise InvalidParameter(f"The mail address {error}.", field="mail") from None


def _token() -> str:
    reader().do_not_cache()
    return parameters.text(request.args.get("token", ""), "token", most=MAX_TOKEN)


def _shown(token: str) -> Subscription:
    return get(request_state.services().writes, token)


HOOKS = (
    hooks.Service(make=lambda core: mailer(core.settings)),
    hooks.Worker(threads=confirmation_threads),
    Pages(
        blueprints=(page_views,),
        sections=(
            HomeSection({"home": "home_mail.html"}, values_of_sections),
            AddressSection({"address": "address_mail.html"}, values_of_sections),
        ),
    ),
)
