"""The modules of routes, each with its blueprint."""

from scan.blockscout import (
    address_holdings,
    addresses,
    blocks,
    contracts,
    network,
    search,
    tokens,
    transactions,
    user_operations,
)

MODULES = (
    blocks,
    transactions,
    addresses,
    address_holdings,
    tokens,
    contracts,
    user_operations,
    search,
    network,
)
