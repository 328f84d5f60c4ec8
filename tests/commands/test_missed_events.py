"""A webhook of a file of owners' data, restored into an index that has gone on."""

from contextlib import closing

import pytest

from scan.commands import missed_events
from scan.database import owners_file
from scan.database.connection import Database
from tests.support import indexing
from tests.support.receiver import Answer
from tests.support.webhooks import Webhooks

# Creates a contract that emits a log of its input at each call.
EMITTER = "0x600d600c600039600d6000f33660006000376007366000a100"
TYPES = ("tx", "log")


class Index:
    """The index of a chain, and the webhooks of its database."""

    def __init__(self, url, anvil, authority):
        self.url, self.anvil = url, anvil
        self.webhooks = Webhooks(url, authority.bundle)

    def run_until_head(self, **settings):
        indexing.Indexing(self.url, self.anvil.url, **settings).run_until(self.anvil.head())

    def write(self, path):
        with closing(Database(self.url, statement_timeout_ms=0)) as database:
            owners_file.write(database, path)

    def restore(self, path, then=missed_events.insert):
        with closing(Database(self.url, statement_timeout_ms=0)) as database:
            owners_file.restore(database, owners_file.read(path), then=then)


@pytest.fixture
def indexes(postgres, template, anvil, authority):
    """Two of one chain, of which the second begins empty."""
    with postgres.cloned(template) as first, postgres.cloned(template) as second:
        both = [Index(url, anvil, authority) for url in (first, second)]
        yield both
        for index in both:
            index.webhooks.close()


@pytest.fixture
def emitter(anvil):
    """A contract that emits a log in each transaction to it."""
    hash_ = anvil.send(anvil.accounts[0], None, data=EMITTER, gas=1_000_000)
    return anvil.receipt_of(hash_)["contractAddress"]


def register(index, receiver, emitter):
    watched = bytes.fromhex(emitter[2:])
    return index.webhooks.register(watched, receiver.url("/hook"), TYPES, watched)


def call(anvil, emitter, times):
    for _ in range(times):
        anvil.receipt_of(anvil.send(anvil.accounts[0], emitter, data="0x1234", gas=100_000))


def test_an_index_that_has_gone_on_sends_each_event_once(
    indexes, anvil, emitter, receiver, tmp_path
):
    old, new = indexes
    old.run_until_head()
    hook = register(old, receiver, emitter)
    call(anvil, emitter, 2)
    old.run_until_head()
    with old.webhooks.delivering():
        receiver.wait_for(4)
    receiver.behaviour = lambda *_: Answer(500)
    call(anvil, emitter, 1)
    old.run_until_head()
    with old.webhooks.delivering():
        receiver.wait_for(5)  # which fails, and waits
    old.write(tmp_path / "file")
    waiting = [d for d in old.webhooks.deliveries(hook) if d["status"] == "pending"]
    call(anvil, emitter, 3)
    new.run_until_head()
    receiver.received.clear()
    receiver.behaviour = lambda *_: Answer()
    new.restore(tmp_path / "file")
    assert new.webhooks.deliveries(hook)[:6] == old.webhooks.deliveries(hook)
    new.restore(tmp_path / "file")
    with new.webhooks.delivering():
        receiver.wait_for(8)
        call(anvil, emitter, 1)
        new.run_until_head()
        received = receiver.wait_for(10)
    assert all(request.is_signed_with(hook.secret) for request in received)
    assert {str(d["id"]) for d in waiting} <= {request.delivery for request in received}
    events = [(r.event["event"], r.event["data"]["blockNumber"]) for r in received]
    head = anvil.head()
    assert sorted(events) == sorted((t, n) for t in TYPES for n in range(head - 4, head + 1))
    assert len({request.delivery for request in received}) == 10
    assert new.webhooks.pending() == 0


def test_what_cannot_be_sent_is_refused_or_skipped_where_that_is_wanted(
    indexes, anvil, emitter, receiver, tmp_path, monkeypatch
):
    old, new = indexes
    old.run_until_head()
    hook = register(old, receiver, emitter)
    old.write(tmp_path / "file")
    call(anvil, emitter, 3)
    new.run_until_head(stores_bodies=False)
    with pytest.raises(owners_file.OwnersFileError, match=r"logs in the block 2, .*past-events"):
        new.restore(tmp_path / "file")
    monkeypatch.setattr(missed_events, "MOST_BLOCKS", 2)
    with pytest.raises(owners_file.OwnersFileError, match=r"in blocks 2 to 4, .*more than 2\."):
        new.restore(tmp_path / "file")
    new.restore(tmp_path / "file", missed_events.skip)
    assert new.webhooks.deliveries(hook) == []
    call(anvil, emitter, 1)
    new.run_until_head(stores_bodies=False)
    assert [d["blockNumber"] for d in new.webhooks.deliveries(hook)] == [5, 5]
