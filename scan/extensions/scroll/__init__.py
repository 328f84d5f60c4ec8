"""Scroll: messages from L1, and a fee for data on L1.

core/types/l1_message_tx.go and core/state_transition.go of scroll-tech/go-ethereum: all fees go to
one vault, whose address is SCROLL_FEE_VAULT on Scroll's own chains.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of Scroll", needs=("op_stack",))
