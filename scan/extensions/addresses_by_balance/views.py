"""Addresses by balance, the largest first, of at least one coin (10^18 wei): GET /api/v1/accounts
and the page /accounts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flask import Blueprint

from scan.api.hooks import Api
from scan.errors import InvalidParameter
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response
from scan.http.list_responses import LISTED, list_response
from scan.pages import filtered_lists, hooks
from scan.queries import holdings
from scan.queries.cursors import ADDRESS, AMOUNT
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

MOST_COUNTED = 10_000


@dataclass
class AccountPage(Page):
    """A page of addresses; `reason` says why balances may not be the newest block's, or is None."""

    reason: str | None = None

    @property
    def more(self) -> Mapping[str, object]:
        return {"complete": self.reason is None, "reason": self.reason}


def page(reader: Reader, window: Window) -> AccountPage:
    """Return a page of balances as they were read last; the total is None above MOST_COUNTED.

    Raises InvalidParameter for an offset beyond MOST_COUNTED, which would read as many rows; a
    cursor works at any depth.
    """
    traversal = window.traversal("accounts", {}, (AMOUNT, ADDRESS), has_blocks=False)
    if window.offset >= MOST_COUNTED:
        message = f"page must be within the first {MOST_COUNTED:,} addresses; a cursor goes on."
        raise InvalidParameter(message, field="page")
    after_balance, after_address = traversal.position(2)
    data, count, total, has_unread, is_untraced, balance, address = reader.row(
        "queries/addresses_list_by_balance",
        limit=window.limit,
        offset=window.offset,
        most_counted=MOST_COUNTED,
        after_balance=after_balance,
        after_address=after_address,
    )
    reason = "balances_unread" if has_unread else "untraced_blocks" if is_untraced else None
    row = data, count, total, balance, address
    return AccountPage.keyed(traversal, row, reason=reason)


api_views = Blueprint("addresses_by_balance", __name__)


@api_views.get("/accounts")
def list_accounts() -> Response:
    """Return addresses by balance, the largest first."""
    arguments = query_arguments(*LISTED)
    return list_response("accounts", arguments, lambda window: page(reader(), window))


page_views = Blueprint("pages_addresses_by_balance", __name__)


@page_views.get("/accounts")
def show_accounts() -> Response:
    def read(window: Window, _: Mapping[str, str]) -> AccountPage:
        return page(reader(), window)

    account_list = filtered_lists.filtered_list(
        "/accounts", "/accounts", (), read, paging=filtered_lists.UNORDERED, is_by_size=True
    )
    is_whole = account_list.is_counted
    if not is_whole:  # page numbers end where the API's do
        account_list = replace(account_list, total=MOST_COUNTED, is_counted=True)
    return account_list.show(
        "accounts.html",
        is_whole=is_whole,
        prices=holdings.unit_prices(reader()),
        reason=account_list.source.reason if isinstance(account_list.source, AccountPage) else None,
    )


HOOKS = (
    Api(blueprints=(api_views,)),
    hooks.Pages(blueprints=(page_views,), menu=(("Chain", "/accounts", "Addresses by balance"),)),
)
