"""Pages of transactions that the node has and the index has not: most wait for their block.

Input: a hash without an indexed transaction. Output: the page of what the node knows of it.
Start with queries.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "pending transactions, which their senders replace", "chain data", needs=("decoding",)
)
