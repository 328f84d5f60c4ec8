"""What blocks have besides transactions and transfers, a folder each.

Blobs, authorizations (EIP-7702), requests to the consensus layer, messages of rollups to L1,
uncles, and what fee recipients earned.

Input: decoded blocks, and for uncles the node. Output: rows, lists, sections of pages.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "blobs, authorizations, requests, messages to L1, uncles, and earnings of fee recipients",
    "chain data",
    paths=("earnings", "blobs", "blob/", "execution-requests", "messages-to-l1"),
)
