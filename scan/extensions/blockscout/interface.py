"""/api/v2 and its statistics among the interfaces: the routes of this extension and of others."""

from collections.abc import Sequence

from flask import Flask

from scan import registry
from scan.extensions.blockscout import (
    address_holdings,
    addresses,
    advanced_filters,
    blocks,
    contracts,
    network,
    search,
    stats_service,
    tokens,
    transactions,
)
from scan.extensions.blockscout.errors import BLOCKSCOUT, PREFIX, STATS_PREFIX
from scan.http.interfaces import Interface
from scan.settings import Settings

BLUEPRINTS = (
    *(blocks.blueprint, transactions.blueprint, addresses.blueprint, address_holdings.blueprint),
    *(tokens.blueprint, contracts.blueprint, search.blueprint, network.blueprint),
    advanced_filters.blueprint,
)


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    for blueprint in (*BLUEPRINTS, *registry.values("blockscout", "blueprint")):
        app.register_blueprint(blueprint, url_prefix=PREFIX)
    app.register_blueprint(stats_service.blueprint, url_prefix=STATS_PREFIX)
    return (BLOCKSCOUT,)
