"""/api/v2 among the interfaces: modules of routes, of this extension and of others."""

from collections.abc import Sequence

from flask import Flask

from scan import registry
from scan.extensions.blockscout import (
    address_holdings,
    addresses,
    blocks,
    contracts,
    network,
    search,
    tokens,
    transactions,
)
from scan.extensions.blockscout.errors import BLOCKSCOUT, PREFIX
from scan.http.interfaces import Interface
from scan.http.services import Services

MODULES = (
    *(blocks, transactions, addresses, address_holdings, tokens, contracts, search, network),
)


def register(app: Flask, _services: Services) -> Sequence[Interface]:
    for module in (*MODULES, *registry.parts("blockscout")):
        app.register_blueprint(module.blueprint, url_prefix=PREFIX)
    return (BLOCKSCOUT,)
