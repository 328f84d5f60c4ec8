"""The authorizations of a transaction and of an account, on their pages."""

from collections.abc import Sequence

from scan.pages.records import Record
from scan.pages.tabs import Tab, list_of_address

SECTIONS = {"transaction": "transaction_authorizations.html"}


def transaction_records(transaction: Record) -> Sequence[Record]:
    """Return the authorizations of a transaction, whose accounts are named."""
    authorizations: Sequence[Record] = transaction.get("authorizations", ())
    return authorizations


ADDRESS_TABS = (
    Tab(
        *("delegations", "Authorizations", 100),
        template="address_authorizations.html",
        read=list_of_address(
            *("authorizations", "authority", "/authorizations?authority={address}"), "delegations"
        ),
        list="authorizations_by_authority",
    ),
)
