"""What other extensions add to a transaction's details, in their transaction_details.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scan.extensions.transaction_details.details import TransactionDetails
    from scan.pages.records import Record
    from scan.pages.transaction_tabs import Shown

from scan.hooks import Part


@dataclass(frozen=True, kw_only=True)
class TransactionDetailsPart(Part):
    """What follows from a transaction's details."""

    module = "transaction_details"
    fields: Callable[[Mapping[str, Any], TransactionDetails], Mapping[str, Any]]
    """Fields of its record."""
    head: Callable[[Record, TransactionDetails], Shown]
    """What its page shows above the tabs."""
