"""Forwards a request to a chain's service, and its response to the client, by the file of chains: a
table in TOML for each, whose name is the chain's path.

[bsc]
chain_id = 56
name = "BNB Chain"
url = "http://127.0.0.1:8101"       # its service, for `scan gateway`
RPC_URL = "http://127.0.0.1:8545"   # its environment, for `scan run --chains`

Paths are relative to the folder of the file: the gateway reads it in another working directory.
"""

import re
import tempfile
import threading
import tomllib
from collections.abc import Hashable, Iterable, Mapping
from contextlib import ExitStack, chdir, suppress
from functools import partial
from http.client import responses
from pathlib import Path
from typing import Any, NamedTuple

import urllib3
from urllib3.exceptions import HTTPError

from scan.errors import SettingError, Unavailable
from scan.extensions.streams.open_response import OpenResponse, OpenStreams, keep_open
from scan.rate_limits.client_address import client_address
from scan.rate_limits.concurrency import ConcurrencyLimit
from scan.server.responses import Environ, FileBody, Headers
from scan.settings import Settings, absolute_paths

MAX_CHAINS = 100
_OWN_KEYS = {"chain_id", "name", "url"}
_PATH = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+?(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?")
# Variables that `scan run --chains` itself sets for the process of a chain.
_SET_HERE = set(
    """
    HOST PORT SCAN_BASE_PATH SCAN_CHAIN_NAME SCAN_DATA_DIR SCAN_TRUSTED_PROXIES WEB_CONCURRENCY
    """.split()
)


class Chain(NamedTuple):
    """A chain: its path without slashes, its service's URL, its process's environment."""

    path: str
    chain_id: int
    name: str
    url: str
    environment: Mapping[str, str]


def read_chains(file: Path, settings: Settings) -> tuple[Chain, ...]:
    """Return the chains of a file; raises SettingError.

    The nth chain, where it has no `url`, is served at the port PORT + n.
    """
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingError("chains", str(file), f"cannot be read: {error}") from None
    with chdir(file.absolute().parent):
        chains = tuple(
            _chain(path, table, settings.port + number)
            for number, (path, table) in enumerate(tables.items(), 1)
        )
    if not 1 <= len(chains) <= MAX_CHAINS:
        raise SettingError("chains", str(file), f"must contain 1 to {MAX_CHAINS} tables")
    if len({chain.chain_id for chain in chains}) < len(chains):
        raise SettingError("chains", str(file), "has the same chain_id twice")
    return chains


def _chain(path: str, table: Any, port: int) -> Chain:
    def refuse(key: str, value: object, reason: str) -> SettingError:
        return SettingError(f"{key} of the chain {path}", str(value), reason)

    if not _PATH.fullmatch(path) or not isinstance(table, dict):
        raise refuse("the table", path, "must be a table named by lower-case letters and digits")
    chain_id, name = table.get("chain_id"), table.get("name", path)
    url = table.get("url", f"http://127.0.0.1:{port}")
    if type(chain_id) is not int or not 0 < chain_id < 2**63:
        raise refuse("chain_id", chain_id, "must be the number that the node's eth_chainId returns")
    if not isinstance(url, str) or not _URL.fullmatch(url):
        raise refuse("url", url, "must be the http or https URL of the chain's service")
    variables = {key: str(value) for key, value in table.items() if key not in _OWN_KEYS}
    for key in variables:
        if not _VARIABLE.fullmatch(key) or key in _SET_HERE:
            raise refuse(key, table[key], "is no environment variable that may be set here")
    as_run = {"SCAN_BASE_PATH": f"/{path}", "SCAN_CHAIN_NAME": str(name)}
    environment = absolute_paths(variables | as_run)
    Settings.from_environment(environment)  # raises SettingError
    return Chain(path, chain_id, str(name), url.rstrip("/"), environment)


# For each chain, so that a service that hangs does not hold up requests of other chains.
REQUESTS_AT_ONCE = 32
REQUESTS_OF_CLIENT = 24
FILES_AT_ONCE = 16  # responses that lie on disk until their clients have taken them
FILES_OF_CLIENT = 4
LARGE_RESPONSE_BYTES = 1024 * 1024
PIECE_BYTES = 64 * 1024
CONNECT_S = 2.0
READ_S = 120.0  # as nginx waits for a verification

# Hop-by-hop headers (RFC 9110, 7.6.1), and those that a service believes only from its proxy.
_HOP_BY_HOP = set(
    """
    connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding
    upgrade proxy-connection
    """.split()
)
_OF_PROXIES = {"forwarded", "x-real-ip", "x-scan-limit-key", "x-forwarded-for"}
_NOT_SENT = {*_HOP_BY_HOP, *_OF_PROXIES, "x-forwarded-proto", "expect", "content-length", "host"}


class Forwarded(NamedTuple):
    """A response of a chain's service."""

    status: int
    headers: Headers
    body: Iterable[bytes]

    @property
    def status_line(self) -> str:
        return f"{self.status} {responses.get(self.status, 'Unknown')}"


class ServiceState(NamedTuple):
    """The state of a chain's service; `problem` is empty where it is ready, and of this chain."""

    chain: Chain
    is_answering: bool
    problem: str
    lag_blocks: int | None = None


class Service:
    """The service of one chain, for any thread."""

    def __init__(self, chain: Chain, trusted_proxies: int) -> None:
        self.chain = chain
        self._trusted_proxies = trusted_proxies
        self._url = urllib3.util.parse_url(chain.url)
        self._pool = urllib3.connection_from_url(chain.url, maxsize=REQUESTS_AT_ONCE)
        busy = self._sentence("has too many requests at once")
        self._requests = ConcurrencyLimit(
            REQUESTS_AT_ONCE, places_per_client=REQUESTS_OF_CLIENT, busy=busy
        )
        self._files = ConcurrencyLimit(FILES_AT_ONCE, places_per_client=FILES_OF_CLIENT, busy=busy)
        self._streams: OpenStreams[ForwardedStream] = OpenStreams()

    def forward(
        self, environ: Environ, target: str, body: bytes, read_s: float = READ_S
    ) -> Forwarded:
        """Forward a request; `target` is its path, without the chain's prefix, and its query.

        Raises Unavailable where the service does not answer, or has too many requests already, and
        RateLimited where the client has too many streams.
        """
        client = self._client(environ)
        with ExitStack() as places:
            places.enter_context(self._requests.place(client))
            response = self._send(environ, target, body, read_s)
            headers = [
                (name, value)
                for name, value in response.headers.items()
                if name.lower() not in _HOP_BY_HOP
            ]
            if response.headers.get("Content-Type", "").startswith("text/event-stream"):
                return Forwarded(response.status, headers, self._stream(environ, response))
            places.callback(response.release_conn)
            try:
                return Forwarded(response.status, headers, self._body(response, client))
            except HTTPError as error:
                response.close()
                raise self._unavailable("has ended its response early") from error

    def state(self) -> ServiceState:
        """Ask the service for /readyz, which it computes at most once a second."""
        try:
            with self._requests.place():
                timeout = urllib3.Timeout(connect=CONNECT_S, read=CONNECT_S)
                path = f"{self._url.path or ''}/readyz"
                response = self._pool.request("GET", path, timeout=timeout, retries=False)
                body = dict(response.json())
        except (HTTPError, ValueError, TypeError):
            return ServiceState(self.chain, is_answering=False, problem="does not answer")
        except Unavailable:
            return ServiceState(self.chain, is_answering=False, problem="has too many requests")
        served = body.get("chainId")
        if served not in (None, self.chain.chain_id):
            problem = f"serves chain {served}, not {self.chain.chain_id}"
            return ServiceState(self.chain, is_answering=False, problem=problem)
        problem = body.get("problem") or ("" if response.status == 200 else "is not ready")
        lag = body.get("lagBlocks")
        return ServiceState(self.chain, True, str(problem), lag if type(lag) is int else None)

    def _send(
        self, environ: Environ, target: str, body: bytes, read_s: float
    ) -> urllib3.BaseHTTPResponse:
        try:
            return self._pool.urlopen(
                environ["REQUEST_METHOD"],
                (self._url.path or "") + target,
                body=body or None,
                headers=self._headers(environ, has_body=bool(body)),
                timeout=urllib3.Timeout(connect=CONNECT_S, read=read_s),
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
        except HTTPError as error:
            raise self._unavailable("does not answer") from error

    def _headers(self, environ: Environ, *, has_body: bool) -> dict[str, str]:
        """Return the client's headers, with its true address instead of any that it claims."""
        headers = {}
        for key, value in environ.items():
            name = key.removeprefix("HTTP_").replace("_", "-").title()
            if key.startswith("HTTP_") and name.lower() not in _NOT_SENT:
                headers[name] = value
        if has_body:
            headers["Content-Type"] = environ.get("CONTENT_TYPE", "")
        if "HTTP_HOST" in environ:
            headers["Host"] = environ["HTTP_HOST"]
        for name in ("Accept-Encoding", "User-Agent"):  # urllib3 would send its own
            headers.setdefault(name, urllib3.util.SKIP_HEADER)
        # An IPv6 network is sent without its length; the service derives the same network from it.
        headers["X-Forwarded-For"] = self._client(environ).partition("/")[0]
        if self._trusted_proxies and "HTTP_X_FORWARDED_PROTO" in environ:
            headers["X-Forwarded-Proto"] = environ["HTTP_X_FORWARDED_PROTO"]
        return headers

    def _client(self, environ: Environ) -> str:
        return client_address(environ, self._trusted_proxies)

    def _body(self, response: urllib3.BaseHTTPResponse, client: str) -> Iterable[bytes]:
        """Return the whole body, so that no thread or connection waits for the client."""
        start = response.read(LARGE_RESPONSE_BYTES)
        if len(start) < LARGE_RESPONSE_BYTES:
            return [start]
        with ExitStack() as places:
            places.enter_context(self._files.place(client))
            file = places.enter_context(tempfile.TemporaryFile())
            file.write(start)
            for piece in response.stream(PIECE_BYTES):
                file.write(piece)
            body = FileBody(file, partial(self._files.give_back, client))
            places.pop_all()
            return body

    def _stream(self, environ: Environ, response: urllib3.BaseHTTPResponse) -> Iterable[bytes]:
        """Take a place for a stream, by the limits of the service's own streams.

        The service has checked the key: an unknown one would have been refused.
        """
        address = self._client(environ)
        key = environ.get("HTTP_X_API_KEY") or environ.get("HTTP_AUTHORIZATION")
        stream = ForwardedStream(response, self._streams, key or address, address)
        with ExitStack() as places:
            places.callback(response.close)
            self._streams.add(stream)
            keep_open(environ, stream)
            places.pop_all()
        return [b""]

    def _unavailable(self, reason: str) -> Unavailable:
        return Unavailable(self._sentence(reason))

    def _sentence(self, reason: str) -> str:
        service = f"The service of {self.chain.name} (chain {self.chain.chain_id})"
        return f"{service} {reason}; try again shortly."


class ForwardedStream:
    """An event stream of a chain's service, which a thread of its own reads."""

    def __init__(
        self,
        response: urllib3.BaseHTTPResponse,
        open_streams: "OpenStreams[ForwardedStream]",
        client: Hashable,
        address: Hashable,
    ) -> None:
        self.client = client
        self.address = address
        self._response = response
        self._open_streams = open_streams
        self._is_closed = False

    def attach(self, sink: OpenResponse) -> None:
        threading.Thread(target=self._read, args=(sink,), name="stream", daemon=True).start()

    def close(self) -> None:
        """Give the place back and end the thread's read, so that the service's stream is closed at
        once; the worker's loop calls this, which does not wait."""
        self._is_closed = True
        self._open_streams.remove(self)
        with suppress(OSError, ValueError):  # the service has ended it
            self._response.shutdown()

    def _read(self, sink: OpenResponse) -> None:
        try:
            while not self._is_closed and (piece := self._response.read1()):
                sink.send(piece)
        except HTTPError:
            pass  # the client connects again, as after any end of a stream
        finally:
            self._response.close()
            self._open_streams.remove(self)
            sink.end()
