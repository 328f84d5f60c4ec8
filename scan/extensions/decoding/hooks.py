"""What other extensions explain of a transaction, in their explanation.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scan.extensions.decoding.details import TransactionDetails
    from scan.pages.hooks import Shown
    from scan.pages.records import Record

from scan.registry import Part


class Explanation(Part, module="explanation"):
    """What explains a transaction."""

    fields: Callable[[Mapping[str, Any], TransactionDetails], Mapping[str, Any]]
    """Further fields of its record; `unproven` names those that nothing proves."""
    head: Callable[[Record, TransactionDetails], Shown]
    """What the head of its page shows besides."""
