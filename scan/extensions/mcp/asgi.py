"""One request to an ASGI application from a WSGI thread, on an event loop of its own."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import anyio

from scan.server.wsgi_responses import Environ, Headers

Application = Callable[[Any, Any, Any], Awaitable[None]]


class AsgiResponse(NamedTuple):
    status: int
    headers: Headers
    body: bytes


async def respond(application: Application, environ: Environ, body: bytes) -> AsgiResponse:
    messages: list[dict[str, Any]] = []
    unread = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if unread:
            return unread.pop()
        await anyio.sleep_forever()  # the client stays connected as long as its thread waits
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await application(_scope(environ), receive, send)
    start = messages[0]
    return AsgiResponse(
        start["status"],
        [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]],
        b"".join(message.get("body", b"") for message in messages[1:]),
    )


def _scope(environ: Environ) -> dict[str, Any]:
    headers = [
        (name.removeprefix("HTTP_").replace("_", "-").lower().encode(), value.encode("latin-1"))
        for name, value in environ.items()
        if name.startswith("HTTP_") or name in ("CONTENT_TYPE", "CONTENT_LENGTH")
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": environ["REQUEST_METHOD"],
        "scheme": environ["wsgi.url_scheme"],
        "path": environ["PATH_INFO"],
        "raw_path": environ["PATH_INFO"].encode("latin-1"),
        "query_string": environ["QUERY_STRING"].encode("latin-1"),
        "headers": headers,
        "server": None,
        "client": None,
    }
