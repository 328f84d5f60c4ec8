"""Lists of an event's logs, of a contract or of a factory's children: what SELECT of its view
returns, by filters, pages and as files; and what streams and webhooks say of children."""

import csv
import io
import json
from collections import namedtuple
from contextlib import closing
from decimal import Decimal
from random import Random
from urllib.parse import quote

import psycopg2
import pytest
from pyarrow import parquet

from scan.extensions.events.tests.coffers import address_of, watch_logs
from scan.extensions.events.tests.random_children import Factories
from scan.extensions.events.tests.random_events import Contract, add, signature
from scan.extensions.streams.block_events import OrphanedEvents, Position, read_next
from tests.support.refusals import require_parameter
from tests.support.world import World


class Followed(namedtuple("Followed", "world address chosen contract", defaults=({}, None))):
    """A contract that is followed, or by query parameters the children of a factory."""

    @property
    def path(self):
        return f"/api/v1/contracts/{self.address}/events"

    def get(self, path="", /, **query):
        response = self.world.client.get(self.path + path, query_string={**self.chosen, **query})
        assert response.status_code == 200, response.text
        assert "format" not in query or response.headers["X-Scan-Complete"] == "true"
        return response.json if response.is_json else response.data

    def rows(self, event):
        """The rows of an event's view by column, newest first, as JSON has them."""
        sql = f"SELECT * FROM {event['view']} ORDER BY block_number DESC, log_index DESC"  # noqa: S608
        with closing(psycopg2.connect(self.world.url)) as connection:
            cursor = connection.cursor()
            cursor.execute(sql)
            names = [column.name for column in cursor.description]
            return [dict(zip(names, map(in_json, row), strict=True)) for row in cursor]

    def require_pages_and_files(self, event, rows):
        """An event's pages and files have these rows of its view, newest first."""
        path, listed, cursor = f"/{event['name']}", [], {}
        while cursor is not None:
            page = self.get(path, limit=7, **cursor)
            assert page["total"] in (len(rows), None)
            listed += page["events"]
            cursor = page["next"] and {"cursor": page["next"]}
        names = {argument["name"]: argument["column"] for argument in event["arguments"]}
        of_log = "blockNumber logIndex transactionHash timestamp address args".split()
        of_row = "block_number log_index transaction_hash timestamp contract".split()
        assert [[log[name] for name in of_log] for log in listed] == [
            [*(row[name] for name in of_row), {name: row[of] for name, of in names.items()}]
            for row in rows
        ]
        lines = self.get(path, format="ndjson").splitlines()
        assert [*map(json.loads, lines)] == rows
        text = io.StringIO(self.get(path, format="csv").decode("utf-8-sig"), newline="")
        assert [*csv.DictReader(text)] == [{k: in_csv(v) for k, v in row.items()} for row in rows]
        read = parquet.read_table(io.BytesIO(self.get(path, format="parquet"))).to_pylist()
        assert [[r[n] for n in of_row[:2]] for r in read] == [
            [r[n] for n in of_row[:2]] for r in rows
        ]


def in_json(value):
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, memoryview):
        return "0x" + bytes(value).hex()
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if hasattr(value, "strftime") else value


def in_csv(value):
    """A value of JSON as CSV has it."""
    if isinstance(value, bool | list | dict):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith("\t") else text  # which a spreadsheet takes for a formula


@pytest.fixture(scope="module")
def world(shared_anvil, shared_database_url, postgres, template, tmp_path_factory):
    places = shared_database_url, postgres, template, tmp_path_factory.mktemp("world")
    with World(shared_anvil, places, logs="none") as world:
        yield world


@pytest.fixture(scope="module")
def followed(world):
    contract = Contract(world.anvil, Random(7), 12)
    abi = world.folder / "abi.json"
    abi.write_text(json.dumps(contract.abi))
    contract.emit(400)
    world.read()
    add(world.url, contract.address, abi)
    return Followed(world, contract.address, contract=contract)


def test_events_are_listed_with_their_counts(followed):
    listed, abi = followed.get(), followed.contract.abi
    assert (listed["name"], listed["completeFrom"]) == ("emitter", 0)
    counts = {e["name"]: e["count"] for e in listed["events"] if not e["anonymous"]}
    named = [(n, event["name"]) for n, event in enumerate(abi) if not event["anonymous"]]
    assert counts == {name: len(followed.contract.expected(n)) for n, name in named}
    assert {e["signature"] for e in listed["events"]} == set(map(signature, abi))


def test_pages_and_files_have_the_rows_of_the_view(followed):
    for event in followed.get()["events"]:
        followed.require_pages_and_files(event, followed.rows(event))
    answer = followed.world.client.get("/api/v1/transactions?format=parquet")
    require_parameter(answer, "format")


def test_the_page_of_an_event_has_its_filters_and_its_file(followed):
    tab = f"/address/{followed.address}?tab=events"
    for event in followed.get()["events"]:
        assert f"event={event['name'].lower()}" in followed.world.get(tab)
        page = followed.world.get(f"{tab}&event={event['name']}")
        fields = {a["parameter"] for a in event["arguments"]} - {None}
        assert {field for field in fields if f'name="{field}"' in page} == fields
        path = f"{followed.path}/{quote(event['signature'], safe='')}?format="
        assert all(f'href="{path}{file}"' in page for file in ("csv", "ndjson"))


@pytest.fixture(scope="module")
def factories(world):
    factories = Factories(world.anvil, Random(9), world.folder, children=8, events=3)
    factories.play(150)
    world.read()
    factories.add(world.url)
    watch_logs(world.url, *map(address_of, factories.children))
    factories.play(150)
    world.read()
    factories.fork(3, 60)
    world.read()
    return factories


def test_pages_and_files_of_children_have_the_rows_of_the_view(factories, world):
    for rule in factories.rules:
        of_all = Followed(world, rule.factory, {"children": rule.name})
        listed = of_all.get()
        named = [child for child, (of, _) in factories.named().items() if of == rule]
        of_rules = Followed(world, rule.factory).get()["children"]
        counts = {one["name"]: one["contractCount"] for one in of_rules}
        assert (listed["name"], counts[rule.name]) == (rule.name, len(named))
        for event in listed["events"]:
            rows = of_all.rows(event)
            of_all.require_pages_and_files(event, rows)
            for child in named:
                of_child = Followed(world, child)
                assert of_child.get()["factory"] == rule.factory
                of_child.require_pages_and_files(event, [r for r in rows if r["contract"] == child])


def test_streams_and_webhooks_say_the_event_of_each_log_of_children(factories, world):
    of_children = {
        (block, index): dict(zip([one["name"] for one in event["inputs"]], arguments, strict=True))
        for rule in factories.rules
        for number, event in enumerate(factories.abi)
        for block, index, _, arguments in factories.expected(rule, number)
    }
    first = "SELECT number, hash FROM blocks ORDER BY number LIMIT 1"
    [(number, block_hash)] = world.sql(first)
    position, streamed = Position(number, bytes(block_hash), 2**31 - 1), {}
    orphaned = OrphanedEvents(world.database)
    while not (read := read_next(world.database, position, ("logs",), orphaned)).is_newest:
        position = read.position
        streamed |= {(e.record["blockNumber"], e.record["logIndex"]): e.record for e in read.events}
    assert {at: streamed[at]["event"]["args"] for at in of_children} == of_children
    bodies = world.sql("SELECT body::json->'data' FROM event_bodies ORDER BY id")
    sent = {(log["blockNumber"], log["logIndex"]): log for (log,) in bodies}
    newer = {at: of for at, of in of_children.items() if at in sent}
    assert {at: sent[at]["event"]["args"] for at in newer} == newer
    assert min(sent) > min(of_children) and max(newer) == max(of_children)
