"""The history of an address: all rows that moved value to or from it, and its balances over time.

Input: the core's rows, and the address's balance, which they have to add up to. Output: histories
and balances in the API, on pages and in files. Start with queries.py, then balance_history.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "histories of addresses, which add up to their balances over time; sums by month",
    "chain data",
    needs=("traces",),
)
