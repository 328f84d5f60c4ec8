"""Signatures of functions and events that operators import: `scan signatures`.

The core decodes by what the table has.
"""
