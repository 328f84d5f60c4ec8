"""One attempt against a receiver that is slow, lies about who it is, or leads astray."""

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from scan.errors import SettingError
from scan.outbound import urls
from scan.outbound.connection import AttemptTimeouts, tls_context
from scan.outbound.deadlines import DeadlineTimer
from scan.webhooks.queues import now
from scan.webhooks.sender import Message, Outcome, Sender
from tests.support.receiver import Answer, Authority, Handler, Received, Receiver, running

SECRET = "5" * 64
MESSAGE = Message(7, "tx", b'{"event" : "tx"}')
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
SHORT = AttemptTimeouts(total_s=1.0, connect_s=0.5)


@pytest.fixture(scope="module")
def deadlines() -> Iterator[DeadlineTimer]:
    timer = DeadlineTimer()
    yield timer
    timer.close()


@pytest.fixture
def post(authority: Authority, deadlines: DeadlineTimer) -> "Post":
    return Post(authority, deadlines)


class Post:
    """Sends one message, or several over one connection."""

    def __init__(self, authority: Authority, deadlines: DeadlineTimer) -> None:
        self._context = tls_context(str(authority.bundle))
        self._deadlines = deadlines

    def __call__(self, url: str, times: int = 1, timeouts: AttemptTimeouts = SHORT) -> Outcome:
        sender = Sender(self._deadlines, self._context, LOOPBACK, timeouts)
        with sender.connection(url, SECRET, is_healthy=True) as connection:
            return [connection.post(MESSAGE, now()) for _ in range(times)][-1]


@contextmanager
def answering(*names: str, authority: Authority) -> Iterator[Receiver]:
    with running(Receiver(*authority.certificate(*names))) as server:
        yield server


def test_a_redirect_is_a_failure_and_not_followed(post: Post, receiver: Receiver) -> None:
    elsewhere = receiver.url("/elsewhere")
    for status in (301, 302, 303, 307, 308):
        for location in ("http://169.254.169.254/latest/meta-data/", elsewhere):
            receiver.behaviour = lambda *_, s=status, to=location: Answer(s, (("Location", to),))
            outcome = post(receiver.url("/hook"))
            assert (outcome.response_code, outcome.is_success, outcome.sent) == (
                status,
                False,
                True,
            )
    assert {r.path for r in receiver.received} == {"/hook"}


def test_a_certificate_of_another_name_is_refused(post: Post, authority: Authority) -> None:
    with answering("other.example", authority=authority) as server:
        outcome = post(server.url())
    assert not outcome.sent
    assert outcome.error is not None and "certificate" in outcome.error
    assert server.received == []


def test_a_certificate_of_an_unknown_authority_is_refused(
    deadlines: DeadlineTimer, authority: Authority, receiver: Receiver
) -> None:
    post = Post(authority, deadlines)
    post._context = tls_context("")
    outcome = post(receiver.url())
    assert not outcome.sent and "certificate" in str(outcome.error)
    assert receiver.received == []


def test_a_literal_address_is_verified_too(post: Post, authority: Authority) -> None:
    with answering("127.0.0.1", authority=authority) as server:
        assert post(server.url(host="127.0.0.1")).is_success
        assert not post(server.url(host="localhost")).is_success


def test_a_name_that_changes_to_loopback_is_not_connected_to(
    deadlines: DeadlineTimer, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is allowed here, as in production; the receiver would answer if it were asked."""
    monkeypatch.setattr(urls, "PORTS", (0,))
    with answering("hooks.example.com", authority=authority) as server:
        monkeypatch.setattr(urls, "PORTS", (server.server_port,))
        for inside in (["127.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["::1"], ["10.0.0.1"]):
            found = [ipaddress.ip_address(text) for text in inside]
            monkeypatch.setattr(urls, "lookup", lambda *_, found=found: found)
            sender = Sender(deadlines, tls_context(str(authority.bundle)), (), SHORT)
            url = server.url(host="hooks.example.com")
            with sender.connection(url, SECRET, is_healthy=True) as connection:
                outcome = connection.post(MESSAGE, now())
            assert not outcome.sent and "not public" in str(outcome.error)
    assert server.connections == 0


def test_a_name_is_resolved_once_and_connected_to_what_was_checked(
    post: Post, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"]]

    def lookup(*_: object) -> list[urls.Address]:
        return [ipaddress.ip_address(text) for text in answers.pop(0)]

    with answering("hooks.example.com", authority=authority) as server:
        monkeypatch.setattr(urls, "lookup", lookup)
        assert post(server.url(host="hooks.example.com")).is_success
    assert answers == [["10.0.0.1"]]


def test_proxies_and_netrc_of_the_environment_are_not_used(
    post: Post, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert post(receiver.url()).is_success
    assert "Authorization" not in receiver.received[0].headers


def test_a_receiver_that_drips_is_cut_at_the_total(post: Post, receiver: Receiver) -> None:
    def drip(handler: Handler, _: Received) -> None:
        text = b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 1000
        for byte in text:
            if receiver.closing.wait(0.05):
                return
            try:
                handler.wfile.write(bytes((byte,)))
            except OSError:
                return

    receiver.behaviour = drip
    outcome = post(receiver.url())
    assert (outcome.response_code, outcome.error) == (None, "no response within 1 s")
    assert outcome.sent


def test_a_receiver_that_drips_its_body_is_not_waited_for(post: Post, receiver: Receiver) -> None:
    finished = threading.Event()

    def drip(handler: Handler, _: Received) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        finished.wait(30)

    receiver.behaviour = drip
    assert post(receiver.url()).response_code == 200
    finished.set()


@pytest.mark.parametrize("at", ["handshake", "answer", "interim answers"])
def test_a_receiver_that_hangs_is_cut(post: Post, receiver: Receiver, at: str) -> None:
    if at == "handshake":
        with socket.create_server(("127.0.0.1", 0)) as silent:
            outcome = post(f"https://localhost:{silent.getsockname()[1]}/")
        assert not outcome.sent
        # The time of the connection ends with that of the whole attempt.
        assert outcome.error in ("no response within 1 s", "no connection in time")
    else:

        def hang(handler: Handler, _: Received) -> None:
            while not receiver.closing.wait(0.05):
                if at == "interim answers":
                    handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")

        receiver.behaviour = hang
        outcome = post(receiver.url())
        assert outcome.sent
        assert outcome.error == "no response within 1 s"
    assert outcome.response_code is None


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"\x00\xff" * 100,
    ],
)
def test_what_is_no_answer_is_a_failure(post: Post, receiver: Receiver, answer: bytes) -> None:
    receiver.behaviour = lambda handler, _: handler.wfile.write(answer) and None
    outcome = post(receiver.url())
    assert not outcome.is_success
    assert outcome.sent and outcome.error


def test_a_refused_connection_was_not_sent(post: Post) -> None:
    outcome = post("https://localhost:1/")
    assert (outcome.sent, outcome.error) == (False, "the connection was refused")


def test_a_connection_is_kept_where_the_answer_has_no_body(post: Post, receiver: Receiver) -> None:
    post(receiver.url(), times=5)
    assert (receiver.connections, len(receiver.received)) == (1, 5)
    receiver.behaviour = lambda *_: Answer(200, body=b"ok")
    assert post(receiver.url(), times=5).is_success
    assert (receiver.connections, len(receiver.received)) == (6, 10)


def test_a_kept_connection_that_died_is_made_anew(post: Post, receiver: Receiver) -> None:
    def close_after(handler: Handler, _: Received) -> Answer:
        handler.close_connection = True
        return Answer()

    receiver.behaviour = close_after
    assert post(receiver.url(), times=3).is_success
    assert len(receiver.received) == 3


def test_an_end_of_all_deadlines_lets_go_at_once(authority: Authority, receiver: Receiver) -> None:
    timer = DeadlineTimer()
    post = Post(authority, timer)
    receiver.behaviour = lambda *_: receiver.closing.wait(30) and None
    started = time.monotonic()
    threading.Timer(0.2, timer.close).start()
    outcome = post(receiver.url(), timeouts=AttemptTimeouts(total_s=30))
    assert outcome.response_code is None and timer.is_closed
    assert time.monotonic() - started < 25


def test_a_bundle_that_cannot_be_read_stops_the_start() -> None:
    with pytest.raises(SettingError, match="REQUESTS_CA_BUNDLE"):
        tls_context("/no/such/bundle.pem")
