"""The recipe under load: a chain, webhooks with their receiver, keys; and what must hold."""

import sys
from collections import defaultdict
from contextlib import contextmanager

import psycopg2
import requests

from deploy.ha.cluster import ROOT, Cluster
from tests.support import WAIT_S, database, serving, wallets
from tests.support.anvil import Anvil
from tests.support.high_availability.load import Client, Load
from tests.support.receiver import Authority, Receiver, running
from tests.support.scenario import BASIC_ACTS
from tests.support.scenario.stage import Stage
from tests.support.table_digest import digest, fresh_digest
from tests.support.truth import read_truth

WATCHED = (1, 2, 3)
SETTLE_S = 120.0


class Stand:
    """Everything that runs, and who asks what of it."""

    def __init__(self, anvil, cluster, receiver, seed):
        self.anvil = anvil
        self.cluster = cluster
        self.receiver = receiver
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
        wait_until(lambda: self.indexed_block() == head, f"block {head} indexed")

    def indexed_block(self):
        try:
            rows = database.execute(self.cluster.database_url, "SELECT max(number) FROM blocks")
        except psycopg2.Error:
            return -1
        return int(rows[0][0] or 0)

    def wait_until_whole(self):
        """Until every part does its work: the database's nodes, instances, indexer, deliverers."""
        head, keys = self.anvil.head(), len(self.load.keys)

        def is_whole():
            return (
                self.load.newest > head
                and len(self.load.keys) > keys
                and all(p.is_running() for p in self.cluster.processes.processes.values())
                and self.cluster.is_whole()
            )

        wait_until(is_whole, "everything at work")

    def _watch(self, address):
        body = {
            "ownerAddress": address,
            "url": self.receiver.url(f"/{address}"),
            "eventTypes": ["tx", "token_transfer"],
        }
        answer = requests.post(f"{self.cluster.url}/api/v1/webhooks", json=body, timeout=WAIT_S)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    # ---- what must hold

    def check_all(self, postgres, template):
        """After the load has ended and every fault with it."""
        self.anvil.mine()
        self.wait_for_head()
        environment = {"PATH": "/usr/bin:/bin", **self.cluster.scan_environment()}
        command = [sys.executable, "-m", "scan", "audit", "--node"]
        audit = serving.completed(command, None, cwd=ROOT, env=environment)
        assert audit.returncode == 0, audit.stdout + audit.stderr
        assert digest(self.cluster.database_url) == fresh_digest(postgres, template, self.anvil)
        self.check_events()
        for number, key in enumerate(self.load.keys):
            client = Client(self.cluster.url, f"127.0.1.{number % 250 + 1}", key["key"])
            assert client.ask("GET", "/api/v1/stats")[0] == 200, key["id"]

    def check_events(self):
        """Every event of the chain arrived, and no other; no delivery's id came with two events."""
        expected = self.expected_events()
        wait_until(lambda: expected <= self.received_events(), "all events")
        ids = defaultdict(set)
        for request in self.receiver.received:
            ids[request.delivery].add(request.body)
        assert not {i: bodies for i, bodies in ids.items() if len(bodies) > 1}
        secrets = {address: hook["secret"] for address, hook in self.hooks.items()}
        assert all(r.is_signed_with(secrets[r.path[1:]]) for r in self.receiver.received)
        assert expected and self.received_events() == expected

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
        return {
            (r.path[1:], r.event["event"], *identity(r.event["data"]))
            for r in self.receiver.received
        }


def identity(record):
    hash_ = record.get("transactionHash") or record["hash"]
    return hash_, record.get("logIndex"), record.get("batchIndex")


def wait_until(condition, what):
    serving.wait_until(condition, timeout_s=SETTLE_S, told=lambda: f"for {what}")


@contextmanager
def standing(folder, seed):
    """Starts all of it."""
    authority = Authority(folder)
    receiver = Receiver(*authority.certificate("localhost"))
    environment = {
        "SCAN_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
        "REQUESTS_CA_BUNDLE": str(authority.bundle),
        "SCAN_RATE_LIMIT_ANONYMOUS": "10000/minute",
        "SCAN_RATE_LIMIT_KEY": "10000/minute",
        "SCAN_RATE_LIMIT_ADDRESS": "10000/minute",
        "SCAN_RATE_LIMIT_NEW_KEYS": "100000/day",
    }
    with (
        Anvil() as anvil,
        running(receiver),
        Cluster(folder / "cluster", anvil.url, environment=environment) as cluster,
    ):
        wait_until(cluster.is_whole, "a cluster with its replicas")
        yield Stand(anvil, cluster, receiver, seed)
