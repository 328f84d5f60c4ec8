"""What extensions add to the API."""

from collections.abc import Callable, Mapping, Sequence
from re import Pattern
from typing import Any

from flask import Blueprint

from scan.registry import Part


class Api(Part, module="api", chapter="views"):
    """The API at /api/v1."""

    blueprints: Sequence[Blueprint] = ()
    """Views below /api/v1."""
    transaction_fields: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda record: {}
    """Extra fields of a transaction's record; `unproven` names those that nothing proves."""
    unmined_transaction: Callable[[bytes], Mapping[str, Any] | None] = lambda key: None
    """The record of a transaction that is not indexed, an UnminedTransaction, by its hash; raises
    NotFound where it is known what became of it."""
    advice_on_missing_transaction: str = ""
    """A sentence that says where to ask for a transaction that is not indexed."""
    paths_with_other_names: Sequence[Pattern[str]] = ()
    """Paths whose parameters strangers name: those that begin with `_` are not ignored there."""
