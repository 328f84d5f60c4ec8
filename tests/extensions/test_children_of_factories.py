"""The logs of contracts that factories name, by every door: the rows of their view, and what ethers
decodes."""

from collections import namedtuple
from contextlib import closing
from random import Random

import pytest

from scan.database.connection import Database
from scan.extensions.events.tests.random_children import Factories
from scan.extensions.streams.block_events import OrphanedEvents, Position, read_next
from tests.extensions.event_doors import Followed, require_exports, rows_of
from tests.support.anvil import Anvil
from tests.support.folders import temporary_folder
from tests.support.solidity import node_script
from tests.support.world import World

WATCH = """
    INSERT INTO webhooks (id, owner_address, watch_address, url, event_types, created_at)
    VALUES (%s, %s, %s, 'https://localhost:1/', '{log}', now());
    INSERT INTO delivery_queues (webhook_id, host) VALUES (%s, 'localhost')
"""
Children = namedtuple("Children", "world factories")


@pytest.fixture(scope="module", params=["none", pytest.param("all", marks=pytest.mark.thorough)])
def children(request, postgres, template):
    with (
        Anvil() as anvil,
        postgres.cloned(template) as url,
        temporary_folder("scan-children-") as folder,
        World(anvil, (url, postgres, template, folder), logs=request.param) as world,
    ):
        factories = Factories(anvil, Random(9), folder, children=8, events=3)
        factories.play(150)
        world.read()
        factories.add(url)
        for number, child in enumerate(factories.children, 1):
            address = bytes.fromhex(child[2:])
            world.sql(WATCH, number, address, address, number)
        factories.play(150)
        world.read()
        factories.fork(3, 60)
        world.read()
        yield Children(world, factories)


def expected(children):
    """The arguments of each log of a child, by its block and index."""
    factories = children.factories
    return {
        (block, index): dict(zip([one["name"] for one in event["inputs"]], arguments, strict=True))
        for rule in factories.rules
        for number, event in enumerate(factories.abi)
        for block, index, _, arguments in factories.expected(rule, number)
    }


def test_pages_and_files_have_the_rows_of_the_view(children):
    world, factories = children
    for rule in factories.rules:
        of_all = Followed(world.url, world.client, rule.factory, children=rule.name)
        listed = of_all.get()
        assert listed["name"] == rule.name
        named = [child for child, (of, _) in factories.named().items() if of == rule]
        assert {"name": rule.name, "contractCount": len(named)}.items() <= next(
            one
            for one in Followed(world.url, world.client, rule.factory).get()["children"]
            if one["name"] == rule.name
        ).items()
        for event in listed["events"]:
            rows = rows_of(world.url, event["view"])
            of_all.require_pages_and_files(event, rows)
            for child in named:
                of_child = Followed(world.url, world.client, child)
                assert of_child.get()["factory"] == rule.factory
                of_child.require_pages_and_files(event, [r for r in rows if r["contract"] == child])


def test_exports_have_the_rows_of_the_view(children, tmp_path):
    views = [f"events.{rule.name}_event{n}" for rule in children.factories.rules for n in range(3)]
    require_exports(children.world.url, views, tmp_path)


def test_streams_and_webhooks_say_the_event_of_each_log(children):
    world, (number, block_hash) = children.world, (0, None)
    [(number, block_hash)] = world.sql("SELECT number, hash FROM blocks ORDER BY number LIMIT 1")
    position, streamed = Position(number, bytes(block_hash), 2**31 - 1), {}
    with closing(Database(world.url, statement_timeout_ms=0)) as database:
        orphaned = OrphanedEvents(database)
        while not (read := read_next(database, position, ("logs",), orphaned)).is_newest:
            position = read.position
            streamed |= {
                (e.record["blockNumber"], e.record["logIndex"]): e.record for e in read.events
            }
    of_children = expected(children)
    assert {at: streamed[at]["event"]["args"] for at in of_children} == of_children
    bodies = world.sql("SELECT body::json->'data' FROM event_bodies ORDER BY id")
    sent = {(log["blockNumber"], log["logIndex"]): log for (log,) in bodies}
    assert sent
    newer = {at: of for at, of in of_children.items() if at in sent}
    assert {at: sent[at]["event"]["args"] for at in newer} == newer
    assert min(sent) > min(of_children) and max(newer) == max(of_children)


def test_arguments_are_those_that_ethers_decodes(children):
    factories = children.factories
    logs = {(log.block, log.index): log for log in factories.logs}
    of_children = expected(children)
    request = [
        {
            "event": factories.abi[logs[at].number]["name"],
            "topics": [f"0x{topic.hex()}" for topic in logs[at].topics],
            "data": f"0x{logs[at].data.hex()}",
        }
        for at in of_children
    ]
    decoded = node_script("decode_events.cjs", stdin={"abi": factories.abi, "logs": request})
    assert decoded == [*of_children.values()]
