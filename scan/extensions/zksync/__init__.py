"""ZKsync Era and chains of the ZK Stack: types of their own, batches on L1.

Fields by https://docs.zksync.io/zksync-protocol/api/zks-rpc: `l1BatchNumber` of blocks,
transactions and receipts. Fees go to an account of the operator, which no block names.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of ZKsync Era and chains of the ZK Stack")
