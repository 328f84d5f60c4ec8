"""The authorizations of a transaction and of an account, on their pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.hex import to_hex
from scan.pages.filtered_lists import FilteredList, entity_list
from scan.pages.records import Record, names_of
from scan.pages.tabs import Tab

SECTIONS = {"transaction": "transaction_authorizations.html"}


def transaction_records(transaction: Record) -> Sequence[Record]:
    """Return the authorizations of a transaction, whose accounts are named."""
    authorizations: Sequence[Record] = transaction.get("authorizations", ())
    return authorizations


def authorizations_of(key: bytes) -> tuple[FilteredList, Mapping[str, Any]]:
    own = to_hex(key)
    shown = entity_list(
        *("authorizations", f"/address/{own}", f"/authorizations?authority={own}"),
        tab="delegations",
        fixed={"authority": own},
    )
    return shown, {"names": names_of(shown.records, own)}


ADDRESS_TABS = (
    Tab(
        *("delegations", "Authorizations", 100),
        template="address_authorizations.html",
        read=authorizations_of,
        list="authorizations_by_authority",
    ),
)
