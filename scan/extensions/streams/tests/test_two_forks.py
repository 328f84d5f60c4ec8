"""Consumers that resume after several forks of a real chain are sent what has changed, once."""

from itertools import takewhile

import pytest
import requests

from scan.extensions.streams.tests.conftest import WITHOUT_LIMITS
from tests.support import WAIT_S, anvil, serving
from tests.support.event_source import EventSource
from tests.support.indexing import Indexing

RESUMED = 3  # consumers at each position


class Forked:
    """A chain whose blocks after the first are replaced; those of equal transfers are equal."""

    def __init__(self, node, indexing, server):
        self.node, self.indexing, self.server = node, indexing, server
        self.mine(0)
        self._first = node.snapshot()
        self.wait()

    def fork(self, values_wei):
        """Replace all blocks after the first by one for each transfer."""
        self.node.revert(self._first)
        self._first = self.node.snapshot()
        for value_wei in values_wei:
            self.mine(value_wei)
        self.wait()

    def mine(self, value_wei):
        self.node.send(*self.node.accounts[:2], value=value_wei)
        self.node.mine()

    def wait(self):
        """Until the node's newest block is indexed, whose number a fork may leave the same."""
        self.indexing.look()
        serving.wait_until(lambda: _newest(self.server) == self.block("latest")["hash"])

    def block(self, number):
        tag = hex(number) if isinstance(number, int) else number
        return dict(self.node.call("eth_getBlockByNumber", tag, False))

    def events(self):
        """Types and hashes of what a stream sends of the blocks after the first, by the node."""
        return [
            event
            for block in map(self.block, range(2, self.node.head() + 1))
            for event in (
                ("heads", block["hash"]),
                *(("transactions", hash_) for hash_ in block["transactions"]),
            )
        ]


def _newest(server):
    page = requests.get(f"{server}/api/v1/blocks", params={"limit": 1}, timeout=WAIT_S).json()
    return str(page["blocks"][0]["hash"])


@pytest.fixture
def forked(database_url):
    with (
        anvil.Anvil() as node,
        Indexing(database_url, node.url, until=0) as indexing,
        serving.gunicorn(database_url, RPC_URL=node.url, **WITHOUT_LIMITS) as server,
    ):
        yield Forked(node, indexing, server)


def received(events):
    return [(e.type, e.data["hash"], e.data.get("removed", False)) for e in events]


def change(held, branch):
    """What takes a consumer from what it holds to the branch."""
    common = len([*takewhile(lambda pair: pair[0] == pair[1], zip(held, branch, strict=False))])
    removed = [(*event, True) for event in reversed(held[common:])]
    return removed + [(*event, False) for event in branch[common:]]


def test_after_each_fork_every_consumer_is_sent_exactly_what_has_changed(forked):
    """Also those that were behind, which share what is read: nothing is sent of a block that came
    and went while they were away. In the end a branch comes back."""
    types = "heads,transactions"
    start = f"1-{forked.block(1)['hash']}-2"
    held = {start: []}  # by positions
    with EventSource(forked.server, types=types, lastEventId=start) as live:
        for values_wei in ((1, 1), (2, 2), (3, 3), (1, 1, 1)):
            before = forked.events()
            forked.fork(values_wei)
            branch = forked.events()
            changed = change(before, branch)
            assert received(live.take(len(changed))) == changed
            for position, events in held.items():
                changed = change(events, branch)
                for _ in range(RESUMED):
                    with EventSource(forked.server, types=types, lastEventId=position) as resumed:
                        assert received(resumed.take(len(changed))) == changed
                        assert resumed.last_id == live.last_id
            held[live.last_id] = branch
