"""What other extensions add to the Blockscout-compatible API, in their blockscout.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flask import Blueprint

    from scan.queries.reader import Reader

from scan.registry import Part


class Blockscout(Part, module="blockscout"):
    """The Blockscout-compatible API."""

    blueprint: Blueprint | None = None
    """Views below /api/v2."""
    search_result: Callable[[Reader, bytes], Mapping[str, Any] | None] = lambda reader, hash_: None
    """What is found by a hash, besides blocks and transactions, in Blockscout's form."""
    count_deposits: Callable[[Reader, int], int | None] = lambda reader, number: None
    """How many deposits of validators a block has."""
