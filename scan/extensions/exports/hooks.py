"""What other extensions add to exports, in their exports.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scan.extensions.exports.csv_columns import Context

from scan.hooks import Part


@dataclass(frozen=True, kw_only=True)
class Exports(Part):
    """Lists and tables as files."""

    module = "exports"
    cells: Mapping[str, Callable[[Any, Context], Any]]
    """Cells of CSV files that no field has, of a record, by the column's source."""
