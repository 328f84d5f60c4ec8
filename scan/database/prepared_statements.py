"""Which statements are planned once for all values, and by which literals their plans differ.

Planning a page's statement takes longer than running it. A parameter in this table stands in the
prepared text itself, since its value decides the shape of the plan; the others are $1, $2, ….
"""

from collections.abc import Mapping
from typing import Any

from psycopg2.extensions import AsIs

from scan.database.statements import Statement, StatementError

LITERALS: Mapping[str, frozenset[str]] = {}


def literal_params(statement: Statement) -> frozenset[str]:
    return LITERALS.get(statement.name) or statement.planned or frozenset()


def prepare_text(
    cursor: Any,
    statement: Statement,
    params: Mapping[str, object],
    literals: frozenset[str],
    name: str,
) -> bytes:
    """PREPARE for these literals; raises StatementError where the statement takes others."""
    if statement.params != params.keys():
        raise StatementError(f"{statement.name} takes {sorted(statement.params)}")
    places = [param for param in params if param not in literals]
    numbered = {
        param: AsIs(f"${number}::{statement.types[param]}")
        for number, param in enumerate(places, start=1)
    }
    text: bytes = cursor.mogrify(statement.text, {**params, **numbered})
    types = ", ".join(statement.types[param] for param in places)
    return f"PREPARE {name}{f'({types})' if types else ''} AS ".encode() + text
