"""What other extensions add to exports, in their exports.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scan.extensions.exports.csv_columns import Context
    from scan.queries.pages import Page

from scan.hooks import Part


@dataclass(frozen=True, kw_only=True)
class Exports(Part):
    """Lists and tables as files."""

    module = "exports"
    cells: Mapping[str, Callable[[Any, Context], Any]] = field(default_factory=dict)
    """Cells of CSV files that no field has, of a record, by the column's source."""
    headers: Callable[[Page], Mapping[str, str]] = lambda page: {}
    """Headers of a file, by its last page."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What `scan export` writes besides tables: the module whose run() does, by name."""
