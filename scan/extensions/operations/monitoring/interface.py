"""GET /metrics beside the API, without a limit."""

from collections.abc import Sequence

from flask import Flask

from scan.extensions.operations.monitoring.metrics_page import blueprint
from scan.http.hooks import Interfaces
from scan.http.interfaces import Interface
from scan.settings import Settings


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    app.register_blueprint(blueprint)
    return ()


HOOKS = Interfaces(register=register)
