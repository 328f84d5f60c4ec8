"""The forms of all chains."""

from scan.ethereum.hooks import Forms
from scan.extensions.chains import (
    arbitrum,
    avalanche,
    gnosis,
    op_stack,
    polygon,
    sealed_blocks,
    zk_rollups,
)

CHAINS = (arbitrum, avalanche, gnosis, op_stack, polygon, sealed_blocks, zk_rollups)
HOOKS = Forms(forms=[form for chain in CHAINS for form in chain.FORMS])
