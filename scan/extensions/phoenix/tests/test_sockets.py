"""Sockets over real connections, with Phoenix's own client, as Blockscout's frontend has it."""

import json
import queue
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
import requests
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Request, TextMessage

from scan.extensions.phoenix.channels import MAX_MESSAGE_BYTES, MAX_MESSAGES, MAX_TOPICS
from scan.extensions.streams.open_response import MAX_STREAMS_PER_CLIENT
from tests.support import database, made_blocks, serving, solidity

ANNA, BERT = made_blocks.address("anna"), made_blocks.address("bert")
PATH = "/socket/v2/websocket?vsn=2.0.0"
WAIT_S = 60.0


class PhoenixClient:
    def __init__(self, url, topics):
        command = ["node", "phoenix_client.mjs", f"{url.replace('http', 'ws')}/socket/v2", *topics]
        self._process = subprocess.Popen(
            command, cwd=solidity.NODE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(json.loads(line))

    def next(self):
        return self._lines.get(timeout=WAIT_S)

    def messages(self, count):
        """The next messages besides heartbeats, by topic and event."""
        taken, ends_at = {}, time.monotonic() + WAIT_S
        while len(taken) < count:
            assert time.monotonic() < ends_at, taken
            kind, topic, event, *payload = self.next()
            assert kind == "message", (kind, topic)
            if topic != "phoenix":
                taken[topic, event] = payload[0]
        return taken

    def end(self):
        self._process.stdin.close()
        self._process.wait(WAIT_S)


@contextmanager
def joined(url, *topics):
    client = PhoenixClient(url, topics)
    try:
        assert client.next() == ["open"]
        left = {*topics}
        while left:
            kind, topic, *_ = client.next()
            if (kind, topic) != ("message", "phoenix"):
                assert kind == "joined", (kind, topic)
                left.remove(topic)
        yield client
    finally:
        client.end()


class RawClient:
    """Frames without a client's manners."""

    def __init__(self, url):
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=WAIT_S)
        self._protocol = WSConnection(ConnectionType.CLIENT)
        self.send(Request(host=parts.netloc, target=PATH))
        assert isinstance(self.receive(), AcceptConnection)

    def send(self, event):
        self._socket.sendall(self._protocol.send(event))

    def message(self, *fields):
        self.send(TextMessage(json.dumps(fields)))
        return json.loads(self.receive().data)

    def receive(self):
        while True:
            for event in self._protocol.events():
                return event
            self._protocol.receive_data(self._socket.recv(65536) or None)

    def close_code(self):
        while not isinstance(event := self.receive(), CloseConnection):
            pass
        return event.code


def test_a_page_learns_of_what_its_topics_are_about(server, chain, tmp_path):
    """Also behind nginx, which passes the upgrade on."""
    with serving.nginx(tmp_path, [server] * 3) as front:
        _learn(front, server, chain)
    _learn(server, server, chain)


def _learn(front, server, chain):
    anna, token = f"0x{ANNA.hex()}", f"0x{made_blocks.TOKEN.hex()}"
    of_anna = "addresses:0x" + ANNA.hex().upper()
    topics = ("blocks:new_block", "blocks:indexing", "transactions:new_transaction", of_anna)
    with joined(front, *topics, f"tokens:{token}") as client:
        chain.append([made_blocks.Move(ANNA, BERT, tokens=5), made_blocks.Move(BERT, ANNA)])
        taken = client.messages(8)
    [head, *_] = requests.get(f"{server}/api/v2/blocks", timeout=5).json()["items"]
    block = taken["blocks:new_block", "new_block"]["block"]
    assert block["transactions_count"] == 2
    assert block == head
    assert taken["transactions:new_transaction", "transaction"] == {"transaction": 2}
    assert taken[f"tokens:{token}", "token_transfer"] == {"token_transfer": 1}
    assert taken["blocks:indexing", "index_status"].keys() == {"finished", "ratio"}
    sent = requests.get(f"{server}/api/v2/addresses/{anna}/transactions", timeout=5).json()["items"]
    hashes = {row["hash"] for row in taken[of_anna, "transaction"]["transactions"]}
    assert hashes == {row["hash"] for row in sent if row["block_number"] == chain.number}
    [transfer] = taken[of_anna, "token_transfer"]["token_transfers"]
    assert transfer["total"]["value"] == "5" and transfer["from"]["hash"].lower() == anna
    counters = requests.get(f"{server}/api/v2/addresses/{anna}/counters", timeout=5).json()
    assert taken[of_anna, "count"]["count"] == counters["transactions_count"]


def test_the_result_of_a_verification_comes(server, chain, streaming):
    """Also of one that ends right after the first client has joined, and of one whose transaction
    is committed 2 s after it has ended."""
    for status, error in (("done", None), ("failed", "no_match")):
        party = "0x" + made_blocks.address(f"verified {status}").hex()
        own = "127.0.0.1", (status, 2 if error else 0, error, error and "It does not match.")
        with joined(server, f"addresses:{party}") as client:
            # Why another client's failed is told to that one alone.
            for submitter, of in (("192.0.2.1", ("failed", 2, "no_match", "Not yours.")), own):
                database.execute(
                    streaming.database_url,
                    "INSERT INTO verification_jobs (id, client, address, created_at, due_at,"
                    " status, finished_at, error_code, message) VALUES (gen_random_uuid(), %s, %s,"
                    " now(), now(), %s, now() - make_interval(secs => %s), %s, %s)",
                    *(submitter, bytes.fromhex(party[2:]), *of),
                )
            taken = client.messages(2 if status == "done" else 1)
        result = taken[f"addresses:{party}", "verification_result"]
        if status == "done":
            assert result == {"status": "success"}
            assert taken[f"addresses:{party}", "smart_contract_was_verified"] == {}
        else:
            assert result == {"status": "error", "errors": {"files": ["It does not match."]}}


def test_replies_have_the_references_of_their_messages(server):
    client = RawClient(server)
    ok = {"status": "ok", "response": {}}
    expected = [None, "1", "phoenix", "phx_reply", ok]
    assert client.message(None, "1", "phoenix", "heartbeat", {}) == expected
    assert client.message("2", "2", "blocks:new_block", "phx_join", {})[4] == ok
    assert client.message("2", "3", "blocks:new_block", "phx_leave", {})[:2] == ["2", "3"]
    refused = client.message("4", "4", "blocks:everything", "phx_join", {})
    assert refused[4] == {"status": "error", "response": {"reason": "unmatched topic"}}


BEYOND_BOUNDS = [
    ([TextMessage("no json")], 1007),
    ([TextMessage("[1, 2, 3]")], 1007),
    ([TextMessage("[1, 2, 3, 4, {}]")], 1007),
    ([TextMessage('[[[[]]], "1", "blocks:new_block", "phx_join", {}]')], 1007),
    ([TextMessage(f'["1", {"[" * 300}{"]" * 300}, "phoenix", "heartbeat", {{}}]')], 1007),
    ([TextMessage("x" * (MAX_MESSAGE_BYTES + 1))], 1009),
    ([TextMessage('[null, "1", "phoenix", "heartbeat", {}]')] * (MAX_MESSAGES + 1), 1008),
]


@pytest.mark.parametrize(("sent", "code"), BEYOND_BOUNDS, ids=range(7))
def test_a_client_that_breaks_a_bound_is_disconnected(server, sent, code):
    client = RawClient(server)
    for event in sent:
        client.send(event)
    assert client.close_code() == code


def test_topics_and_sockets_of_a_client_are_bounded(server):
    client = RawClient(server)
    for count in range(MAX_TOPICS + 1):
        joined = client.message("1", str(count), f"tokens:0x{count:040x}", "phx_join", {})
        assert joined[4]["status"] == ("ok" if count < MAX_TOPICS else "error")
    clients = [RawClient(server) for _ in range(MAX_STREAMS_PER_CLIENT - 1)]
    with pytest.raises(AssertionError):
        clients += [RawClient(server) for _ in range(MAX_STREAMS_PER_CLIENT)]


def test_what_is_no_handshake_is_refused(server):
    for path, headers in (
        (PATH, {}),
        (PATH, {"Connection": "Upgrade", "Upgrade": "websocket"}),
        (PATH, {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "x",
                "Sec-WebSocket-Version": "7"}),
        ("/socket/v2/websocket?vsn=1.0.0", {}),
    ):  # fmt: skip
        response = requests.get(f"{server}{path}", headers=headers, timeout=5)
        assert response.status_code == 422, (path, headers)
    assert requests.get(f"{server}/socket/v3", timeout=5).status_code == 404
    assert requests.get(f"{server}/api/v1/blocks", timeout=5).status_code == 200
