"""POST /mcp among the interfaces, where the protocol's packages are installed."""

from collections.abc import Sequence

from flask import Flask

from scan.extensions.mcp import is_installed
from scan.extensions.mcp.endpoint import INTERFACE, endpoint
from scan.http.hooks import Interfaces
from scan.http.request_state import Interface
from scan.settings import Settings


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    if not is_installed():
        return ()
    app.register_blueprint(endpoint(app.extensions["scan.document"]))
    return (INTERFACE,)


HOOKS = Interfaces(register=register)
