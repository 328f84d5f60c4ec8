"""/api/v2 and its statistics among the interfaces: the routes of this extension and of others."""

from collections.abc import Sequence

from flask import Flask

from scan import registry
from scan.extensions.blockscout import (
    addresses_and_tokens,
    advanced_filters,
    blocks,
    contracts,
    csv_files,
    network_and_search,
    stats_service,
    transactions,
)
from scan.extensions.blockscout.hooks import Blockscout
from scan.extensions.blockscout.paths import BLOCKSCOUT, PREFIX, STATS_PREFIX
from scan.http import hooks
from scan.http.interfaces import Interface
from scan.settings import Settings

BLUEPRINTS = (
    blocks.blueprint,
    transactions.blueprint,
    addresses_and_tokens.blueprint,
    contracts.blueprint,
    contracts.verification_views,
    network_and_search.blueprint,
    advanced_filters.blueprint,
    csv_files.blueprint,
)


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    of_extensions = [part.blueprint for part in registry.parts(Blockscout) if part.blueprint]
    for blueprint in (*BLUEPRINTS, *of_extensions):
        app.register_blueprint(blueprint, url_prefix=PREFIX)
    app.register_blueprint(stats_service.blueprint, url_prefix=STATS_PREFIX)
    return (BLOCKSCOUT,)


HOOKS = hooks.Interfaces(register=register)
