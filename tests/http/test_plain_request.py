"""Whatever scan.plain_request reads, gunicorn reads in the same way, to the last byte."""

from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scan.http.plain_request import PlainRequest, read

LIMITS = {"limit_request_line": 8190, "limit_request_fields": 100}
CLIENT = ("127.0.0.1", 4711)  # whose X-Forwarded-Proto gunicorn believes


def config() -> Config:
    found = Config()
    for name, value in {**LIMITS, "limit_request_field_size": 16384}.items():
        found.set(name, value)
    return found


CONFIG = config()
AGAIN = b"GET /again HTTP/1.1\r\nHost: x\r\n\r\n"


def parsed(data: bytes) -> tuple[Request, bytes, bytes]:
    """gunicorn's reading: the message, its body, and what is left behind it."""
    parser: Any = RequestParser(CONFIG, iter([data]), CLIENT)
    message = next(parser)
    body = message.body.read()
    return message, body, parser.unreader.read()


def agrees(data: bytes) -> bool:
    """Whether it was plain; fails where gunicorn refuses it or reads it in another way."""
    plain = read(data)
    if plain is None:
        return False
    message, body, rest = parsed(data)
    assert (plain.method, plain.path, plain.query) == (message.method, message.path, message.query)
    assert [*plain.headers.items()] == [(name.lower(), value) for name, value in message.headers]
    assert (plain.body, data[plain.size :]) == (body, rest)
    assert message.version == (1, 1) and not message.fragment and not message.should_close()
    return True


TARGETS = [
    *("/api/v1/blocks?limit=5", "/", "//x", "/a/../b", "/;a?b?c", "/a:b@c", "/?", "/a//b?://"),
    *("http://x/y", "*", "x:80", "/a%2fb", "/a#b", "/\\[", "//[", "/a b", "/\x7f", "/\xe9"),
]
NAMES = [
    *("Host", "host", "Accept", "Connection", "Content-Length", "content-length", "Content-Type"),
    *("Transfer-Encoding", "Expect", "Upgrade", "TE", "Trailer", "HTTP2-Settings", "Cookie"),
    *("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Ssl", "X-Forwarded-Protocol"),
    *("X_API_Key", "X-API-Key", "A b", "", "Host ", " Host", "Ho\tst", "\xe9", "Path-Info"),
]
VALUES = [
    *("", "0", "1", "3", "+3", "3, 3", "03", "3 ", "\t3", "0x3", "-1", "1_0", "9" * 20),
    *("close", "keep-alive", "Keep-Alive", "keep-alive, close", "chunked", "identity", "x"),
    *("100-continue", "https", "http", "on", "ssl", "a\r\n b", "a\nb", "a\x00b", "a\tb", "\xe9"),
]
printable = st.characters(min_codepoint=32, max_codepoint=126)
targets = st.sampled_from(TARGETS) | st.text(printable, max_size=12).map("/{}".format)
names = st.sampled_from(NAMES)
values = st.sampled_from(VALUES) | st.text(printable, max_size=8)
separators = st.sampled_from([": ", ":", ":  ", " : ", ":\t", ""])
endings = st.sampled_from(["\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n"])
often = st.integers(0, 9).map(bool)  # what is odd everywhere is plain nowhere


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    method = draw(st.sampled_from(["GET", "POST", "GET", "POST", "HEAD", "get", "PUT"]))
    version = "HTTP/1.1" if draw(often) else draw(st.sampled_from(["HTTP/1.0", "HTTP/1.10"]))
    lines = [f"{method} {draw(targets)} {version}", "Host: x"]
    for name, value in draw(st.lists(st.tuples(names, values), max_size=4)):
        lines.append(f"{name}{': ' if draw(often) else draw(separators)}{value}")
    ends = ["\r\n" if draw(often) else draw(endings) for _ in lines]
    head = "".join(line + end for line, end in zip(lines, ends, strict=True))
    behind = draw(st.sampled_from([b"", b"abc", AGAIN, b"abc" + AGAIN, b"\r\n" + AGAIN, b"G"]))
    return head.encode("latin-1") + b"\r\n" + behind


@settings(max_examples=3000, deadline=None)
@given(requests())
@example(b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-Ssl: on\r\nX-Forwarded-Proto: http\r\n\r\n")
@example(
    b"GET / HTTP/1.1\r\n" + b"".join(b"A%d: x\r\n" % n for n in range(101)) + b"Host: x\r\n\r\n"
)
@example(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 03\r\n\r\nabcd")
@example(b"GET //x HTTP/1.1\r\nHost: x\r\n\r\n")
def test_gunicorn_reads_the_same(data: bytes) -> None:
    agrees(data)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["GET", "POST"]),
    st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters='"#%')),
    st.dictionaries(
        st.from_regex(r"[A-WYZ][a-z0-9-]{6,9}", fullmatch=True).map(str.lower),
        st.from_regex(r"[!-~]([ -~]{0,20}[!-~])?", fullmatch=True),
        max_size=6,
    ),
    st.binary(max_size=40),
    st.sampled_from([b"", AGAIN, b"garbage", b"GET /ha"]),
)
def test_what_is_plain_is_read(
    method: str, target: str, headers: dict[str, str], body: bytes, behind: bytes
) -> None:
    headers = {"host": "x", **headers}
    headers.pop("upgrade", None)
    headers.pop("trailer", None)
    if method == "POST":
        headers["content-length"] = str(len(body))
    else:
        body = b""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"{method} /{target} HTTP/1.1\r\n{lines}\r\n".encode()
    assert agrees(head + body + behind)
    for size in range(len(head + body)):
        assert read((head + body)[:size]) is None


@pytest.mark.parametrize(
    "line",
    [
        *("Host: y", "Content-Length: 0", "Transfer-Encoding: chunked", "Connection: close"),
        *("Expect: 100-continue", "Upgrade: h2c", "X_API_Key: a", "Accept:", "A: \t", " folded"),
        *("A : b", "A: \x7f", "A: \xe9", "Accept: a\r\nAccept: b", "A: b\n", "A"),
    ],
)
def test_what_leaves_a_doubt_is_not_plain(line: str) -> None:
    request = "GET / HTTP/1.1\r\nHost: x\r\n{}\r\n\r\n"
    assert isinstance(read(request.format("A: b").encode()), PlainRequest)
    assert read(request.format(line).encode("latin-1")) is None


def test_a_long_head_is_not_plain() -> None:
    request = b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n"
    assert read(request % (b"x" * 4000)) is not None
    assert read(request % (b"x" * 5000)) is None
