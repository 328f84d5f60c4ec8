"""A node behind a Unix socket: the same answers as over HTTP, and no more trust in it."""

import json
import socket
import threading
import time
from contextlib import contextmanager

import pytest

from scan.ethereum import client
from tests.support import WAIT_S
from tests.support.anvil import Anvil


@pytest.mark.check
def test_a_node_answers_as_over_http(tmp_path):
    path = str(tmp_path / "node.ipc")
    with Anvil("--ipc", path) as anvil:
        for number in range(30):
            anvil.send(anvil.accounts[0], anvil.accounts[1], value=number)
            anvil.mine()
        calls = [client.Call("eth_getBlockByNumber", (hex(number), True)) for number in range(30)]
        assert client.Node([path]).batch(calls) == client.Node([anvil.url]).batch(calls)
        assert client.Node([path]).call("eth_chainId") == anvil.call("eth_chainId")


@contextmanager
def served(folder, serve):
    """A socket whose every request `serve` answers; and the requests."""
    path = str(folder / "node.ipc")
    requests = []
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen()

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=converse, args=(connection,), daemon=True).start()

    def converse(connection):
        with connection, connection.makefile("rb") as lines:
            try:
                for line in lines:
                    requests.append(json.loads(line))
                    serve(connection, requests[-1])
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield path, requests
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def answer(request, result):
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()


@pytest.mark.check
@pytest.mark.parametrize("end", [b"", b" \r\n"], ids=["none", "space"])
@pytest.mark.parametrize("text", ["}", "{{", '"]'], ids=["close", "open", "quote"])
def test_brackets_in_texts_end_no_answer(tmp_path, text, end):
    def serve(connection, request):
        for byte in answer(request, text) + end:
            connection.sendall(bytes([byte]))

    with served(tmp_path, serve) as (path, requests):
        node = client.Node([path])
        assert [node.call("web3_clientVersion") for _ in range(3)] == [text] * 3
    assert len(requests) == 3


def repeating(text, pause_s=0.0):
    def serve(connection, request):
        while True:
            connection.sendall(text)
            time.sleep(pause_s)

    return serve


def closing(connection, request):
    connection.sendall(b'{"jsonrpc":"2.0"')
    connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.thorough
@pytest.mark.check
@pytest.mark.parametrize(
    ("serve", "error"),
    [
        (lambda *_: None, client.TimedOut),
        (repeating(b"[]}", 0.01), client.TimedOut),
        (repeating(b"[" * 65_536), client.AnswerTooLarge),
        (closing, client.BatchRefused),
    ],
    ids=["silent", "dripping", "endless", "closing"],
)
def test_a_faulty_node_holds_nobody_up(tmp_path, serve, error):
    with served(tmp_path, serve) as (path, _):
        node = client.Node([path], timeout_s=0.5)
        with pytest.raises(error):
            node.call("eth_chainId", most_bytes=1 << 20)


@pytest.mark.check
def test_a_late_answer_is_nobodys(tmp_path):
    given_up, answered = threading.Event(), threading.Event()

    def serve(connection, request):
        if request["method"] == "slow":
            given_up.wait(WAIT_S)
        try:
            connection.sendall(answer(request, request["method"]))
        finally:
            answered.set()

    with served(tmp_path, serve) as (path, _):
        node = client.Node([path])
        with pytest.raises(client.TimedOut):
            node.batch([client.Call("slow", ())], 0.1)
        given_up.set()
        assert answered.wait(WAIT_S), "the late answer was not sent"
        assert node.call("quick") == "quick"


@pytest.mark.check
def test_a_restarted_node_is_reached_anew(tmp_path):
    def serve(connection, request):
        connection.sendall(answer(request, request["method"]))
        connection.shutdown(socket.SHUT_RDWR)

    with served(tmp_path, serve) as (path, _):
        node = client.Node([path])
        for _ in range(3):
            assert node.call("eth_chainId") == "eth_chainId"
            time.sleep(0.05)
    with pytest.raises(client.NodeError, match="cannot be reached"):
        client.Node([str(tmp_path / "none.ipc")]).call("eth_chainId")
