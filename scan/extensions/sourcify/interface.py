"""/v2 and /server among the interfaces."""

from collections.abc import Sequence

from flask import Flask

from scan.extensions.sourcify.blueprint import blueprint
from scan.extensions.sourcify.errors import SOURCIFY
from scan.http.hooks import Interfaces
from scan.http.interfaces import Interface
from scan.settings import Settings


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    app.register_blueprint(blueprint)
    app.register_blueprint(blueprint, name="sourcify_server", url_prefix="/server")
    return (SOURCIFY,)


HOOKS = Interfaces(register=register)
