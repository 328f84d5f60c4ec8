"""What extensions add to statements."""

from collections.abc import Mapping
from dataclasses import dataclass

from scan.registry import Part


@dataclass(frozen=True, kw_only=True)
class SqlValues(Part):
    """What templates of statements use."""

    module = "sql_values"
    values: Mapping[str, object]
    """Values by name."""
