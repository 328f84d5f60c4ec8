"""/mail: a subscription is asked for, confirmed and left, each by a form that works without a
script. GET changes nothing, since programs follow the links of mails."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from scan import parameters
from scan.errors import InvalidParameter, NotFound, ScanError
from scan.extensions.mail import subscriptions
from scan.extensions.mail.mailer import TITLES, Mailer
from scan.extensions.mail.settings import mail_address
from scan.extensions.mail.subscriptions import Subscription
from scan.http.request_state import Mark, marked, services
from scan.http.requests import client_address, form, reader
from scan.pages.hooks import AddressSection, HomeSection, Pages
from scan.pages.records import Record, address_of
from scan.pages.site import page
from scan.queries.addresses import Address
from scan.webhooks.registration import EVENT_TYPES

MAX_TOKEN = 64  # characters

blueprint = Blueprint("pages_mail", __name__)


def home(_newest_blocks: list[Record]) -> Mapping[str, Any]:
    """Return the values of home_mail.html."""
    return {"sends_mail": _sends_mail()}


def address_values(_address: bytes, _account: Address) -> Mapping[str, Any]:
    """Return the values of address_mail.html."""
    return {"sends_mail": _sends_mail()}


def _sends_mail() -> bool:
    return reader().sources.get(Mailer).server is not None


@blueprint.get("/mail")
def show_form() -> Response:
    _require_mailer()
    return _page("form", fields={"watchAddress": request.args.get("address", "")})


@blueprint.post("/mail")
def ask() -> Response:
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
        subscriptions.ask(services().writes, to, watch_address, distinct, client_address())
    except ScanError as error:
        return _page("form", error.status, fields=sent, error=error.message)
    return _page("sent")


@blueprint.get("/mail/confirm")
def show_confirmation() -> Response:
    token = _token()
    return _page("confirm", token=token, subscription=_shown(token))


@blueprint.post("/mail/confirm")
@marked(Mark.NEEDS_TOKEN)
def confirm() -> Response:
    subscription = subscriptions.confirm(services().writes, _token())
    return _page("confirmed", subscription=subscription)


@blueprint.get("/mail/leave")
def show_leave() -> Response:
    token = _token()
    return _page("leave", token=token, subscription=_shown(token))


@blueprint.post("/mail/leave")
@marked(Mark.NEEDS_TOKEN)  # mail programs send it
def leave() -> Response:
    """End a subscription by one request, as mail programs send it (RFC 8058)."""
    subscriptions.leave(services().writes, _token())
    return _page("left")


def _page(step: str, status: int = 200, **values: Any) -> Response:
    reader().do_not_cache()
    empty: Mapping[str, Any] = {"fields": {}, "error": None, "token": "", "subscription": None}
    kinds = {"kinds": TITLES, "offered": EVENT_TYPES}
    response = page("mail.html", status, step=step, **{**kinds, **empty, **values})
    response.headers["Cache-Control"] = "no-store"  # it has a mail address
    return response


def _require_mailer() -> None:
    reader().do_not_cache()
    if not _sends_mail():
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
    return subscriptions.get(services().writes, token)


HOOKS = Pages(
    blueprints=(blueprint,),
    sections=(
        HomeSection({"home": "home_mail.html"}, home),
        AddressSection({"address": "address_mail.html"}, address_values),
    ),
)
