"""Events of type log: which logs a webhook gets, in which order, and what a fork does to them."""

import json

import pytest

from scan.ethereum.blocks import EventLog
from scan.indexer import writer
from tests.support.indexing import Indexing, batches_of
from tests.support.made_blocks import Move, address


def test_topics_narrow_as_they_do_for_a_node(webhooks):
    emitter, other = address("emitter"), address("other")
    a, b, c = ("0x" + 32 * digits for digits in ("0A", "0B", "0C"))
    narrowed = [
        (None, [0, 1, 2, 3, 4, 5]),
        ([a], [1, 2, 4, 5]),
        ([[a.lower(), b.lower()]], [1, 2, 3, 4, 5]),
        ([None, [b.lower(), c.lower()]], [2, 4, 5]),
        ([a, None, b], [4]),
        ([a, b, c, c], [5]),
        ([None] * 4, [5]),
        ([c], []),
    ]
    owners = [address(f"owner {number}") for number in range(len(narrowed))]
    hooks = [
        webhooks.register(owner, "https://localhost:1/", ("log",), emitter, topics=topics)
        for owner, (topics, _) in zip(owners, narrowed, strict=True)
    ]
    emitted = [
        *((emitter,), (emitter, a), (emitter, a, b), (emitter, b, a), (emitter, a, c, b)),
        *((emitter, a, b, c, c), (other, a)),
    ]
    logs = [
        EventLog(0, n, by, tuple(bytes.fromhex(topic[2:]) for topic in topics), bytes([n]))
        for n, (by, *topics) in enumerate(emitted)
    ]
    webhooks.chain.append([Move(other, emitter)], logs)
    for owner, hook, (topics, expected) in zip(owners, hooks, narrowed, strict=True):
        indexes = [row["payload"]["data"]["logIndex"] for row in webhooks.deliveries(hook)]
        assert indexes == expected, topics
        shown = webhooks.record(owner, hook)["topics"]
        assert shown == json.loads(json.dumps(topics).lower())


@pytest.mark.thorough
def test_a_webhook_registered_during_a_catch_up_gets_the_logs_of_the_rest_of_it(
    anvil, webhooks, monkeypatch
):
    """All blocks were mined before its registration; from a next batch on it gets every log.

    Meanwhile somebody registers webhooks for other emitters all the time: each makes the indexer
    fetch blocks again, which never keeps it from writing the next batch.
    """
    sender, spender = anvil.accounts[:2]
    coin = anvil.deploy(sender, "Coin", "Name", "N", 18)
    first = anvil.head() + 1
    for _ in range(80):
        anvil.transact(sender, coin, "approve", spender, 7)
        anvil.mine()
    add, emitters = writer.Append.add, []

    def register_then_add(append, batch):
        if batch.blocks[-1].contracts.number > first + 15:
            owner = address(f"owner {len(emitters)}")
            emitter = owner if emitters else bytes.fromhex(coin.address[2:])
            webhooks.register(owner, "https://localhost:1/", ("log",), emitter)
            emitters.append(emitter)
        add(append, batch)

    monkeypatch.setattr(writer.Append, "add", register_then_add)
    limits = batches_of(6, check_watched_s=0.0)
    Indexing(webhooks.settings.database_url, anvil.url, limits=limits).run_until(anvil.head())
    rows = webhooks.execute("SELECT block_number FROM deliveries ORDER BY id")
    blocks = [number for (number,) in rows]
    assert len(emitters) > 4
    assert blocks and blocks == list(range(blocks[0], anvil.head() + 1))
    assert blocks[0] <= first + 40


@pytest.mark.parametrize("stored", ["none", "all"])
def test_logs_of_a_real_chain_are_sent_whatever_is_stored(anvil, webhooks, stored):
    """Registered before the block was mined, also while the indexer is away."""
    sender = anvil.accounts[0]
    coin = anvil.deploy(sender, "Coin", "Name", "N", 18)
    hook = webhooks.register(
        address("owner"), "https://localhost:1/", ("log",), bytes.fromhex(coin.address[2:])
    )
    first = anvil.head() + 1
    for _ in range(3):
        anvil.transact(sender, coin, "mint", sender, 5)
        anvil.transact(sender, coin, "approve", anvil.accounts[1], 7)
        anvil.mine()
    Indexing(webhooks.settings.database_url, anvil.url, logs=stored).run_until(anvil.head())
    span = {"address": coin.address, "fromBlock": hex(first), "toBlock": "latest"}
    expected = [
        (int(entry["blockNumber"], 16), int(entry["logIndex"], 16), entry["topics"], entry["data"])
        for entry in anvil.call("eth_getLogs", span)
    ]
    events = [row["payload"]["data"] for row in webhooks.deliveries(hook)]
    assert len(expected) == 6
    assert [(d["blockNumber"], d["logIndex"], d["topics"], d["data"]) for d in events] == expected
    [[count]] = webhooks.execute("SELECT count(*) FROM logs")
    assert (count == 0) == (stored == "none")
