"""Blobs of transactions (EIP-4844): their rows, by versioned hash, and their list on blocks' pages.

Start with rows.py.
"""

from scan.registry import Extension

EXTENSION = Extension("blobs of transactions (EIP-4844), by versioned hash")
