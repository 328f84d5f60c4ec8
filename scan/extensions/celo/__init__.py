"""Celo, since it is a chain of the OP Stack: fees in other currencies (CIP-64).

core/types/celo_dynamic_fee_tx_v2.go, core/types/receipt.go, core/state_transition.go,
core/vm/celo_contracts.go and contracts/addresses of celo-org/op-geth. Blocks of its time as an L1
are in part encoded in other ways.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of Celo", needs=("op_stack",))
