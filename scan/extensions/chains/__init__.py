"""Forms of the blocks of chains that are not Ethereum's, a file a family of chains.

Input: a block and its receipts as the node has them. Output: fields, types of transactions, parts
of fees, and who gets them. Start with scan/ethereum/forms/form.py, then zk_rollups.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "blocks and fees of Arbitrum, Avalanche, BNB Smart Chain, Celo, Clique, Gnosis, Mantle,"
    " Polygon, Scroll, Taiko and ZKsync, and of chains of the OP Stack",
    "chain data",
)
