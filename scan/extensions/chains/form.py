"""The forms of all chains."""

from scan.ethereum.hooks import Forms
from scan.extensions.chains import (
    arbitrum,
    avalanche,
    celo,
    clique,
    gnosis,
    mantle,
    op_stack,
    parlia,
    polygon,
    scroll,
    taiko,
    zksync,
)

CHAINS = (
    arbitrum,
    avalanche,
    celo,
    clique,
    gnosis,
    mantle,
    op_stack,
    parlia,
    polygon,
    scroll,
    taiko,
    zksync,
)
HOOKS = Forms(forms=[form for chain in CHAINS for form in chain.FORMS])
