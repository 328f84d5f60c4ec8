"""Names, traits and pictures of items (NFTs), by their URIs.

Input: an item's URI, which anybody may have written. Output: its metadata and picture, or why there
is none yet. Data within the URI is read at once; documents at other servers are fetched in the
background, and no request waits for them.
Start with media_cache.py (an item's metadata and picture, the cache), then item_metadata.py
(hostile JSON and images), document_queue.py (which document is fetched next), site_limits.py (how
often and how many at once from one site). The extension documents fetches one.
"""
