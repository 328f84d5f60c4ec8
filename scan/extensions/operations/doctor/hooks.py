"""What other extensions add to `scan doctor`, in their doctor.py."""

from __future__ import annotations

from dataclasses import dataclass

from scan.hooks import OwnRun, Part


@dataclass(frozen=True, kw_only=True)
class Doctor(Part):
    """`scan doctor`."""

    module = "doctor"
    own_run: OwnRun
    """Options of the command, and what it does with them."""
