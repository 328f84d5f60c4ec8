"""What extensions add to statements."""

from collections.abc import Mapping

from scan.registry import Part


class SqlValues(Part, module="sql_values"):
    """What templates of statements use."""

    values: Mapping[str, object]
    """Values by name."""
