"""Arbitrum: One, Nova and Orbit chains.

Types, fields of transactions and receipts: core/types/arb_types.go, internal/ethapi/api.go of
OffchainLabs/go-ethereum. L1's part of gas (`gasUsedForL1`) is within gasUsed.

What a ticket costs and brings: arbos/tx_processor.go of OffchainLabs/nitro. Its transfers are in
traces: of a submission as calls of a type of their own, of a redemption before and after it.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of Arbitrum One, Nova and Orbit chains")
