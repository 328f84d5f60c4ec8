"""The plainest of HTTP requests, read at a glance; whatever else comes is for a real parser."""

import re
from typing import NamedTuple

# As much of a head as any browser or client sends, without folding, odd letters or odd spaces.
_HEAD = re.compile(
    rb"(GET|POST) (/[!$&-~]*) HTTP/1\.1\r\n((?:[A-Za-z0-9-]+: ?[!-~][ -~]*\r\n){1,50})\r\n"
)
MOST_HEAD_BYTES = 4096
_NOT_PLAIN = {
    *("transfer-encoding", "expect", "upgrade", "http2-settings", "te", "trailer"),
    *("x-forwarded-protocol", "x-forwarded-ssl"),  # which may contradict X-Forwarded-Proto
}


class PlainRequest(NamedTuple):
    """`headers` have lower-case names; of the bytes it was read from it takes `size`."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    size: int


def read(data: bytes) -> PlainRequest | None:
    """The request that `data` begins with, where it is whole, and plain, and leaves no doubt.

    HTTP/1.1 that keeps the connection open, nothing escaped in its target, one Host and no header
    twice; a GET without a body, or a POST with one of the length that it says.
    """
    head = _HEAD.match(data)
    if head is None or head.end() > MOST_HEAD_BYTES:
        return None
    lines = head[3].decode("ascii").split("\r\n")[:-1]
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip(" ")
    if len(headers) < len(lines) or "host" not in headers or not _NOT_PLAIN.isdisjoint(headers):
        return None
    if headers.get("connection", "keep-alive").lower() != "keep-alive":
        return None
    size = _size(head[1], head.end(), headers.get("content-length"))
    if size is None or size > len(data):
        return None
    path, _, query = head[2].decode("ascii").partition("?")
    return PlainRequest(
        head[1].decode("ascii"), path, query, headers, data[head.end() : size], size
    )


def _size(method: bytes, head_size: int, content_length: str | None) -> int | None:
    if content_length is None:
        return head_size if method == b"GET" else None
    if method == b"GET" or not (content_length.isdigit() and len(content_length) < 7):
        return None
    return head_size + int(content_length)
