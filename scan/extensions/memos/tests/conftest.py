"""A chain with memos."""

from collections import namedtuple

import pytest

from app import create_app
from tests.support import anvil, indexing
from tests.support.lists import get

INVOICE = "Invoice 2026-114"
NOTHING = "0x" + 40 * "e"  # an address without code


class Chain(namedtuple("Chain", "node settings client")):
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
        answer = get(self.client, "/memos", **query)
        rows = answer["memos"]
        assert answer["total"] == len(rows)
        return rows

    def results(self, text):
        answer = get(self.client, "/search", q=text)
        return [row for row in answer["results"] if row["type"] == "memo"]


@pytest.fixture
def chain(postgres, template):
    with anvil.Anvil() as node, postgres.cloned(template) as url:
        settings = indexing.Indexing(url, node.url).settings
        yield Chain(node, settings, create_app(settings).test_client())
