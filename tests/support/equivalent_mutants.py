"""Mutants that change no result: a pattern of the statement, one of what is changed, the reason."""

EQUIVALENT: tuple[tuple[str, str, str], ...] = ()
