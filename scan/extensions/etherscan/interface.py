"""/api and /v2/api among the interfaces."""

from collections.abc import Sequence

from flask import Flask

from scan.extensions.etherscan.blueprint import blueprint
from scan.extensions.etherscan.replies import ETHERSCAN
from scan.http.hooks import Interfaces
from scan.http.interfaces import Interface
from scan.settings import Settings


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    app.register_blueprint(blueprint)
    return (ETHERSCAN,)


HOOKS = Interfaces(register=register)
