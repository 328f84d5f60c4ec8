"""A webhook of a file of owners' data, restored into an index that has gone on."""

from contextlib import closing

import pytest

from scan.commands import missed_events
from scan.database import owners_file
from tests.support import indexing
from tests.support.receiver import Answer
from tests.support.webhooks import Webhooks

# Creates a contract that emits a log of its input at each call.
EMITTER = "0x600d600c600039600d6000f33660006000376007366000a100"
TYPES = ("tx", "log")


@pytest.fixture
def indexes(clone, template, authority):
    """Of one chain, with webhooks; the second begins empty."""
    with (
        closing(Webhooks(clone(template), authority.bundle)) as old,
        closing(Webhooks(clone(template), authority.bundle)) as new,
    ):
        yield old, new


def index(webhooks, anvil, **settings):
    url = webhooks.settings.database_url
    indexing.Indexing(url, anvil.url, **settings).run_until(anvil.head())


def restore(webhooks, path, then=missed_events.insert):
    owners_file.restore(webhooks.database, owners_file.read(path), then=then)


@pytest.fixture
def emitter(anvil):
    """A contract that emits a log in each transaction to it."""
    hash_ = anvil.send(anvil.accounts[0], None, data=EMITTER, gas=1_000_000)
    return anvil.receipt_of(hash_)["contractAddress"]


def call(anvil, emitter, times):
    for _ in range(times):
        anvil.receipt_of(anvil.send(anvil.accounts[0], emitter, data="0x1234", gas=100_000))


def test_an_index_that_has_gone_on_sends_each_event_once(
    indexes, anvil, emitter, receiver, tmp_path
):
    old, new = indexes
    index(old, anvil)
    watched = bytes.fromhex(emitter[2:])
    hook = old.register(watched, receiver.url("/hook"), TYPES, watched)
    call(anvil, emitter, 2)
    index(old, anvil)
    with old.delivering():
        receiver.wait_for(4)
    receiver.behaviour = lambda *_: Answer(500)
    call(anvil, emitter, 1)
    index(old, anvil)
    with old.delivering():
        receiver.wait_for(5)  # which fails, and waits
    owners_file.write(old.database, tmp_path / "file")
    waiting = [d for d in old.deliveries(hook) if d["status"] == "pending"]
    call(anvil, emitter, 3)
    index(new, anvil)
    receiver.received.clear()
    receiver.behaviour = lambda *_: Answer()
    restore(new, tmp_path / "file")
    assert new.deliveries(hook)[:6] == old.deliveries(hook)
    restore(new, tmp_path / "file")
    with new.delivering():
        receiver.wait_for(8)
        call(anvil, emitter, 1)
        index(new, anvil)
        received = receiver.wait_for(10)
    assert all(request.is_signed_with(hook.secret) for request in received)
    assert {str(d["id"]) for d in waiting} <= {request.delivery for request in received}
    events = [(r.event["event"], r.event["data"]["blockNumber"]) for r in received]
    head = anvil.head()
    assert sorted(events) == sorted((t, n) for t in TYPES for n in range(head - 4, head + 1))
    assert len({request.delivery for request in received}) == 10
    assert new.pending() == 0


def test_what_cannot_be_sent_is_refused_or_skipped_where_that_is_wanted(
    indexes, anvil, emitter, receiver, tmp_path, monkeypatch
):
    old, new = indexes
    index(old, anvil)
    watched = bytes.fromhex(emitter[2:])
    hook = old.register(watched, receiver.url("/hook"), TYPES, watched)
    owners_file.write(old.database, tmp_path / "file")
    call(anvil, emitter, 3)
    index(new, anvil, stores_bodies=False)
    with pytest.raises(owners_file.OwnersFileError, match=r"logs in the block 2, .*past-events"):
        restore(new, tmp_path / "file")
    monkeypatch.setattr(missed_events, "MOST_BLOCKS", 2)
    with pytest.raises(owners_file.OwnersFileError, match=r"in blocks 2 to 4, .*more than 2\."):
        restore(new, tmp_path / "file")
    restore(new, tmp_path / "file", missed_events.skip)
    assert new.deliveries(hook) == []
    call(anvil, emitter, 1)
    index(new, anvil, stores_bodies=False)
    assert [d["blockNumber"] for d in new.deliveries(hook)] == [5, 5]
