"""The modules of routes, each with its blueprint."""

from scan import registry
from scan.blockscout import (
    address_holdings,
    addresses,
    blocks,
    contracts,
    network,
    search,
    tokens,
    transactions,
)

MODULES = (
    blocks,
    transactions,
    addresses,
    address_holdings,
    tokens,
    contracts,
    *registry.parts("blockscout"),
    search,
    network,
)
