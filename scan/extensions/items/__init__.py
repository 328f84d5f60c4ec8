"""Items (NFTs) of BEP721 and BEP1155 tokens: their lists, one with its owners, transfers and media.

Input: the core's token_items and item_balances, and what contracts return as an item's URI. Output:
items in the API, on pages and in files. Start with queries.py, then views.py.

An item's URI anybody may have written. Data within it is read at once; documents at other servers
are fetched in the background, and no request waits for them: media_cache.py (metadata and picture,
which document is fetched next, how many at once from one site), then item_metadata.py and
picture_cost.py (hostile JSON and images). scan/outbound/http_client.py fetches one.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "items (NFTs) with their owners, URIs, names, traits and pictures",
    "chain data",
    paths=("nft/",),
)
