"""One attempt against a receiver that is slow, lies about who it is, or leads astray."""

import ipaddress
import itertools
import socket
from contextlib import closing

import pytest
from requests.utils import get_netrc_auth

from scan.errors import SettingError
from scan.outbound import allowed_urls
from scan.outbound.http_client import AttemptDeadlines, AttemptTimeouts, Outbound, tls_context
from scan.webhooks.queues import now
from scan.webhooks.sender import Message, ReceiverConnection
from tests.support.receiver import Answer, Receiver, running

MESSAGE = Message(7, "tx", b'{"event" : "tx"}')


@pytest.fixture(scope="module")
def post(authority):
    """Sends one message, or several over one connection."""
    timer = AttemptDeadlines()
    loopback = (ipaddress.ip_network("127.0.0.0/8"),)
    plain = Outbound(timer, tls_context(str(authority.bundle)), loopback)

    def post(url, times=1, **changed):
        outbound = plain._replace(**changed)
        connection = ReceiverConnection(outbound, url, ["5" * 64], is_healthy=True)
        with closing(connection):
            return [connection.post(MESSAGE, now()) for _ in range(times)][-1]

    yield post
    timer.close()


def test_a_receiver_in_an_allowed_network_may_be_without_tls(post):
    with running(Receiver()) as plain:
        assert post(plain.url("/hook"), times=2).is_success
        assert plain.wait_for(2)[0].body == MESSAGE.body
        refused = post(plain.url("/hook"), allowed=())
    assert not refused.sent and "must start with https://" in refused.error
    assert len(plain.received) == 2


def test_a_redirect_is_a_failure_and_not_followed(post, receiver):
    elsewhere = receiver.url("/elsewhere")
    for status in (300, 301, 302, 303, 307, 308):
        for location in ("http://169.254.169.254/latest/meta-data/", elsewhere):
            receiver.behaviour = lambda *_, s=status, to=location: Answer(s, (("Location", to),))
            outcome = post(receiver.url("/hook"))
            assert outcome.response_code == status
            assert outcome.sent and not outcome.is_success
    assert {r.path for r in receiver.received} == {"/hook"}


def test_a_certificate_is_verified_by_name_address_and_authority(post, authority, receiver):
    with running(Receiver(*authority.certificate("other.example"))) as server:
        of_another_name = post(server.url())
        assert server.received == []
    with running(Receiver(*authority.certificate("127.0.0.1"))) as server:
        assert post(server.url(host="127.0.0.1")).is_success
        assert not post(server.url(host="localhost")).is_success
    for outcome in (of_another_name, post(receiver.url(), context=tls_context(""))):
        assert not outcome.sent and "certificate" in str(outcome.error)
    assert receiver.received == []
    with pytest.raises(SettingError, match="REQUESTS_CA_BUNDLE"):
        tls_context("/no/such/bundle.pem")


def test_a_name_that_changes_to_loopback_is_not_connected_to(post, authority, monkeypatch, names):
    """Nothing is allowed here, as in production; the receiver would answer if it were asked."""
    with running(Receiver(*authority.certificate("hooks.example.com"))) as server:
        monkeypatch.setattr(allowed_urls, "PORTS", (server.server_port,))
        for inside in (["127.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["::1"], ["10.0.0.1"]):
            names["hooks.example.com"] = lambda _, inside=inside: inside
            outcome = post(server.url(host="hooks.example.com"), allowed=())
            assert not outcome.sent and "not public" in str(outcome.error)
    assert server.connections == 0


def test_a_name_is_resolved_once_without_proxy_and_netrc(
    post, authority, monkeypatch, tmp_path, names
):
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login scan password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    assert get_netrc_auth("https://hooks.example.com/") == ("scan", "secret")
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    names["hooks.example.com"] = lambda _: answers.pop(0)
    with running(Receiver(*authority.certificate("hooks.example.com"))) as server:
        assert post(server.url(host="hooks.example.com")).is_success
    assert answers == [["10.0.0.1"]]
    headers = {name.lower() for name in server.received[0].headers}
    assert "x-scan-signature" in headers
    assert not {"authorization", "proxy-authorization", "cookie"} & headers


def test_a_connection_that_nobody_accepts_is_given_up_before_the_attempt(post):
    patient = AttemptTimeouts(total_s=600.0, connect_s=0.3)
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        socket.create_connection(full.getsockname()),  # which has the only place
    ):
        outcome = post(f"https://127.0.0.1:{full.getsockname()[1]}/", timeouts=patient)
    assert (outcome.sent, outcome.error) == (False, "no connection in time")


@pytest.mark.parametrize(
    "dripped",
    [b"", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 1000],
    ids=["response", "interim responses", "header"],
)
def test_a_receiver_that_hangs_is_cut(post, receiver, dripped):
    def drip(handler, _):
        for byte in itertools.cycle(dripped):
            if receiver.closing.wait(0.02):
                return
            handler.wfile.write(bytes((byte,)))
        receiver.closing.wait()

    receiver.behaviour = drip
    short = AttemptTimeouts(total_s=0.6, connect_s=0.5)
    outcome = post(receiver.url(), timeouts=short)
    assert outcome[:3] == (None, "no response within 0.6 s", True)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # in the handshake
        outcome = post(f"https://localhost:{silent.getsockname()[1]}/", timeouts=short)
    assert outcome[:3] == (None, "no response within 0.6 s", False)


def test_a_refusal_counts_whatever_becomes_of_its_body(post, receiver):
    answer = b"HTTP/1.1 429 Slow down\r\nContent-Length: 900\r\n\r\n{"
    receiver.behaviour = lambda handler, _: handler.wfile.write(answer) and None
    outcome = post(receiver.url())
    assert (outcome.response_code, outcome.error) == (429, None)


@pytest.mark.parametrize(
    "answer",
    [
        *(b"", b"\r\n\r\n", b"SSH-2.0-OpenSSH_9.6\r\n", b"\x00\xff" * 100),
        *(b"HTTP/1.1 abc OK\r\n\r\n", b"HTTP/1.1 99999 OK\r\n\r\n", b"HTTP/9.9 200 OK\r\n\r\n"),
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_answer_is_a_failure(post, receiver, answer):
    receiver.behaviour = lambda handler, _: handler.wfile.write(answer) and None
    outcome = post(receiver.url())
    assert not outcome.is_success
    assert outcome.sent and outcome.error


def test_interim_responses_are_passed_over(post, receiver):
    answer = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
    receiver.behaviour = lambda handler, _: handler.wfile.write(answer) and None
    assert post(receiver.url()).response_code == 204


def test_a_connection_is_kept_where_the_answer_has_no_body(post, receiver):
    post(receiver.url(), times=5)
    assert (receiver.connections, len(receiver.received)) == (1, 5)
    receiver.behaviour = lambda *_: Answer(200, body=b"ok")
    assert post(receiver.url(), times=5).is_success
    assert (receiver.connections, len(receiver.received)) == (6, 10)


def test_a_kept_connection_that_died_is_made_anew(post, receiver):
    def close_after(handler, _):
        handler.close_connection = True
        return Answer()

    receiver.behaviour = close_after
    assert post(receiver.url(), times=3).is_success
    assert len(receiver.received) == 3


def test_an_end_of_all_deadlines_lets_go_at_once(post, receiver):
    timer = AttemptDeadlines()

    def end(*_):
        timer.close()
        receiver.closing.wait()

    receiver.behaviour = end
    outcome = post(receiver.url(), deadlines=timer, timeouts=AttemptTimeouts(total_s=600))
    assert outcome.response_code is None and timer.is_closed
