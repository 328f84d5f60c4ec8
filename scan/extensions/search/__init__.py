"""Search: blocks, transactions, addresses, labels, tokens and contracts by number, hash or name.

Input: a text. Output: records, the best first, in the API, on pages, and below the search box that
pages then have. Start with views.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "search by number, hash or name, in the API and on pages", "comfort", paths=("search/",)
)
