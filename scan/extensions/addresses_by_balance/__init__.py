"""Addresses by balance, the largest first, of at least one coin.

Input: the balances that the core's indexer has read. Output: /accounts in the API and as a page.
Start with views.py.
"""

from scan.registry import Extension

EXTENSION = Extension("addresses by balance", "chain data", paths=("accounts",))
