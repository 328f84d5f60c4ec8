"""Avalanche: the C-Chain, and chains of Subnet-EVM.

core/state_transition.go, plugin/evm/customtypes/header_ext.go and plugin/evm/wrapped_block.go of
ava-labs/coreth and ava-labs/subnet-evm: the whole fee, with the base fee, goes to the block's
`miner`, which on the C-Chain is an address that nobody has.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of Avalanche and chains of Subnet-EVM")
