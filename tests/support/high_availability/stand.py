"""The recipe under load: a chain, webhooks with their receiver, keys; and what must hold."""

import sys
import time
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress

import psutil
import psycopg2
import requests

from deploy.ha.cluster import ROOT, Cluster
from tests.support import WAIT_S, database, wallets
from tests.support.anvil import Anvil
from tests.support.high_availability.links import Links, wait_until
from tests.support.high_availability.load import Client, Load
from tests.support.receiver import Authority, Receiver, running
from tests.support.scenario import BASIC_ACTS
from tests.support.scenario.stage import Stage
from tests.support.serving import completed
from tests.support.table_digest import digest, fresh_digest
from tests.support.truth import read_truth

PER_MINUTE = 600  # anonymous; nobody of the load comes near
WATCHED = (1, 2, 3)
SETTLE_S = 120.0
RETRIED_S = 400.0  # an event that its receiver did not take twice is sent again after five minutes


class Stand:
    """Everything that runs, and who asks what of it."""

    def __init__(self, anvil, cluster, links, receiver, receiver_url, seed):
        self.anvil = anvil
        self.cluster = cluster
        self.links = links
        self.receiver = receiver
        self._receiver_url = receiver_url
        self.stage = Stage(anvil, seed)
        for act in BASIC_ACTS:
            act(self.stage)
        self.wait_for_head()
        self.hooks = {name: self._watch(name) for name in map(anvil.accounts.__getitem__, WATCHED)}
        self.first_block = anvil.head() + 1
        keys = [wallets.obtain_key(cluster.url, wallets.new_wallet())["key"] for _ in range(2)]
        self.load = Load(self.stage, cluster.url, keys)

    def wait_for_head(self):
        head = self.anvil.head()
        return wait_until(lambda: self.indexed_block() == head, SETTLE_S, f"block {head} indexed")

    def indexed_block(self):
        try:
            rows = database.execute(self.cluster.database_url, "SELECT max(number) FROM blocks")
        except psycopg2.Error:
            return -1
        return int(rows[0][0] or 0)

    def wait_until_whole(self):
        """Until every part does its work: the database's nodes, instances, indexer, deliverers."""
        now = time.monotonic()

        def is_whole():
            return (
                self.load.is_served_since(now)
                and all(p.is_running() for p in self.cluster.processes.processes.values())
                and self.cluster.is_whole()
            )

        wait_until(is_whole, SETTLE_S, "everything at work")

    def _watch(self, address):
        body = {
            "ownerAddress": address,
            "url": f"{self._receiver_url}/{address}",
            "eventTypes": ["tx", "token_transfer"],
        }
        answer = requests.post(f"{self.cluster.url}/api/v1/webhooks", json=body, timeout=WAIT_S)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    # ---- what must hold

    def check_all(self, postgres, template):
        """After the load has ended and every fault with it; the figures, once all holds."""
        self.anvil.mine()
        caught_up = self.wait_for_head()
        environment = {"PATH": "/usr/bin:/bin", **self.cluster.scan_environment()}
        command = [sys.executable, "-m", "scan", "audit", "--node"]
        audit = completed(command, None, cwd=ROOT, env=environment)
        assert audit.returncode == 0, audit.stdout + audit.stderr
        assert digest(self.cluster.database_url) == fresh_digest(postgres, template, self.anvil)
        return {
            "caught_up_s": round(caught_up, 1),
            **self.check_events(),
            **self.check_keys(),
            **self.check_limits(),
        }

    def check_events(self):
        """Every event of the chain arrived, and no other; no delivery's id came with two events."""
        expected = self.expected_events()
        self.send_again()
        wait_until(lambda: not expected - set(self.received_events()), RETRIED_S, "all events")
        received = self.received_events()
        ids = defaultdict(set)
        for request in self.receiver.received:
            ids[request.delivery].add(request.body)
        assert not {i: bodies for i, bodies in ids.items() if len(bodies) > 1}
        secrets = {address: hook["secret"] for address, hook in self.hooks.items()}
        assert all(r.is_signed_with(secrets[r.path[1:]]) for r in self.receiver.received)
        assert not set(received) - expected
        return {
            "events": len(expected),
            "deliveries": sum(received.values()),
            "events_lost": len(expected - set(received)),
            "ids_used_twice": 0,
        }

    def send_again(self):
        """What a receiver that was away did not take: the next attempt may be minutes ahead."""
        for hook in self.hooks.values():
            of_hook = f"{self.cluster.url}/api/v1/webhooks/{hook['id']}/deliveries"
            secret = {"X-Webhook-Secret": hook["secret"]}
            listed = requests.get(f"{of_hook}?limit=100", headers=secret, timeout=WAIT_S).json()
            for delivery in listed["deliveries"]:
                if delivery["status"] == "pending":
                    requests.post(
                        f"{of_hook}/{delivery['id']}/retry", headers=secret, timeout=WAIT_S
                    )

    def expected_events(self):
        truth = read_truth(self.anvil)
        events = set()
        of_kinds = {"tx": truth.transactions, "token_transfer": truth.token_transfers}
        for kind, records in of_kinds.items():
            for record in (r for r in records if r["blockNumber"] >= self.first_block):
                parties = {record.get(f"{of}Address") for of in ("from", "to", "contract")}
                events |= {(party, kind, *identity(record)) for party in parties & {*self.hooks}}
        return events

    def received_events(self):
        return Counter(
            (r.path[1:], r.event["event"], *identity(r.event["data"]))
            for r in self.receiver.received
        )

    def check_keys(self):
        """Every key whose creation was acknowledged is one."""
        for number, key in enumerate(self.load.keys):
            client = Client(self.cluster.url, f"127.0.1.{number % 250 + 1}", key["key"])
            status, _ = client.ask("GET", "/api/v1/stats")
            assert status == 200, f"key {key['id']}: {status}"
        return {"keys": len(self.load.keys)}

    def check_limits(self):
        """A client that nobody has seen gets as many requests as it is due, through nginx."""
        client = Client(self.cluster.url, "127.0.2.1")
        statuses = Counter(client.ask("GET", "/api/v1/stats")[0] for _ in range(PER_MINUTE + 10))
        assert statuses == {200: PER_MINUTE, 429: 10}
        return {"limit": PER_MINUTE}


def identity(record):
    hash_ = record.get("transactionHash") or record["hash"]
    return hash_, record.get("logIndex"), record.get("batchIndex")


@contextmanager
def standing(folder, seed):
    """Starts all of it, with every connection through links."""
    links = Links()
    authority = Authority(folder)
    receiver = Receiver(*authority.certificate("localhost"))
    environment = {
        "SCAN_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
        "REQUESTS_CA_BUNDLE": str(authority.bundle),
        "SCAN_RATE_LIMIT_ANONYMOUS": f"{PER_MINUTE}/minute",
        "SCAN_RATE_LIMIT_KEY": "10000/minute",
        "SCAN_RATE_LIMIT_ADDRESS": "10000/minute",
        "SCAN_RATE_LIMIT_NEW_KEYS": "100000/day",
    }
    with Anvil() as anvil, running(receiver):
        port = links.through("receiver", f"127.0.0.1:{receiver.server_port}").split(":")[1]
        of_links = {"through": links.through, "environment": environment}
        with Cluster(folder / "cluster", anvil.url, **of_links) as cluster:
            wait_until(cluster.is_whole, SETTLE_S, "a cluster with its replicas")
            yield Stand(anvil, cluster, links, receiver, f"https://localhost:{port}", seed)
    links.close()


def tree(pid):
    """A process and all below it, the first one first; none of 0."""
    with suppress(psutil.NoSuchProcess):
        return [pid, *(p.pid for p in psutil.Process(pid).children(recursive=True))] if pid else []
    return [pid]
