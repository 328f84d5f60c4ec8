"""What other extensions add to `scan backfill chain`, in their bulk.py."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scan.extensions.bulk.history import History
    from scan.settings import Settings

from scan.hooks import Part


@dataclass(frozen=True, kw_only=True)
class Bulk(Part):
    """`scan backfill chain`."""

    module = "bulk"
    derived: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Derived tables, each with the statements that derive and that copy its rows."""
    accept: Sequence[str] = ()
    """Statements that end the backfill."""
    add_arguments: Callable[[argparse.ArgumentParser], None] = lambda chain: None
    """Options of the command."""
    open_history: Callable[[Settings, argparse.Namespace], History | None] = (
        lambda settings, options: None
    )
    """Blocks of another source than the node, where the options name one."""
