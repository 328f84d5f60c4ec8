"""What other extensions add to the Blockscout-compatible API, in their blockscout.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Blueprint

    from scan.queries.reader import Reader

from scan.hooks import Part


@dataclass(frozen=True, kw_only=True)
class Blockscout(Part):
    """The Blockscout-compatible API."""

    module = "blockscout"
    blueprint: Blueprint | None = None
    """Views below /api/v2."""
    count_deposits: Callable[[Reader, int], int | None] = lambda reader, number: None
    """How many deposits of validators a block has."""
