"""Clique, of private chains and old test networks: the signer of a block gets its fees.

EIP-225: `miner` is a vote's candidate, and in most blocks the zero address. The signer is recovered
from the seal at the end of extraData, which signs the header without the seal.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "blocks, fees and fields of Clique chains and Linea",
)
