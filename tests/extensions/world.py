"""The world of tests, whose index is the same in whatever way the blocks are indexed.

A test file that imports a fixture names it in its `__all__`.
"""

import pytest

from scan.extensions.backfill.tests.backfilling import backfill, follow
from tests.support import auditing
from tests.support import world as support
from tests.support.faulty_node import refuse
from tests.support.indexing import settings_for
from tests.support.table_digest import digest, fresh_digest

MARKS = "SELECT inconsistent_since FROM tokens WHERE address = %s"


class World(support.World):
    def read_in_every_way(self):
        """Have all blocks in the index, the same in whatever way; each token has a page."""
        self.read()
        self.is_the_same_in_whatever_way()
        for (address,) in self.sql("SELECT '0x' || encode(address, 'hex') FROM tokens"):
            assert self.client.get(f"/token/{address}").status_code in (200, 404)

    def is_the_same_in_whatever_way(self, node=None):
        """The followed index equals a fresh one, one in bulk, and the audit's expectation."""
        node = node or self.anvil
        fresh = fresh_digest(self.postgres, self.template, node, **self._chosen)
        assert digest(self.url) == fresh
        assert auditing.run(settings_for(self.url, node.url, **self._chosen)) == auditing.EXACT
        with self.postgres.cloned(self.template) as bulk:
            loaded = settings_for(bulk, node.url, **self._chosen)
            assert backfill(loaded, self.folder / "files", last_block=self.head - 2)
            follow(loaded, self.head)
            assert digest(bulk) == fresh
            assert auditing.run(loaded) == auditing.EXACT


class Chain(World):
    """With tokens whose events do not tell all."""

    def coin(self, *, logged=True, takes_fee=False):
        return self.deploy("SilentCoin", 1000, logged, takes_fee)

    def since(self, contract):
        [(block,)] = self.sql(MARKS, bytes.fromhex(contract.address[2:]))
        return block

    def balance(self, contract, holder):
        return self.anvil.read(contract, "balanceOf", holder)

    def holders(self, contract):
        """As they are listed, which is checked with the node."""
        held = super().holders(contract)
        assert held == {holder: self.balance(contract, holder) for holder in held}
        return held


@pytest.fixture
def world(anvil, places):
    with World(anvil, places) as world:
        yield world


def _is_of_the_past(call):
    return call["method"] in ("eth_call", "eth_getCode") and call["params"][1] != "latest"


# A node that has the newest state alone of contracts.
pruned_contracts = refuse(_is_of_the_past, -32000, "missing trie node")
