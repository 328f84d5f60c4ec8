"""BNB Smart Chain and other chains of Parlia.

core/state_transition.go and consensus/parlia/parlia.go of bnb-chain/bsc: the validator, who is
`miner`, gets tips and fees for blobs, and passes them on by transactions of price 0 in the same
block.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of BNB Smart Chain and other chains of Parlia")
