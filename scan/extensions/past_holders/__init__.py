"""Holders of a token after an older block, by its transfers: those up to it, or those since, are
summed once into a file, in the request or beside serving, from which pages of the list are read.

Input: a token, and a block or a time. Output: `block` and `timeTo` of /tokens/:address/holders,
with the ids of NFTs. Start with queries.py (which block), then ways.py (which transfers, and what
is refused) and holder_files.py (files, and who waits for them).
"""

from scan.registry import Extension

EXTENSION = Extension("holders of tokens at a block", "chain data")
