"""`scan mcp`: the Model Context Protocol over standard input and output, for any running Scan."""

import argparse
from functools import partial
from typing import Any

import orjson

from scan.commands.service_client import add_url, send, service_url
from scan.errors import ScanError, install_extra
from scan.extensions.mcp import is_installed
from scan.extensions.mcp.tools import ApiRequest, ApiResponse
from scan.settings import Settings

TIMEOUT_S = 30

DESCRIPTION = """\
Serves the API's read-only operations as tools for language models, over standard input and output
(Model Context Protocol). It is a client of a running service, which serves the same over HTTP at
/mcp. SCAN_API_KEY in the environment is the API key to use. Needs the extra mcp; see
docs/api.md."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.set_defaults(run=run)
    add_url(command)


def run(settings: Settings, options: argparse.Namespace) -> int:
    if not is_installed():
        raise ScanError(f"its packages are not installed: {install_extra('mcp')}")
    import anyio
    from mcp.server.stdio import stdio_server

    from scan.extensions.mcp.server import make_server

    url = service_url(settings, options)
    request = partial(_request, settings, url)
    document = _document(request(ApiRequest("GET", "/api/v1/openapi.json", "", None)), url)

    async def send(sent: ApiRequest) -> ApiResponse:
        return await anyio.to_thread.run_sync(request, sent)

    async def serve() -> None:
        server = make_server(document, send)
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    anyio.run(serve)
    return 0


def _document(response: ApiResponse, url: str) -> dict[str, Any]:
    try:
        document = orjson.loads(response.body)
        if "paths" in document:
            return dict(document)
    except (orjson.JSONDecodeError, TypeError):
        pass
    raise ScanError(f"{url} is not Scan: it has no OpenAPI document at /api/v1/openapi.json")


def _request(settings: Settings, url: str, sent: ApiRequest) -> ApiResponse:
    query = f"?{sent.query}" if sent.query else ""
    address = f"{url}{sent.path}{query}"
    response = send(settings, address, TIMEOUT_S, method=sent.method, body=sent.body)
    return ApiResponse(response.status, response.body)
