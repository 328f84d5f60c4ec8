"""A chain with memos."""

from typing import NamedTuple

import pytest
from flask.testing import FlaskClient

from app import create_app
from scan.settings import Settings
from tests.support import anvil, indexing

INVOICE = "Invoice 2026-114"
NOTHING = "0x" + 40 * "e"  # an address without code


class Chain(NamedTuple):
    node: anvil.Anvil
    settings: Settings
    client: FlaskClient

    def send(self, content, sender=0, **fields):
        """Send a text in a block of its own, and return the transaction's hash."""
        data = content.encode() if isinstance(content, str) else content
        self.node.call("evm_setAutomine", False)
        sent = self.node.send(
            self.node.accounts[sender],
            fields.pop("to", NOTHING),
            data=f"0x{data.hex()}",
            gas=hex(29_000_000),
            **fields,
        )
        self.node.mine()
        return sent

    def index(self):
        indexing.Indexing(self.settings.database_url, self.node.url).run_until(self.node.head())

    def memos(self, text=None, **more):
        """The whole list, as the API has it."""
        query = {"limit": 100, **({} if text is None else {"text": text}), **more}
        answer = self.client.get("/api/v1/memos", query_string=query)
        assert answer.status_code == 200, answer.text
        rows = answer.json["memos"]
        assert answer.json["total"] == len(rows)
        return rows

    def results(self, text):
        answer = self.client.get("/api/v1/search", query_string={"q": text})
        assert answer.status_code == 200, answer.text
        return [row for row in answer.json["results"] if row["type"] == "memo"]


@pytest.fixture
def chain(postgres, template):
    with anvil.Anvil() as node, postgres.cloned(template) as url:
        settings = indexing.Indexing(url, node.url).settings
        yield Chain(node, settings, create_app(settings).test_client())
