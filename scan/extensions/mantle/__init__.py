"""Mantle: a chain of the OP Stack whose coin is MNT.

core/state_transition.go and core/types/deposit_tx.go of mantlenetworkio/op-geth: until Arsia the
fee for L1 is turned into gas, so it is within gasUsed already. Since Arsia fees are as on the OP
Stack since Jovian, and receipts have `l1BaseFeeScalar`.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of Mantle", needs=("op_stack",))
