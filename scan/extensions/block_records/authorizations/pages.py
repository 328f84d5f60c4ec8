"""The authorizations of a transaction and of an account, on their pages."""

from scan.pages.hooks import AddressTab, Pages, Shown, TransactionSection
from scan.pages.records import Record
from scan.pages.tabs import list_of_address


def transaction_head(transaction: Record) -> Shown:
    """Name the authorizations of a transaction, whose accounts its section shows."""
    return Shown({}, records=transaction.get("authorizations", ()))


HOOKS = Pages(
    sections=(
        TransactionSection({"transaction": "transaction_authorizations.html"}, transaction_head),
    ),
    tabs=(
        AddressTab(
            "delegations",
            "Authorizations",
            100,
            template="address_authorizations.html",
            read=list_of_address(
                "authorizations",
                "authority",
                "/authorizations?authority={address}",
                tab="delegations",
            ),
            list="authorizations_by_authority",
        ),
    ),
)
