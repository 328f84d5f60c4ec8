"""What is asked of the service while it is harmed, and what was seen of it."""

import http.client
import json
import threading
import time
from collections import Counter, namedtuple
from contextlib import suppress
from itertools import pairwise
from urllib.parse import urlsplit

import requests

from tests.support.scenario import BASIC_ACTS
from tests.support.scenario.everyday import everyday
from tests.support.scenario.stage import ETHER, Stage
from tests.support.wallets import key_request, new_wallet, owner_of

READ_EVERY_S = 0.25
WRITE_EVERY_S = 0.5
MINE_EVERY_S = 0.5
LOOK_EVERY_S = 0.25
TIMEOUT_S = 10.0
BLOCKS = "/api/v1/blocks?limit=1"
READS = (
    ("GET", BLOCKS, None),
    ("GET", "/api/v1/stats", None),
    ("GET", BLOCKS, None),
    ("GET", "/api/v1/tokens?limit=2", None),
    ("GET", BLOCKS, None),
    ("POST", "/api/v1/query", {"entity": "dex_trades"}),
)
GOOD = {200, 201}


class Sample(namedtuple("Sample", "client begun ended status")):
    """One request; times are of time.monotonic(). `status`: or why there was none."""


class Client:
    """One address of loopback, with a connection kept open as clients do."""

    def __init__(self, url, address, key=""):
        self._netloc = urlsplit(url).netloc
        self._address = address
        self._headers = {"X-API-Key": key} if key else {}
        self._connection = None

    def ask(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        headers = {**self._headers, "Content-Type": "application/json"}
        try:
            self._connection = self._connection or http.client.HTTPConnection(
                self._netloc, timeout=TIMEOUT_S, source_address=(self._address, 0)
            )
            self._connection.request(method, path, text, headers)
            answer = self._connection.getresponse()
            return answer.status, json.loads(answer.read())
        except TimeoutError:
            self._forget()
            return "timeout", None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._forget()
            return type(error).__name__, None

    def _forget(self):
        if self._connection:
            self._connection.close()
        self._connection = None


class Load:
    """A chain that grows, people who read it with and without keys, and owners who ask for keys."""

    def __init__(self, stage, url, keys, nodes, authority):
        """`nodes` are Patroni's addresses by the names of its nodes, whose certificates are of
        `authority`, a file."""
        self._authority = authority
        self.samples = []
        self.leaders = []  # when which node said that it is the leader
        self.mined = {}  # when each block was there
        self.seen = {}  # when somebody was first answered with it
        self.keys = []  # whose creation was acknowledged
        self.problems = []
        self._stage = stage
        self._url = url
        self._stop = threading.Event()
        jobs = [("chain", self._mine), ("owner", self._own)]
        for number in range(6):
            key = keys[number % len(keys)] if number % 2 else ""
            name = f"{'key' if key else 'anonymous'} {number}"
            client = Client(url, f"127.0.0.{number + 11}", key)
            jobs.append((name, lambda name=name, client=client: self._read(name, client)))
        for node, address in nodes.items():
            jobs.append((node, lambda node=node, address=address: self._watch(node, address)))
        self._threads = [threading.Thread(target=job, name=name) for name, job in jobs]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def window(self, begun, ended, kind=""):
        return [s for s in self.samples if begun <= s.ended <= ended and s.client.startswith(kind)]

    def longest_outage(self, begun, ended, kinds):
        """Between two good answers of one client, as far as it is longer than usual."""
        longest = 0.0
        for client in {s.client for s in self.samples if s.client.startswith(kinds)}:
            good = [
                s.ended
                for s in self.samples
                if s.client == client and s.status in GOOD and begun - 3 <= s.ended <= ended
            ]
            longest = max([longest, *(b - a for a, b in pairwise(good))])
        return longest

    def statuses(self, begun, ended, kinds):
        return Counter(
            str(s.status) for s in self.window(begun, ended) if s.client.startswith(kinds)
        )

    def slowest_block(self, begun, ended):
        """From being mined to being answered, of the blocks of that time."""
        return max(
            (
                self.seen[n] - at
                for n, at in self.mined.items()
                if n in self.seen and begun <= at <= ended
            ),
            default=0.0,
        )

    def longest_without_leader(self, begun, ended):
        """Seconds, and when they ended; as the network shows it."""
        times = sorted(at for at, _ in self.leaders if begun - 3 <= at <= ended)
        return max(((b - a, b) for a, b in pairwise(times)), default=(0.0, begun))

    def first_block_after(self, moment):
        """Seconds until somebody was answered with a block that nobody had seen."""
        return min((at - moment for at in self.seen.values() if at > moment), default=0.0)

    def is_served_since(self, moment):
        """Whether a block that was mined since has been answered, and a key been given."""
        return any(at > moment for n, at in self.mined.items() if n in self.seen) and any(
            s.client == "owner" and s.begun > moment and s.status in GOOD
            for s in self.samples[-200:]
        )

    def _mine(self):
        anvil, stage, blocks = self._stage.anvil, self._stage, 0
        while not self._stop.wait(MINE_EVERY_S):
            try:
                if stage.random.random() < 0.03:
                    add_novelty(stage, blocks)
                everyday(stage, stage.random.randint(1, 6))
                self.mined[anvil.head()] = time.monotonic()
            except Exception as error:  # a node that was frozen meanwhile
                self.problems.append(f"chain: {error!r}")
            blocks += 1

    def _read(self, name, client):
        number = 0
        while not self._stop.wait(READ_EVERY_S):
            method, path, sent = READS[number % len(READS)]
            number += 1
            begun = time.monotonic()
            status, body = client.ask(method, path, sent)
            self.samples.append(Sample(name, begun, time.monotonic(), status))
            if status == 200 and path == BLOCKS:
                self._see(body["blocks"][0]["number"])

    def _watch(self, node, address):
        while not self._stop.wait(LOOK_EVERY_S):
            with suppress(requests.RequestException):
                answer = requests.head(f"{address}/primary", timeout=1, verify=self._authority)
                if answer.status_code == 200:
                    self.leaders.append((time.monotonic(), node))

    def _see(self, number):
        if number not in self.seen and number in self.mined:
            now = time.monotonic()
            for earlier in range(number, max(self.mined) - 500, -1):
                if earlier in self.seen:
                    break
                if earlier in self.mined:
                    self.seen[earlier] = now

    def _own(self):
        """A key for a new wallet each time; what was acknowledged is kept."""
        client = Client(self._url, "127.0.0.10")
        while not self._stop.wait(WRITE_EVERY_S):
            wallet = new_wallet()
            begun = time.monotonic()
            status, body = client.ask("POST", "/api/v1/keys", key_request(wallet))
            self.samples.append(Sample("owner", begun, time.monotonic(), status))
            if status == 201:
                self.keys.append({**body, "ownerAddress": owner_of(wallet)})


def add_novelty(stage, number):
    """A token that nobody has seen, in a block of its own, and what happens to it."""
    key = f"novelty {number}"
    stage.deploy(key, "Coin", f"Novelty {number}", "NEW", 9)
    stage.do(1, key, "mint", stage.people[1], ETHER)
    stage.do(1, key, "transfer", stage.people[2], 7)


def prepare(anvil, seed):
    """Tokens, collections, exchanges and people who have approved them."""
    stage = Stage(anvil, seed)
    for act in BASIC_ACTS:
        act(stage)
    return stage
