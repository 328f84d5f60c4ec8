"""Sockets over real connections, with Phoenix's own client, as Blockscout's frontend has it."""

import json
import queue
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Request, TextMessage

from scan.extensions.phoenix.channels import MAX_FRAMES, MAX_MESSAGE_BYTES, MAX_TOPICS
from scan.extensions.streams.open_response import MAX_STREAMS_PER_ADDRESS
from scan.extensions.streams.tests.conftest import chain
from tests.http.conftest import served, workers
from tests.support import WAIT_S, database, made_blocks, serving, solidity

__all__ = ["chain"]

ANNA, BERT = made_blocks.address("anna"), made_blocks.address("bert")
PATH = "/socket/v2/websocket?vsn=2.0.0"


@contextmanager
def joined(url, *topics):
    """Phoenix's client in these topics: what takes as many of the next messages besides heartbeats,
    by topic and event."""
    command = ["node", "phoenix_client.mjs", f"{url.replace('http', 'ws')}/socket/v2", *topics]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=solidity.NODE, text=True, **pipes)
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(json.loads(line))

    def messages(count):
        taken, ends_at = {}, time.monotonic() + WAIT_S
        while len(taken) < count:
            assert time.monotonic() < ends_at, taken
            kind, topic, event, *payload = lines.get(timeout=WAIT_S)
            assert kind == "message", (kind, topic)
            if topic != "phoenix":
                taken[topic, event] = payload[0]
        return taken

    threading.Thread(target=read, daemon=True).start()
    try:
        assert lines.get(timeout=WAIT_S) == ["open"]
        left = {*topics}
        while left:
            kind, topic, *_ = lines.get(timeout=WAIT_S)
            if (kind, topic) != ("message", "phoenix"):
                assert kind == "joined", (kind, topic)
                left.remove(topic)
        yield messages
    finally:
        process.stdin.close()
        process.wait(WAIT_S)


class RawClient:
    """Frames without a client's manners."""

    def __init__(self, url):
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=WAIT_S)
        self._protocol = WSConnection(ConnectionType.CLIENT)
        self.send(Request(host=parts.netloc, target=PATH))
        handshake = self.receive()
        assert isinstance(handshake, AcceptConnection), f"status {handshake.status_code}"

    def send(self, event):
        with suppress(ConnectionError):  # the server has left
            self._socket.sendall(event if isinstance(event, bytes) else self._protocol.send(event))

    def close(self):
        self._socket.close()

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


@pytest.fixture(scope="module")
def own_server(shared_database_url):
    with served(shared_database_url) as (process, server):
        yield process, server


def test_a_page_learns_of_what_its_topics_are_about(shared_server, chain, tmp_path):
    """Also behind nginx, which passes the upgrade on."""
    anna, token = f"0x{ANNA.hex()}", f"0x{made_blocks.TOKEN.hex()}"
    of_anna, api = "addresses:0x" + ANNA.hex().upper(), f"{shared_server}/api/v2"
    of_sender = f"{api}/addresses/{anna}"
    topics = ("blocks:new_block", "blocks:indexing", "transactions:new_transaction", of_anna)
    with serving.nginx(tmp_path, [shared_server] * 3) as front:
        for address in (front, shared_server):
            with joined(address, *topics, f"tokens:{token}") as messages:
                chain.append([made_blocks.Move(ANNA, BERT, tokens=5), made_blocks.Move(BERT, ANNA)])
                taken = messages(8)
            [head, *_] = requests.get(f"{api}/blocks", timeout=WAIT_S).json()["items"]
            block = taken["blocks:new_block", "new_block"]["block"]
            assert block["transactions_count"] == 2
            assert block == head
            assert taken["transactions:new_transaction", "transaction"] == {"transaction": 2}
            assert taken[f"tokens:{token}", "token_transfer"] == {"token_transfer": 1}
            assert taken["blocks:indexing", "index_status"].keys() == {"finished", "ratio"}
            sent = requests.get(f"{of_sender}/transactions", timeout=WAIT_S).json()["items"]
            hashes = {row["hash"] for row in taken[of_anna, "transaction"]["transactions"]}
            assert hashes == {row["hash"] for row in sent if row["block_number"] == chain.number}
            [transfer] = taken[of_anna, "token_transfer"]["token_transfers"]
            assert transfer["total"]["value"] == "5" and transfer["from"]["hash"].lower() == anna
            counters = requests.get(f"{of_sender}/counters", timeout=WAIT_S).json()
            assert taken[of_anna, "count"]["count"] == counters["transactions_count"]


@pytest.mark.parametrize(
    ("ending", "messages"),
    [
        (
            ("done", 0, None, None),
            {"verification_result": {"status": "success"}, "smart_contract_was_verified": {}},
        ),
        (
            ("failed", 2, "no_match", "It does not match."),
            {
                "verification_result": {
                    "status": "error",
                    "errors": {"files": ["It does not match."]},
                }
            },
        ),
    ],
    ids=["done", "failed"],
)
def test_the_result_of_a_verification_comes(
    shared_server, chain, shared_database_url, ending, messages
):
    """Also of one that ends right after the first client has joined, and of one whose transaction
    is committed 2 s after it has ended."""
    party = "0x" + made_blocks.address(f"verified {ending[0]}").hex()
    with joined(shared_server, f"addresses:{party}") as received:
        # Why another client's failed is told to that one alone.
        of_another = "192.0.2.1", ("failed", 2, "no_match", "Not yours.")
        for submitter, of in (of_another, ("127.0.0.1", ending)):
            database.execute(
                shared_database_url,
                "INSERT INTO verification_jobs (id, client, address, created_at, due_at,"
                " status, finished_at, error_code, message, form_field) VALUES"
                " (gen_random_uuid(), %s, %s, now(), now(), %s, now() - make_interval(secs => %s),"
                " %s, %s, 'files')",
                *(submitter, bytes.fromhex(party[2:]), *of),
            )
        taken = received(len(messages))
    assert {event: taken[f"addresses:{party}", event] for event in messages} == messages


def test_a_verification_that_is_refused_is_told_under_the_field_of_the_form(shared_server, chain):
    """A page of Blockscout's listens to the socket alone once it has sent its form."""
    address = f"0x{made_blocks.TOKEN.hex()}"
    with joined(shared_server, f"addresses:{address}") as messages:
        sent = requests.post(
            f"{shared_server}/api/v2/smart-contracts/{address}/verification/via/flattened-code",
            json={"source_code": "contract A {}", "compiler_version": "v0.8.28", "libraries": "{"},
            timeout=WAIT_S,
        )
        result = messages(1)[f"addresses:{address}", "verification_result"]
    assert (sent.status_code, sent.json()["message"]) == (
        200,
        "Smart-contract verification started",
    )
    assert result["status"] == "error"
    [message] = result["errors"]["contract_source_code"]
    assert "libraries" in message


def test_replies_have_the_references_of_their_messages(shared_server):
    client = RawClient(shared_server)
    ok = {"status": "ok", "response": {}}
    expected = [None, "1", "phoenix", "phx_reply", ok]
    assert client.message(None, "1", "phoenix", "heartbeat", {}) == expected
    assert client.message("2", "2", "blocks:new_block", "phx_join", {})[4] == ok
    assert client.message("2", "3", "blocks:new_block", "phx_leave", {})[:2] == ["2", "3"]
    refused = client.message("4", "4", "blocks:everything", "phx_join", {})
    assert refused[4] == {"status": "error", "response": {"reason": "unmatched topic"}}


CONTINUATION, TEXT, CLOSE, PING = 0, 1, 8, 9


def frame(opcode, payload=b"", *, is_last=True):
    """A frame of a client, masked by zeros."""
    length = bytes([len(payload)]) if len(payload) < 126 else b"\x7e" + len(payload).to_bytes(2)
    return bytes([0x80 * is_last + opcode, 0x80 + length[0]]) + length[1:] + bytes(4) + payload


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ([TextMessage("no json")], 1007),
        ([TextMessage('[[[[]]], "1", "blocks:new_block", "phx_join", {}]')], 1007),
        ([TextMessage(f'["1", {"[" * 300}{"]" * 300}, "phoenix", "heartbeat", {{}}]')], 1007),
        ([TextMessage("x" * (MAX_MESSAGE_BYTES + 1))], 1009),
        ([TextMessage('[null, "1", "phoenix", "heartbeat", {}]')] * (MAX_FRAMES + 1), 1008),
        ([frame(PING) * (MAX_FRAMES + 1)], 1008),
        ([frame(TEXT, is_last=False) + frame(CONTINUATION, is_last=False) * MAX_FRAMES], 1008),
        ([frame(TEXT) * 8000], 1007),
        ([frame(CLOSE) + frame(PING) * 8000], 1005),
        ([frame(PING, b"x" * 126)], 1002),
        ([b"\x89\x00"], 1002),  # without a mask
    ],
)
def test_a_client_that_breaks_a_bound_is_disconnected(shared_server, sent, code):
    client = RawClient(shared_server)
    for event in sent:
        client.send(event)
    assert client.close_code() == code


def test_topics_and_sockets_of_a_client_are_bounded(shared_server):
    client = RawClient(shared_server)
    statuses = [
        client.message("1", str(count), f"tokens:0x{count:040x}", "phx_join", {})[4]["status"]
        for count in range(MAX_TOPICS + 1)
    ]
    assert statuses == ["ok"] * MAX_TOPICS + ["error"]
    clients = [client]
    with ExitStack() as stack:
        for _ in range(MAX_STREAMS_PER_ADDRESS - 1):
            clients.append(stack.enter_context(closing(RawClient(shared_server))))
        with pytest.raises(AssertionError, match="status 429"):
            clients += [RawClient(shared_server) for _ in range(MAX_STREAMS_PER_ADDRESS)]


def test_what_is_no_handshake_is_refused(shared_server):
    for path, headers in (
        (PATH, {}),
        (PATH, {"Connection": "Upgrade", "Upgrade": "websocket"}),
        (PATH, {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "x",
                "Sec-WebSocket-Version": "7"}),
        ("/socket/v2/websocket?vsn=1.0.0", {}),
    ):  # fmt: skip
        response = requests.get(f"{shared_server}{path}", headers=headers, timeout=WAIT_S)
        assert response.status_code == 422, (path, headers)
    handshake = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    handshake["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
    head = requests.head(f"{shared_server}{PATH}", headers=handshake, timeout=WAIT_S)
    assert head.status_code == 422
    assert requests.get(f"{shared_server}/socket/v3", timeout=WAIT_S).status_code == 404
    assert requests.get(f"{shared_server}/api/v1/blocks", timeout=WAIT_S).status_code == 200


JOIN, LEAVE = (
    frame(TEXT, b'["1","1","blocks:new_block","%s",{}]' % act)
    for act in (b"phx_join", b"phx_leave")
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "flood",
    [
        frame(PING) * 10_000,
        frame(TEXT, is_last=False) + frame(CONTINUATION, is_last=False) * 10_000,
        frame(TEXT, b"[]") * 8_000,
        frame(CLOSE) + frame(PING) * 10_000,
        500 * (JOIN + LEAVE),
        frame(TEXT, b'["1","1","' + b"x" * 4000 + b'","phx_join",{}]') * 100,
    ],
    ids=["pings", "fragments", "malformed", "frames behind a close", "joins", "long topics"],
)
def test_a_flood_of_frames_holds_up_nobody_and_leaves_nothing(own_server, flood):
    """Ten sockets at once, of a client that reads nothing; every call of the loop has been run
    after it, and each connection is closed."""
    process, server = own_server
    [worker] = workers(process)

    def descriptors():
        return len([*Path(f"/proc/{worker}/fd").iterdir()])

    def send():
        with closing(RawClient(server)) as client:
            for _ in range(5):
                client.send(flood)

    before = descriptors()
    with ThreadPoolExecutor(10) as threads:
        floods = [threads.submit(send) for _ in range(10)]
        for _ in range(50):
            assert requests.get(f"{server}/healthz", timeout=WAIT_S).status_code == 200
            assert requests.get(f"{server}/api/v1/blocks", timeout=WAIT_S).status_code == 200
        for sent in floods:
            sent.result()
    serving.wait_until(lambda: descriptors() <= before + 12)  # those of threads
    assert requests.get(f"{server}/healthz", timeout=WAIT_S).status_code == 200
