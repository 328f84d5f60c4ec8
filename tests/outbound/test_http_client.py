"""Requests to servers that anybody may have named, and to the operator's: addresses, redirects,
bytes and time are bounded here for all who send them."""

import ipaddress
import json
from base64 import b64encode

import pytest

from scan.commands import service_client
from scan.outbound.allowed_urls import Purpose
from scan.outbound.http_client import AttemptTimeouts, HttpClient, NotFetched, tls_context
from scan.settings import Settings
from tests.support import WAIT_S
from tests.support.receiver import Answer
from tests.support.serving import serving

pytestmark = pytest.mark.check

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
SHORT = AttemptTimeouts(total_s=1.0, connect_s=0.5)


@pytest.fixture
def client(authority):
    return HttpClient(tls_context(str(authority.bundle)), SHORT)


@pytest.fixture
def operators_client(authority):
    return HttpClient(tls_context(str(authority.bundle)), SHORT, Purpose.OPERATOR)


def test_a_document_is_read(client, receiver):
    receiver.behaviour = lambda *_: Answer(200, (), b"content")
    assert client.get(receiver.url("/1"), 7, LOOPBACK) == b"content"
    [request] = receiver.received
    assert request.headers["Accept-Encoding"] == "identity"
    assert not {"Cookie", "Authorization", "Referer"} & set(request.headers)


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/", "https://169.254.169.254/", "http://example.com/", "file:///etc"]
)
def test_hosts_inside_are_not_reached(url, client):
    """By the rules of all outbound URLs."""
    with pytest.raises(NotFetched):
        client.get(url, 100)


def test_networks_that_webhooks_may_reach_are_closed_to_documents(client, receiver):
    with pytest.raises(NotFetched, match="not allowed"):
        client.get(receiver.url(), 100)
    assert receiver.received == []


@pytest.mark.parametrize(
    "location",
    ["https://127.0.0.1:{port}/in", "https://localhost:{port}/in", "/in", "//localhost:{port}/in",
     "http://localhost/in", "file:///etc/passwd", ""],
)  # fmt: skip
def test_a_redirect_is_checked_as_any_url(location, client, operators_client, receiver):
    """Also where the first URL is an allowed gateway or the operator's: its redirects are not."""
    to = location.format(port=receiver.server_port)
    receiver.behaviour = lambda *_: Answer(302, (("Location", to),))
    for sender in (client, operators_client):
        with pytest.raises(NotFetched):
            sender.get(receiver.url("/out"), 100, LOOPBACK)
    assert [request.path for request in receiver.received] == ["/out", "/out"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, (), b"x" * 101),
        Answer(404, (), b"x"),
        Answer(204),
        Answer(200, (("Content-Encoding", "gzip"),), b"x"),
        Answer(200, (("Content-Length", "50"),), b"cut"),
        None,
    ],
)
def test_other_answers_are_failures(answer, client, receiver):
    receiver.behaviour = lambda *_: answer
    with pytest.raises(NotFetched):
        client.get(receiver.url(), 100, LOOPBACK)


def test_a_trickling_server_is_left_in_time(client, receiver):
    def trickle(handler, _received):
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        for _ in range(100):
            if handler.server.closing.wait(0.2):
                break
            handler.wfile.write(b"x")
        return None

    receiver.behaviour = trickle
    with pytest.raises(NotFetched):
        client.get(receiver.url(), 1000, LOOPBACK)


def test_a_chunk_without_a_size_is_not_waited_for(client, receiver):
    """Nor kept in memory, as it comes."""

    def answer(handler, _received):
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 70_000
        )
        handler.server.closing.wait(WAIT_S)

    receiver.behaviour = answer
    with pytest.raises(NotFetched, match="did not respond properly"):
        client.get(receiver.url(), 1000, LOOPBACK)


def echo(environ, start_response):
    """Answer with the host and the credentials that were sent."""
    start_response("200 OK", [("Content-Type", "application/json")])
    fields = ("HTTP_HOST", "HTTP_AUTHORIZATION")
    return [json.dumps([environ.get(field) for field in fields]).encode()]


def test_the_operators_servers_may_be_anywhere_and_need_no_tls(operators_client):
    with serving(echo) as url:
        host = url.removeprefix("http://")
        assert json.loads(operators_client.get(url, 1000)) == [host, None]
        with_user = url.replace("//", "//scan:p%40ss@")
        expected = [host, "Basic " + b64encode(b"scan:p@ss").decode()]
        assert json.loads(operators_client.get(with_user, 1000)) == expected


def test_proxies_and_passwords_of_the_environment_are_not_used(monkeypatch, tmp_path):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login scan password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with serving(echo) as url:
        response = service_client.send(Settings(), url, timeout_s=60)
        assert json.loads(response.body) == [url.removeprefix("http://"), None]
