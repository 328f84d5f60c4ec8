"""Signatures of functions and events that operators import: `scan signatures`.

The core decodes by what the table has.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "imported signatures of functions and events, by `scan signatures`",
    commands={"signatures": "manage signatures of functions and events"},
)
