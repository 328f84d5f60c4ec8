"""The forms of all chains."""

from scan.ethereum.hooks import Forms
from scan.extensions.chains import arbitrum, collected_fees, op_stack, sealed_blocks, zk_rollups

CHAINS = (arbitrum, sealed_blocks, collected_fees, op_stack, zk_rollups)
HOOKS = Forms(forms=[form for chain in CHAINS for form in chain.FORMS])
