"""POST /mcp among the interfaces, where the protocol's packages are installed."""

from collections.abc import Sequence

from flask import Flask

from scan.extensions.mcp import is_installed
from scan.extensions.mcp.endpoint import INTERFACE, endpoint
from scan.http.interfaces import Interface
from scan.settings import Settings

APIS = ("/mcp",) if is_installed() else ()
LLMS = (
    ("- [MCP server]({base}/mcp): twelve tools over streamable HTTP, for language models",)
    if is_installed()
    else ()
)


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    if not is_installed():
        return ()
    app.register_blueprint(endpoint(app.extensions["scan.document"]))
    return (INTERFACE,)
