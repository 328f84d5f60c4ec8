"""Scan's own statements for a driver that prepares them: values as $1::bigint, literals written in.

Which parameters are literals is what the service itself goes by.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from scan.database.statements import Statement, load_statements

# As the service's connections have them: a prepared plan is made once, and follows an index.
SESSION = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "jit": "off",
    "random_page_cost": "1.1",
    "timezone": "UTC",
}


class NumberedStatement(NamedTuple):
    text: str
    names: list[str]  # of its values, in the order of their numbers


class NumberedStatements:
    """Every statement of sql/ by name, once for each choice of literals."""

    def __init__(self) -> None:
        self._statements = load_statements()
        self._numbered: dict[tuple[object, ...], NumberedStatement] = {}

    def find(self, name: str, params: Mapping[str, object]) -> NumberedStatement:
        """`params` may hold more than the statement takes."""
        statement = self._statements[name]
        literals = {param: params[param] for param in sorted(statement.literals or ())}
        key = (name, *literals.values())
        numbered = self._numbered.get(key)
        if numbered is None:
            numbered = self._numbered[key] = _number(statement, literals)
        return numbered


def _number(statement: Statement, literals: Mapping[str, object]) -> NumberedStatement:
    names = [name for name in statement.types if name not in literals]

    def place(match: re.Match[str]) -> str:
        name = match[1]
        if name in literals:
            # Literals are null, booleans, numbers and the service's own words.
            value = literals[name]
            if value is None:
                return "NULL"
            return f"'{value}'" if isinstance(value, str) else str(value)
        return f"${names.index(name) + 1}::{statement.types[name]}"

    text = re.sub(r"%\((\w+)\)s", place, statement.text)
    return NumberedStatement(text.replace("%%", "%"), names)
