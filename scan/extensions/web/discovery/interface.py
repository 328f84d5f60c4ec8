"""The files, which are not rate limited."""

from collections.abc import Sequence

from flask import Flask

from scan.extensions.web.discovery.files import discovery
from scan.http.hooks import Interfaces
from scan.http.interfaces import Interface
from scan.settings import Settings


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    app.register_blueprint(discovery(app.extensions["scan.document"]))
    return ()


HOOKS = Interfaces(register=register)
