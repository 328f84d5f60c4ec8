"""Items (NFTs) of BEP721 and BEP1155 tokens: their lists, one with its owners, transfers and media.

Input: the core's token_items and item_balances, and what contracts return as an item's URI. Output:
items in the API, on pages and in files. Start with queries.py, then views.py;
item_media reads what URIs lead to.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "items (NFTs) with their owners, URIs, names, traits and pictures", paths=("nft/",)
)
