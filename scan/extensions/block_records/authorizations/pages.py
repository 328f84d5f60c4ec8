"""The authorizations of a transaction and of an account, on their pages."""

from scan import hooks
from scan.pages.records import Record
from scan.pages.tabs import Tab, list_of_address
from scan.pages.transaction_tabs import Shown


def transaction_head(transaction: Record) -> Shown:
    """Name the authorizations of a transaction, whose accounts its section shows."""
    return Shown({}, records=transaction.get("authorizations", ()))


HOOKS = hooks.Pages(
    transaction_head=transaction_head,
    sections={"transaction": "transaction_authorizations.html"},
    address_tabs=(
        Tab(
            *("delegations", "Authorizations", 100),
            template="address_authorizations.html",
            read=list_of_address(
                *("authorizations", "authority", "/authorizations?authority={address}"),
                "delegations",
            ),
            list="authorizations_by_authority",
        ),
    ),
)
