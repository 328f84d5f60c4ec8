"""Requests that are not cached yet."""

import itertools

PATH = "/api/v1/blocks?limit=2"


# Threads wait for a statement as long as a test wants them to.
PATIENT = {"STATEMENT_TIMEOUT_MS": "120000"}
_numbers = itertools.count()


def uncached(path, body=b""):
    """Another spelling of the same request, which nobody has used yet."""
    number = next(_numbers)
    if body:
        return path, body + b" " * number
    return f"{path}{'&' if '?' in path else '?'}={number}", b""
