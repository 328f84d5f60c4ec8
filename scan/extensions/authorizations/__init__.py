"""Authorizations (EIP-7702), by which accounts run the code of another address.

Start with rows.py (entries of a block's authorizationLists), then sql/schema/changes.sql (which of
them took effect).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "authorizations of accounts (EIP-7702), and whose code an account runs",
)
