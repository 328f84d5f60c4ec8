"""Polygon PoS: its bridge's state sync is a transaction that no root covers.

core/types/bor_receipt.go and internal/ethapi of 0xPolygon/bor: a state sync is the last transaction
of its block; its hash is made of the block's number and hash, sender and recipient are the zero
address, and it uses no gas. Its receipt has the logs, and eth_getBlockReceipts of some nodes lacks
it. Since Madhugiri it has a type of its own, which roots cover.

core/state_transition.go, core/bor_fee_log.go and params/config.go of bor 2.2: a contract gets base
fees. The block's author gets tips: it is not `miner`, but the recipient of a log that the protocol
appends to each transaction. A state sync moves coin out of the coin's contract, which logs Deposit
of MRC20.sol of 0xPolygon/pos-contracts.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of Polygon, Amoy and other chains of bor")
