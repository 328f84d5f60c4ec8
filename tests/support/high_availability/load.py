"""What is asked of the service while it is harmed, and what was seen of it."""

import threading
import time
from collections import Counter, namedtuple
from itertools import cycle, pairwise

import requests

from tests.support.scenario.everyday import everyday
from tests.support.scenario.stage import ETHER
from tests.support.source_address import FromAddress
from tests.support.wallets import key_request, new_wallet, owner_of

READ_EVERY_S = 0.25
WRITE_EVERY_S = 0.5
MINE_EVERY_S = 0.5
TIMEOUT_S = 10.0
BLOCKS = ("GET", "/api/v1/blocks?limit=1")
READS = (
    *(BLOCKS, ("GET", "/api/v1/stats"), BLOCKS, ("GET", "/api/v1/tokens?limit=2"), BLOCKS),
    ("POST", "/api/v1/query", {"entity": "dex_trades"}),
)
GOOD = {200, 201}


class Sample(namedtuple("Sample", "client begun ended status")):
    """One request; times are of time.monotonic(). `status`: or why there was none."""


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
        self.samples = []
        self.mined = {}  # when each block was there
        self.seen = {}  # when somebody was first answered with it
        self.keys = []  # whose creation was acknowledged
        self.problems = []
        self._stage = stage
        self._url = url
        self._stop = threading.Event()
        jobs = [("chain", self._mine, ()), ("owner", self._own, ())]
        for number in range(6):
            key = keys[number % len(keys)] if number % 2 else ""
            name = f"{'key' if key else 'anonymous'} {number}"
            jobs.append((name, self._read, (name, Client(url, f"127.0.0.{number + 11}", key))))
        self._threads = [threading.Thread(target=t, name=n, args=args) for n, t, args in jobs]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def seen_of(self, begun, kinds):
        """The longest time between two good answers of one client of these kinds since then, and
        how many answers there were of each status."""
        longest, since = 0.0, [s for s in self.samples if s.client.startswith(kinds)]
        for client in {s.client for s in since}:
            good = [s.ended for s in since if s.client == client and s.status in GOOD]
            good = [at for at in good if at >= begun - 3]
            longest = max([longest, *(b - a for a, b in pairwise(good))])
        return longest, Counter(str(s.status) for s in since if s.ended >= begun)

    def slowest_block(self, begun):
        """From being mined to being answered, of the blocks since then."""
        mined = [*self.mined.items()]
        late = (self.seen[n] - at for n, at in mined if n in self.seen and at >= begun)
        return max(late, default=0.0)

    def is_served_since(self, moment):
        """Whether a block that was mined since has been answered, and a key been given."""
        kept = (s for s in self.samples[-200:] if s.client == "owner" and s.status in GOOD)
        has_seen = any(at > moment for n, at in [*self.mined.items()] if n in self.seen)
        return has_seen and any(sample.begun > moment for sample in kept)

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
        for asked in cycle(READS):
            if self._stop.wait(READ_EVERY_S):
                return
            begun = time.monotonic()
            status, body = client.ask(*asked)
            self.samples.append(Sample(name, begun, time.monotonic(), status))
            if status == 200 and asked == BLOCKS:
                self._see(body["blocks"][0]["number"])

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
