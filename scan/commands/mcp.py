"""`scan mcp`: the Model Context Protocol over standard input and output, for any running Scan."""

import argparse
import json
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import orjson

from scan import mcp
from scan.errors import ScanError
from scan.mcp.tools import ApiRequest, ApiResponse
from scan.settings import Settings, client_api_key

TIMEOUT_S = 30
MAX_RESPONSE_BYTES = 16 * 1024 * 1024

DESCRIPTION = """\
Serves the API's read-only operations as tools for language models, over standard input and output
(Model Context Protocol). It is a client of a running service, which serves the same over HTTP at
/mcp. SCAN_API_KEY in the environment is the API key to use. Needs the packages of scan[mcp]; see
docs/agents.md."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.set_defaults(run=run)
    command.add_argument("--url", help="URL of the service; default http://HOST:PORT")


def run(settings: Settings, options: argparse.Namespace) -> int:
    if not mcp.is_installed():
        raise ScanError("the packages of scan[mcp] are not installed: pip install 'scan[mcp]'")
    import anyio
    from mcp.server.stdio import stdio_server

    from scan.mcp.server import make_server

    url = (options.url or settings.base_url).rstrip("/")
    document = _document(_request(url, ApiRequest("GET", "/api/v1/openapi.json", "", None)), url)

    async def send(sent: ApiRequest) -> ApiResponse:
        return await anyio.to_thread.run_sync(_request, url, sent)

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


def _request(url: str, sent: ApiRequest) -> ApiResponse:
    headers = {"Content-Type": "application/json"} if sent.body is not None else {}
    key = client_api_key()
    if key:
        headers["X-API-Key"] = key
    query = f"?{sent.query}" if sent.query else ""
    request = Request(
        f"{url}{sent.path}{query}",
        None if sent.body is None else json.dumps(sent.body).encode(),
        headers,
        method=sent.method,
    )
    try:
        with urlopen(request, timeout=TIMEOUT_S) as response:
            return ApiResponse(response.status, response.read(MAX_RESPONSE_BYTES))
    except HTTPError as error:
        return ApiResponse(error.code, error.read(MAX_RESPONSE_BYTES))
    except (URLError, HTTPException, OSError, ValueError) as error:
        raise ScanError(f"no valid response from {url}: {error}") from None
