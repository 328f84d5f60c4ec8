"""POST /mcp: the protocol over streamable HTTP, without sessions; each message has a response.

It is among the interfaces where the protocol's packages are installed.
"""

import json
from collections.abc import Sequence

from flask import Blueprint, Flask, Response, current_app, request
from werkzeug.datastructures import Headers
from werkzeug.test import EnvironBuilder, run_wsgi_app

from scan.errors import InvalidJson, UnsupportedMediaType
from scan.extensions.mcp import is_installed, tools
from scan.http import hooks, request_bodies
from scan.http.current_request import client_address, reader
from scan.http.interfaces import Interface
from scan.http.prerequisites import Prerequisite, requires
from scan.http.request_state import IS_ADMITTED
from scan.json_bodies import check_json
from scan.server.responses import Environ, refuse
from scan.settings import Settings


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    if not is_installed():
        return ()
    app.register_blueprint(blueprint)
    return (INTERFACE,)


PATH = "/mcp"
# A call of a contract may have thousands of values; validating one takes ten times its parsing.
MAX_MESSAGE_VALUES = 10_000
# The caller's address and key, one of which the API charges for each call of a tool.
CALLER = (
    "REMOTE_ADDR",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_API_KEY",
    "HTTP_AUTHORIZATION",
    IS_ADMITTED,
)
# Every message is charged as a page, besides what its call of a tool costs.
LINE = "- [MCP server]({base}/mcp): twelve tools over streamable HTTP, for language models"
INTERFACE = Interface(
    refuse,
    paths=frozenset({PATH}),
    has_page_limit=True,
    calls_api=True,
    catalogued=PATH,
    line_of_llms=LINE,
)


blueprint = Blueprint("mcp", __name__)


@blueprint.post(PATH)
@requires(Prerequisite.NODE_FIELDS)
def message() -> Response:
    # The protocol's packages take 0.5 s and 40 MB, which only its users should pay; without the
    # extra `mcp` they are not installed.
    import anyio

    from scan.extensions.mcp.server import make_server, respond, serving

    if not request.is_json:
        raise UnsupportedMediaType("Send messages as JSON: Content-Type: application/json.")
    environ, api = request.environ, current_app.wsgi_app
    body = request_bodies.whole_body(InvalidJson, is_kept=False)
    try:  # before the protocol's packages parse the message, and report its other faults
        check_json(body.decode("latin-1"), MAX_MESSAGE_VALUES)
    except ValueError as error:
        raise InvalidJson(f"The message is refused: {error}.") from None

    async def send(sent: tools.ApiRequest) -> tools.ApiResponse:
        return _request_api(api, environ, sent)  # may block: the loop serves this message alone

    server = make_server(current_app.extensions["scan.document"](), send)
    # What it requests of the API shares its place at the node: inside it must not wait.
    with reader().sources.gateway.place(client_address(), is_optional=False):
        response = anyio.run(respond, serving(server), environ, body)
    headers = Headers(response.headers)
    headers.setdefault("Content-Type", "text/plain")
    return Response(response.body, response.status, headers=headers)


def _request_api(api: object, caller: Environ, sent: tools.ApiRequest) -> tools.ApiResponse:
    """Request the API through all steps that a request over HTTP takes: limit, cache, log."""
    builder = EnvironBuilder(
        method=sent.method,
        path=sent.path,
        query_string=sent.query,
        data=None if sent.body is None else json.dumps(sent.body).encode(),
        content_type=None if sent.body is None else "application/json",
    )
    environ = builder.get_environ()
    environ |= {name: caller[name] for name in CALLER if name in caller}
    chunks, status, _ = run_wsgi_app(api, environ, buffered=True)  # type: ignore[arg-type]
    return tools.ApiResponse(int(status[:3]), b"".join(chunks))


HOOKS = hooks.Interfaces(register=register)
