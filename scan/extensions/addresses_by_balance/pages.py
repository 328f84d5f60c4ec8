"""/accounts: addresses by balance."""

from collections.abc import Mapping
from dataclasses import replace

from flask import Blueprint, Response

from scan.extensions.addresses_by_balance import queries
from scan.extensions.addresses_by_balance.queries import MOST_COUNTED, AccountPage
from scan.http.requests import reader
from scan.pages.filtered_lists import UNORDERED, filtered_list
from scan.pages.hooks import Pages
from scan.pages.records import names_of
from scan.queries.pages import Window

blueprint = Blueprint("pages_by_balance", __name__)


@blueprint.get("/accounts")
def list_accounts() -> Response:
    def read(window: Window, _: Mapping[str, str]) -> AccountPage:
        return queries.page(reader(), window)

    shown = filtered_list("/accounts", "/accounts", (), read, paging=UNORDERED, is_by_size=True)
    is_whole = shown.is_counted
    if not is_whole:  # page numbers end where the API's do
        shown = replace(shown, total=MOST_COUNTED, is_counted=True)
    return shown.response(
        "accounts.html",
        shown=shown,
        is_whole=is_whole,
        reason=shown.source.reason if isinstance(shown.source, AccountPage) else None,
        names=names_of(shown.records),
    )


HOOKS = Pages(blueprints=(blueprint,), menu=(("Chain", "/accounts", "Addresses by balance"),))
