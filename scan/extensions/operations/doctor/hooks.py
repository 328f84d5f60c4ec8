"""What other extensions check in `scan doctor`, in their doctor_checks.py."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from scan.database.connection import Database
from scan.registry import Part


class Finding(NamedTuple):
    """A line of the report. `level` is ok, warning or error; `advice` says what to do, "" where
    nothing is wrong. `subject` is "" for that of the check."""

    level: str
    text: str
    advice: str = ""
    subject: str = ""


class Checks(Part, module="doctor_checks"):
    """Checks of `scan doctor`."""

    of_database: Callable[[Database], Iterable[Finding]]
    """Findings about the extension's part of the database."""
