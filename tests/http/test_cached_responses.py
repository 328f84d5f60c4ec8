"""Answers that the worker's loop sends itself: the same as a thread's, and counted alike."""

import re
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import orjson
import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from tests.support.indexing import Indexing
from tests.support.serving import connect, gunicorn

THREADS = 8
HEAD = re.compile(rb"HTTP/1\.1 ([0-9]{3}) .*?\r\n\r\n", re.DOTALL)
CHANGING = {"Date", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"}
PATH = "/api/v1/blocks?limit=2"
ODD = "Accept:\r\n"  # not plain, so for a thread


class Client:
    """One connection, kept open."""

    def __init__(self, server: str, source: str = "127.0.0.1") -> None:
        port = int(server.rpartition(":")[2])
        self.socket = socket.create_connection(("127.0.0.1", port), 10, (source, 0))
        self._ahead = b""
        self.ask("/healthz")  # what comes on an open connection is there at one look

    def ask(self, path: str, body: bytes = b"", more: str = "", method: str = "") -> "Told":
        method = method or ("POST" if body else "GET")
        if body:
            more += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n".encode() + body)
        return self._answer()

    def _answer(self) -> "Told":
        while (head := HEAD.match(self._ahead)) is None:
            self._receive()
        lines = head[0].decode().split("\r\n")[1:-2]
        told = Told(int(head[1]), [tuple(line.split(": ", 1)) for line in lines])
        length = int(told["Content-Length"])
        while len(self._ahead) < head.end() + length:
            self._receive()
        told.body = self._ahead[head.end() : head.end() + length]
        self._ahead = self._ahead[head.end() + length :]
        return told

    def _receive(self) -> None:
        part = self.socket.recv(65536)
        assert part, "the connection ended"
        self._ahead += part


class Told:
    def __init__(self, status: int, headers: list[Any]) -> None:
        self.status, self.headers, self.body = status, headers, b""

    def __getitem__(self, name: str) -> str:
        [value] = [value for found, value in self.headers if found == name]
        return str(value)

    @property
    def lasting(self) -> list[Any]:
        """Headers in their order, without the values that every answer has its own of."""
        return [(name, None if name in CHANGING else value) for name, value in self.headers]


@contextmanager
def busy_threads(server: str) -> Iterator[None]:
    """Every thread reads a body that does not go on; what is answered now, the loop answers."""
    head = b"POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with ExitStack() as stack:
        for _ in range(THREADS):
            blocker = stack.enter_context(connect(server))
            blocker.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{")
        time.sleep(0.3)
        yield


@pytest.fixture(scope="module")
def served(indexed: Indexing) -> str:
    return indexed.settings.database_url


@pytest.fixture(scope="module")
def server(served: str, indexed: Indexing) -> Iterator[str]:
    environment = {"RPC_URL": indexed.settings.rpc_urls[0]}
    with gunicorn(served, SCAN_RATE_LIMIT_ANONYMOUS="100000/minute", **environment) as address:
        yield address


@pytest.fixture(scope="module")
def questions(server: str) -> list[tuple[str, bytes]]:
    """Every kind of answer about the chain: a path, and a body for /query."""

    def first(path: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = requests.get(f"{server}/api/v1/{path}", timeout=30).json()
        record: dict[str, Any] = found[name][0]
        return record

    block = first("blocks?limit=1", "blocks")
    transaction = first("transactions?limit=1", "transactions")
    token = first("tokens?limit=1", "tokens")["address"]
    person = transaction["fromAddress"]
    paths = [
        *("stats", "blocks", PATH.removeprefix("/api/v1/"), "blocks?offset=1&limit=3"),
        *(f"blocks/{block['number']}", f"blocks/{block['hash']}", "transactions", "tokens"),
        *(f"transactions?address={person}", f"transactions/{transaction['hash']}"),
        *(f"tokens/{token}", f"tokens/{token}/holders", f"addresses/{person}"),
        f"addresses/{person}/tokens",
    ]
    filters: list[dict[str, Any]] = [
        *({"entity": "transactions"}, {"entity": "blocks"}, {"entity": "tokens"}),
        *({"entity": "token_transfers"}, {"entity": "dex_trades", "orderBy": "asc"}),
        {"entity": "transactions", "filter": {"from": person, "blockFrom": 1}, "limit": 5},
    ]
    bodies = [orjson.dumps(found) for found in filters]
    asked = [(f"/api/v1/{path}", b"") for path in paths]
    return asked + [("/api/v1/query", body) for body in bodies]


def test_the_loop_and_threads_answer_alike(server: str, questions: list[tuple[str, bytes]]) -> None:
    client = Client(server)
    first = [client.ask(*question) for question in questions]
    by_thread = [client.ask(*question, ODD) for question in questions]
    with busy_threads(server):
        by_loop = [client.ask(*question) for question in questions]
    for question, *told in zip(questions, first, by_thread, by_loop, strict=True):
        assert [one.status for one in told] == [200, 200, 200], question
        assert told[0].lasting == told[1].lasting == told[2].lasting, question
        assert told[0].body == told[1].body == told[2].body, question
        assert all(re.fullmatch("[0-9a-f]{16}", one["X-Request-Id"]) for one in told)
    assert len({one["X-Request-Id"] for one in first + by_loop}) == 2 * len(questions)


def test_the_loop_names_a_request_as_its_client_does(server: str) -> None:
    client = Client(server)
    client.ask(PATH)
    with busy_threads(server):
        assert client.ask(PATH, more="X-Request-Id: mine.1\r\n")["X-Request-Id"] == "mine.1"
        assert client.ask(PATH, more="X-Request-Id: a b\r\n")["X-Request-Id"] != "a b"


def test_what_is_no_question_about_the_chain_is_not_kept(server: str) -> None:
    wrong = [
        *(("/api/v1/blocks/999999999", b""), ("/api/v1/blocks?limit=x", b"")),
        *(("/api/v1/keys?owner=0x" + "00" * 20, b""), ("/api/v1/nothing", b"")),
        *(("/api/v1/query", b'{"entity":"x"}'), ("/api/v1/query", b"{")),
        *(("/healthz", b""), ("/", b""), ("/api/v1/openapi.json", b"")),
    ]
    client = Client(server)
    for question in wrong * 2:
        client.ask(*question)
    for question in wrong:
        with busy_threads(server):
            asking = Client.__new__(Client)
            asking.socket, asking._ahead = client.socket, b""
            client.socket.settimeout(0.2)
            with pytest.raises(TimeoutError):
                asking.ask(*question)
        client = Client(server)


def test_who_asks_for_the_head_alone_gets_no_body(server: str) -> None:
    with connect(server) as client:
        client.sendall(f"GET {PATH} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 2)
        client.sendall(f"HEAD {PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := client.recv(65536):
            answer += part
    assert answer.count(b"HTTP/1.1 200 OK") == 3 and answer.endswith(b"\r\n\r\n")


def test_the_type_of_a_body_is_part_of_the_question(server: str) -> None:
    def ask(kind: str) -> requests.Response:
        headers = {"Content-Type": kind} if kind else {}
        url = f"{server}/api/v1/query"
        return requests.post(url, data=b'{"entity":"blocks"}', headers=headers, timeout=10)

    kinds = [
        "application/json",
        "application/json; charset=utf-8",
        "text/plain",
        "",
        "application/x+json",
    ]
    first = [ask(kind) for kind in kinds]
    second = [ask(kind) for kind in kinds]
    assert [found.status_code for found in first] == [200, 200, 415, 415, 200]
    assert [(a.status_code, a.text) for a in first] == [(a.status_code, a.text) for a in second]


def test_both_ways_are_counted_once_and_for_one_route(server: str) -> None:
    def counts() -> Counter[tuple[str, ...]]:
        found: Counter[tuple[str, ...]] = Counter()
        metrics = requests.get(f"{server}/metrics", timeout=10).text
        for family in text_string_to_metric_families(metrics):
            for sample in family.samples:
                if sample.name in ("scan_http_requests_total", "scan_http_request_seconds_count"):
                    labels = (sample.labels[k] for k in ("route", "method"))
                    found[(sample.name, *labels, sample.labels.get("status", ""))] += sample.value
        return found

    client, before = Client(server), counts()
    for _ in range(20):
        client.ask(PATH)
    for _ in range(5):
        client.ask(PATH, more=ODD)
        client.ask("/api/v1/query", b'{"entity":"blocks"}')
        client.ask("/api/v1/blocks?limit=x")
        client.ask("/api/v1/blocks", method="PUT", body=b"{}")
    counted = counts() - before
    total, seconds = "scan_http_requests_total", "scan_http_request_seconds_count"
    assert counted[total, "/api/v1/blocks", "GET", "200"] == 25
    assert counted[total, "/api/v1/query", "POST", "200"] == 5
    assert counted[total, "/api/v1/blocks", "GET", "400"] == 5
    assert counted[total, "unknown", "other", "405"] == 5
    assert counted[seconds, "/api/v1/blocks", "GET", ""] == 30
