"""The worker understands requests as gunicorn's own threaded worker does, however they arrive."""

import re
import socket
import time

import pytest
from gunicorn.http import wsgi

from scan.server.responses import Response, UnparsedRequest
from tests.http.conftest import UNLIMITED
from tests.support.serving import connect, gunicorn

RESPONSE = re.compile(rb"HTTP/1\.[01] ([0-9]{3}) (.*?)\r\n\r\n", re.DOTALL)
LENGTH = re.compile(rb"Content-Length: ([0-9]+)")
BLOCKS = b'{"entity":"blocks"}'


def post(*headers, body=b"", path=b"/api/v1/query"):
    lines = [b"POST %b HTTP/1.1" % path, b"Host: x", b"Content-Type: application/json", *headers]
    return b"\r\n".join([*lines, b"", b""]) + body


CHUNKED = b"Transfer-Encoding: chunked"


@pytest.fixture(scope="module")
def servers(shared_database_url):
    """Of the worker, and of gunicorn's own."""
    with (
        gunicorn(shared_database_url, **UNLIMITED) as ours,
        gunicorn(shared_database_url, "--worker-class", "gthread", **UNLIMITED) as gunicorns,
    ):
        yield ours, gunicorns


def ask(server, *parts):
    """Status and body of each response; no body where gunicorn's own worker has HTML."""
    with connect(server) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            client.sendall(part)
            if len(parts) > 1:
                time.sleep(0.001)
        client.shutdown(socket.SHUT_WR)
        data = b""
        while part := client.recv(65536):
            data += part
    return list(responses(data))


def responses(data):
    while data:
        head = RESPONSE.match(data)
        assert head is not None, data
        length = LENGTH.search(head[2])
        size = int(length[1]) if length and len(data) > head.end() else 0
        body = data[head.end() : head.end() + size]
        data = data[head.end() + size :]
        is_parsed = b"\r\nX-Request-Id: " in head[2] or head[1] == b"100"
        yield int(head[1]), body if is_parsed else None


@pytest.mark.check
@pytest.mark.parametrize(
    "headers",
    [
        [],
        [
            ("Content-Type", "text/plain"),
            ("Content-Length", "5"),
            ("ETag", '"a"'),
            ("Vary", "Accept"),
        ],
        [("Content-Length", "five")],
        [("ETag", "a\r\nSet-Cookie: b")],
        [("Link", "\x7f"), ("ETag", "a")],
        [("Link", "\xe9\u20ac")],
        [("Connection", "close"), ("Transfer-Encoding", "chunked"), ("ETag", "a")],
        [("ETag\r\nX", "a")],
        [("Odd Name", "a")],
        [("Content-Length", 5)],
    ],
    ids=str,
)
def test_headers_of_a_response_are_checked_as_by_gunicorn(headers):
    """The usual ones all at once."""

    def processed(response):
        """The headers as they are sent, and the length; or how they are refused."""
        try:
            response.process_headers(headers)
        except Exception as error:
            return type(error)
        return response.headers, response.response_length

    arguments = (UnparsedRequest(), None, None)
    assert processed(Response(*arguments)) == processed(wsgi.Response(*arguments))


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /nothing HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /healthz HTTP/1.0\r\n\r\n",
        b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://x/healthz?a=b HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /api/v1/blocks HTTP/1.1\r\nHost: x\r\nX-Odd:\t a \r\nX-Empty:\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        b"GET /healthz HTTP/1.1\r\n\r\n",
        post(b"Content-Length: 19", body=BLOCKS) * 2 + b"GET /healthz HTTP/1.1\r\n\r\n",
        post(b"Content-Length: 19", body=BLOCKS, path=b"/nothing")
        + b"GET /healthz HTTP/1.1\r\n\r\n",
        post(CHUNKED, body=b"8\r\n" + BLOCKS[:8] + b"\r\nB\r\n" + BLOCKS[8:] + b"\r\n0\r\n\r\n")
        * 2,
        post(CHUNKED, body=b'13; a="b"\r\n' + BLOCKS + b"\r\n000\r\nX-Trailer: y\r\n\r\n") * 2,
        post(CHUNKED, body=b"17\r\n\r\n\r\n" + BLOCKS + b"\r\n0\r\n\r\n"),
        post(b"Expect: 100-continue", b"Content-Length: 19", body=BLOCKS),
        post(),
        # Malformed.
        b"GARBAGE\r\n\r\n",
        b"GET /api/v1/blocks HTTP/1.1\r\nHost: x\r\n\r\n" * 3 + b"GARBAGE\r\n\r\n",
        b"GET /api/v1/blocks HTTP/1.1\r\nHost: x\r\n\r\n" * 3 + b"GET / HT",
        b"\r\n\r\n",
        b"get /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/2.0\r\n\r\n",
        b"GET /healthz HTTP/1.1\nHost: x\n\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nA: \x00\r\n\r\n",
        b"GET /h\xe4 HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nExpect: more\r\n\r\n",
        post(b"Content-Length: 1", b"Content-Length: 1", body=b"x"),
        post(b"Content-Length: +1", body=b"x"),
        post(b"Content-Length: 1", CHUNKED, body=b"0\r\n\r\n"),
        post(b"Transfer-Encoding: gzip", body=b"x"),
        post(b"Transfer-Encoding: chunked, chunked", body=b"0\r\n\r\n"),
        post(CHUNKED, body=b"13\r\n" + BLOCKS + b"XX0\r\n\r\n"),
        post(CHUNKED, body=b"-13\r\n" + BLOCKS + b"\r\n0\r\n\r\n"),
        post(CHUNKED, body=b"13\n" + BLOCKS + b"\r\n0\r\n\r\n"),
        post(CHUNKED, body=b"13\r\n" + BLOCKS + b"\r\n0\r\nHost: x\r\n\r\n"),
        post(CHUNKED, body=b"13\r\n" + BLOCKS),
        post(CHUNKED, body=b"zz\r\n\r\n"),
        post(b"Content-Length: 30", body=BLOCKS),
    ],
    ids=lambda r: ascii(r)[2:50],
)
@pytest.mark.thorough
def test_a_request_is_answered_as_by_gunicorn_however_it_arrives(servers, request_):
    """Also byte by byte, and cut around the ends of its lines."""
    ours, gunicorns = servers
    whole = ask(gunicorns, request_)
    assert ask(ours, request_) == whole
    assert ask(ours, *(request_[n : n + 1] for n in range(len(request_)))) == whole
    ends = {match.end() + by for match in re.finditer(b"\n", request_) for by in (-2, -1, 0, 1)}
    for end in sorted(ends):
        assert ask(ours, request_[:end], request_[end:]) == whole, request_[:end]
