"""Blobs of transactions (EIP-4844): their rows, by versioned hash, and their list on blocks' pages.

Start with rows.py of the folder above.
"""
