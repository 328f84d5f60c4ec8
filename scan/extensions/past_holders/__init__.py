"""Holders of a token after an older block, by its transfers: those up to it, or those since, are
summed by one statement for a page, or for a file of the whole list.

Input: a token, and a block or a time. Output: `block` and `timeTo` of /tokens/:address/holders,
with the ids of NFTs. Start with queries.py (which block, which
transfers, what is refused, and the pages).
"""

from scan.registry import Extension

EXTENSION = Extension("holders of tokens at a block", "chain data")
