"""Addresses by balance, the largest first, of at least one coin (10^18 wei)."""

from dataclasses import dataclass

from scan.errors import InvalidParameter
from scan.queries.cursors import ADDRESS, AMOUNT
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

MOST_COUNTED = 10_000


@dataclass(frozen=True)
class AccountPage(Page):
    """A page of addresses; `reason` says why balances may not be the newest block's, or is None."""

    reason: str | None = None


def page(reader: Reader, window: Window) -> AccountPage:
    """Return a page of balances as they were read last; the total is None above MOST_COUNTED.

    Raises InvalidParameter for an offset beyond MOST_COUNTED, which would read as many rows; a
    cursor works at any depth.
    """
    traversal = window.traversal("accounts", {}, (AMOUNT, ADDRESS), has_blocks=False)
    if window.offset >= MOST_COUNTED:
        raise InvalidParameter(
            f"page must be within the first {MOST_COUNTED:,} addresses; a cursor goes on.",
            field="page",
        )
    after_balance, after_address = traversal.position(2)
    data, count, total, has_unread, is_untraced, balance, address = reader.row(
        "queries/addresses_list_by_balance",
        limit=window.limit,
        offset=window.offset,
        most_counted=MOST_COUNTED,
        after_balance=after_balance,
        after_address=after_address,
    )
    following = traversal.next(None if address is None else (int(balance), bytes(address)))
    reason = "balances_unread" if has_unread else "untraced_blocks" if is_untraced else None
    return AccountPage(data, count, total, following, reason=reason)
