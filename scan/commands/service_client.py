"""HTTP requests of commands to a running service, and where it is."""

import argparse
import fcntl
import json
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from scan.errors import ScanError
from scan.outbound.allowed_urls import Purpose
from scan.outbound.http_client import AttemptTimeouts, HttpClient, NotFetched, tls_context
from scan.settings import Settings, client_api_key

MAX_RESPONSE_BYTES = 16 * 1024 * 1024
LOCK_FILE = "lock"  # of SCAN_DATA_DIR: `scan run` holds it, and writes the service's URL to it


def add_url(command: argparse.ArgumentParser) -> None:
    text = "URL of the service; default: that of `scan run` with this SCAN_DATA_DIR, or HOST:PORT"
    command.add_argument("--url", help=text)


def service_url(settings: Settings, options: argparse.Namespace) -> str:
    """Return the URL of the service that a command means, without a slash at its end: --url, that
    of the running `scan run` with the same SCAN_DATA_DIR, or HOST and PORT."""
    url: str | None = options.url
    if not url and (settings.host, settings.port) == (Settings.host, Settings.port):
        with suppress(OSError), (settings.data_dir / LOCK_FILE).open(encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # free: what ran was killed
            except BlockingIOError:
                url = lock.read()
    return (url or settings.base_url).rstrip("/")


class NoResponse(ScanError):
    """The service cannot be reached, or does not respond in HTTP."""


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """Return the JSON object of the body; {} where it has none."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def send(
    settings: Settings,
    url: str,
    timeout_s: float,
    *,
    method: str | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
    body: object = None,
) -> Response:
    """Return the response, of whatever status. SCAN_API_KEY is sent along where it is set, and the
    `body` as JSON; without a `method`, a request with a body is a POST. Raises NoResponse."""
    if key := client_api_key():
        headers = {"X-API-Key": key, **headers}
    client = HttpClient(
        tls_context(settings.ca_bundle), AttemptTimeouts(timeout_s, timeout_s), Purpose.OPERATOR
    )
    data = None if body is None else json.dumps(body).encode()
    try:
        with client.open(url, method=method, body=data, headers=headers) as response:
            return Response(response.status, response.headers, response.read(MAX_RESPONSE_BYTES))
    except NotFetched as error:
        raise NoResponse(f"no response from {url}: {error}") from None
