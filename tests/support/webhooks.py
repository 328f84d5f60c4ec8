"""Webhooks on a database of the test's own: registered through the API, fed block by block."""

import sys
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_network

from app import create_app
from scan.database.connection import Database
from scan.webhooks.dispatcher import Dispatcher, DispatcherOptions
from scan.webhooks.queues import DeliveryQueues
from tests.support import indexing, made_blocks
from tests.support.database import execute
from tests.support.indexer_process import IndexerProcess

NO_NODE = "http://127.0.0.1:9"
QUICK = DispatcherOptions(poll_s=0.1, retry_steps_s=(0.3,) * 7)


def insist(ask):
    """Return a response other than 503: who has waited too long for a lock, as on a busy machine,
    asks again."""
    return next(answer for answer in iter(ask, None) if answer.status_code != 503)


class Hook(namedtuple("Hook", "id secret")):
    @property
    def headers(self):
        return {"X-Webhook-Secret": self.secret}


class Webhooks:
    """A database with a chain in it, an API on it, and dispatchers that deliver from it."""

    def __init__(self, database_url, bundle):
        self.settings = indexing.settings_for(
            database_url,
            NO_NODE,
            webhook_allow_networks=(ip_network("127.0.0.0/8"),),
            ca_bundle=str(bundle),
        )
        self.database = Database(database_url, statement_timeout_ms=60_000)
        self._apps = []
        self._clients = 0
        self.client = self.another()
        self.chain = made_blocks.Chain(self.database)

    def another(self, **settings):
        """A client of the API under other settings."""
        self._apps.append(create_app(replace(self.settings, **settings)))
        return self._apps[-1].test_client()

    def close(self):
        for app in self._apps:
            app.extensions["scan"].key_usage.close()
        self.database.close()

    def execute(self, statement, *params):
        return execute(self.settings.database_url, statement, *params)

    def queues(self, **options):
        """The queues as a dispatcher of its own has them."""
        return DeliveryQueues(self.database, confirmations=0, finality=0, **options)

    def register(self, owner, url, event_types=("tx",), watch_address=None, **more):
        body = {"ownerAddress": f"0x{owner.hex()}", "url": url, "eventTypes": list(event_types)}
        body |= more
        if watch_address is not None:
            body["watchAddress"] = f"0x{watch_address.hex()}"
        self._clients += 1  # each from an address of its own, which may have only so many
        client = f"10.0.{self._clients // 250}.{1 + self._clients % 250}"
        answer = self.client.post(
            "/api/v1/webhooks", json=body, environ_base={"REMOTE_ADDR": client}
        )
        assert answer.status_code == 201, answer.get_json()
        return Hook(answer.get_json()["id"], answer.get_json()["secret"])

    def switch(self, hook, active):
        path = f"/api/v1/webhooks/{hook.id}"
        return self.client.patch(path, headers=hook.headers, json={"active": active})

    def record(self, owner, hook):
        answer = self.client.get(f"/api/v1/webhooks?owner=0x{owner.hex()}")
        [webhook] = [w for w in answer.get_json()["webhooks"] if w["id"] == hook.id]
        return dict(webhook)

    def deliveries(self, hook):
        """The newest hundred, oldest first."""
        answer = self.client.get(
            f"/api/v1/webhooks/{hook.id}/deliveries?limit=100", headers=hook.headers
        )
        assert answer.status_code == 200, answer.get_json()
        return list(reversed(answer.get_json()["deliveries"]))

    def pending(self):
        """How many deliveries still wait."""
        return int(self.execute("SELECT count(*) FROM deliveries WHERE status = 'pending'")[0][0])

    @contextmanager
    def delivering(self, options=QUICK, summaries=lambda blocks: {}, **settings):
        settings = replace(self.settings, **{"coin_symbol": "ETH", **settings})
        dispatcher = Dispatcher(settings, options, summaries=summaries)
        dispatcher.start()
        try:
            yield dispatcher
        finally:
            dispatcher.stop()


def assert_bytes_are_counted(webhooks):
    """Of each queue: those that it says it holds are those of its pending deliveries' bodies."""
    rows = webhooks.execute(
        "SELECT q.pending_bytes, (SELECT coalesce(sum(octet_length(e.body)), 0)"
        " FROM deliveries d JOIN event_bodies e ON e.id = d.body_id"
        " WHERE d.webhook_id = q.webhook_id AND d.status = 'pending') FROM delivery_queues q"
    )
    assert all(counted == size for counted, size in rows)


URL = "https://localhost:9/"
CLIENT, ANOTHER = "192.0.2.1", "192.0.2.2"


def create(webhooks, owner, client, key=None, **body):
    request = {
        "json": {"ownerAddress": owner, "url": URL, **body},
        "headers": {"X-API-Key": key} if key else {},
        "environ_base": {"REMOTE_ADDR": client},
    }
    answer = insist(lambda: webhooks.client.post("/api/v1/webhooks", **request))
    return answer.status_code, answer.get_json()


def fill(webhooks, hook, events):
    """As if so many had come while nothing was delivered."""
    webhooks.execute(
        "WITH stored AS (INSERT INTO event_bodies (body) SELECT '{}' FROM generate_series(1, %s)"
        " RETURNING id) INSERT INTO deliveries (webhook_id, event, block_number, body_id,"
        " body_bytes, created_at) SELECT %s, 'tx', 0, id, 2, now() FROM stored",
        events,
        hook.id,
    )
    with webhooks.database.transaction() as tx:
        tx.execute("webhooks/queues_count_waiting", webhook_ids=[hook.id])


class Deliverer(IndexerProcess):
    """A `scan` process of its own: `deliver` does nothing else, `serve` beside the API."""

    def __init__(self, webhooks, command="deliver", **environment):
        self.command = sys.executable, "-m", "scan", command
        environment["SCAN_WEBHOOK_ALLOW_NETWORKS"] = "127.0.0.0/8"
        environment["REQUESTS_CA_BUNDLE"] = webhooks.settings.ca_bundle
        super().__init__(webhooks.settings.database_url, "", **environment)
