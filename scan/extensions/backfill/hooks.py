"""What other extensions add to `scan backfill chain`, in their backfill.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scan.hooks import Part


@dataclass(frozen=True, kw_only=True)
class Backfill(Part):
    """`scan backfill chain`."""

    module = "backfill"
    derived: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Derived tables, each with the statements that derive and that copy its rows."""
    accept: Sequence[str] = ()
    """Statements that end the backfill."""
