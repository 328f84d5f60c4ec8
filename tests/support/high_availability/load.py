"""What is asked of the service while it is harmed, and what it answered."""

import threading
from collections import Counter
from itertools import cycle

import requests

from tests.support.scenario.everyday import everyday
from tests.support.source_address import FromAddress
from tests.support.wallets import key_request, new_wallet

READ_EVERY_S = 0.25
WRITE_EVERY_S = 0.5
MINE_EVERY_S = 0.5
TIMEOUT_S = 10.0
BLOCKS = ("GET", "/api/v1/blocks?limit=1")
READS = (
    *(BLOCKS, ("GET", "/api/v1/stats"), BLOCKS, ("GET", "/api/v1/tokens?limit=2"), BLOCKS),
    ("POST", "/api/v1/query", {"entity": "dex_trades"}),
)


class Client:
    """One address of loopback, with a connection kept open as clients do."""

    def __init__(self, url, address, key=""):
        self._url, self._session = url, requests.Session()
        self._session.mount("http://", FromAddress(address))
        self._session.headers.update({"X-API-Key": key} if key else {})

    def ask(self, method, path, body=None):
        """The status, or why there was none, and the JSON."""
        try:
            answer = self._session.request(method, self._url + path, json=body, timeout=TIMEOUT_S)
            return answer.status_code, answer.json()
        except requests.RequestException as error:
            return type(error).__name__, None


class Load:
    """A chain that grows, people who read it with and without keys, and owners who ask for keys."""

    def __init__(self, stage, url, keys):
        self.statuses = Counter()
        self.newest = 0  # of the blocks that somebody was answered with
        self.keys = []  # whose creation was acknowledged
        self.problems = []
        self._stage, self._url = stage, url
        self._stop = threading.Event()
        jobs = [(self._mine, ()), (self._own, ())]
        for number in range(6):
            key = keys[number % len(keys)] if number % 2 else ""
            jobs.append((self._read, (Client(url, f"127.0.0.{number + 11}", key),)))
        self._threads = [threading.Thread(target=target, args=args) for target, args in jobs]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _mine(self):
        while not self._stop.wait(MINE_EVERY_S):
            try:
                everyday(self._stage, self._stage.random.randint(1, 6))
            except Exception as error:
                self.problems.append(f"chain: {error!r}")

    def _read(self, client):
        for asked in cycle(READS):
            if self._stop.wait(READ_EVERY_S):
                return
            status, body = client.ask(*asked)
            self.statuses[status] += 1
            if status == 200 and asked == BLOCKS:
                self.newest = max(self.newest, body["blocks"][0]["number"])

    def _own(self):
        """A key for a new wallet each time; what was acknowledged is kept."""
        client = Client(self._url, "127.0.0.10")
        while not self._stop.wait(WRITE_EVERY_S):
            status, body = client.ask("POST", "/api/v1/keys", key_request(new_wallet()))
            self.statuses[status] += 1
            if status == 201:
                self.keys.append(body)
