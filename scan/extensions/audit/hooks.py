"""What other extensions add to `scan audit`, in their audit.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scan.hooks import OwnRun, Part


@dataclass(frozen=True, kw_only=True)
class Audit(Part):
    """`scan audit`."""

    module = "audit"
    own_run: OwnRun | None = None
    """Options of the command, and what it does with them."""
    kept_rows: Mapping[str, str] = field(default_factory=dict)
    """Derived tables that can be compared row by row where older rows are removed, each with the
    statement that checks them there."""
