"""Imported by each Python that starts while what tests reach is recorded."""

from tests.mutants import reached

reached.start()
