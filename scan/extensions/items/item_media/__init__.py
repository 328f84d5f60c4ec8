"""Names, traits and pictures of items (NFTs), by their URIs.

Input: an item's URI, which anybody may have written. Output: its metadata and picture, or why there
is none yet. Data within the URI is read at once; documents at other servers are fetched in the
background, and no request waits for them.
Start with media_cache.py (an item's metadata and picture, which document is fetched next, how many
at once from one site), then item_metadata.py and pictures.py (hostile JSON and images).
scan/outbound/https_client.py fetches one.
"""
