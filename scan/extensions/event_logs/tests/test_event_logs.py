"""GET /api/v1/events, and events of /query: what ethers decodes by the signature, whatever is
stored, of random and hostile logs."""

import gc
import io
import json
from collections import namedtuple
from random import Random

import pytest
from eth_utils import keccak
from pyarrow import parquet

from scan.extensions.events.tests import random_events
from scan.extensions.events.tests.random_events import Contract, declaration, signature
from tests.support.database import execute
from tests.support.indexing import Indexing, client_over
from tests.support.lists import Listed, by_links, get, post
from tests.support.solidity import node_script

EVENTS, LOGS = 12, 400
ALL = Listed("/events", "events", is_counted=False)
NO_BODIES = "DELETE FROM block_bodies; DELETE FROM bodies_from"
# What is stored, by where pages then say that they are from.
STORED = {"index": ("all", NO_BODIES), "blocks": ("none", "SELECT"), "node": ("none", NO_BODIES)}


class Emitted(namedtuple("Emitted", "anvil abi addresses logs")):
    """Contracts that emit events of one ABI, and their logs as the node has them, newest first,
    with what ethers decodes of those with as many topics as their event."""

    def of(self, event, emitters=(), topics=()):
        """Place, emitter and arguments of the logs with an event's topic, and others at their
        positions."""
        return [
            (log["position"], log["address"], log["args"])
            for log in self.logs
            if log["event"] == event["name"]
            and log["address"] in (emitters or {log["address"]})
            and all(log["topics"][at : at + 1] == [topic] for at, topic in topics)
        ]


def topic_of(event):
    return "0x" + keccak(text=signature(event)).hex()


@pytest.fixture(scope="module")
def emitted(shared_anvil):
    anvil = shared_anvil
    draw = Random(31)
    emitters = [Contract(anvil, draw, EVENTS) for _ in range(3)]
    for emitter in emitters:
        emitter.abi = emitters[0].abi
        emitter.emit(LOGS // 3)
    named = [event for event in emitters[0].abi if not event["anonymous"]]
    for event in named:  # as many topics as logs of others have
        topic = bytes.fromhex(topic_of(event)[2:])
        for number in range(4):
            topics = [topic, *[bytes(32)] * number]
            for emitter in emitters:
                log = random_events.encoded(topics, bytes(64))
                random_events.emit(anvil, emitter.address, log)
            anvil.mine()
    addresses = [emitter.address for emitter in emitters]
    return Emitted(anvil, named, addresses, [*decoded(anvil, named)])


def decoded(anvil, abi):
    logs = anvil.call("eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest"})[::-1]
    names = {topic_of(event): event for event in abi}
    known = [log for log in logs if log["topics"] and log["topics"][0] in names]
    events = [names[log["topics"][0]] for log in known]
    request = [
        {"event": event["name"], "topics": log["topics"], "data": log["data"]}
        for log, event in zip(known, events, strict=True)
    ]
    arguments = node_script("decode_events.cjs", stdin={"abi": abi, "logs": request})
    for log, event, args in zip(known, events, arguments, strict=True):
        indexed = sum(one["indexed"] for one in event["inputs"])
        is_whole = len(log["topics"]) == 1 + indexed
        position = int(log["blockNumber"], 16), int(log["logIndex"], 16)
        args = args if is_whole else None
        yield {**log, "event": event["name"], "position": position, "args": args}


Source = namedtuple("Source", "name client")


@pytest.fixture(scope="module", params=STORED)
def source(request, postgres, template, emitted):
    logs, statement = STORED[request.param]
    with postgres.cloned(template) as url:
        indexing = Indexing(url, emitted.anvil.url, logs=logs)
        indexing.run_until(emitted.anvil.head())
        execute(url, statement)
        yield Source(request.param, indexing.client())


def plain(rows):
    return [((row["blockNumber"], row["logIndex"]), row["address"], row["args"]) for row in rows]


def test_arguments_are_those_that_ethers_decodes(source, emitted):
    kinds = set()
    for event in emitted.abi:
        rows = by_links(source.client, ALL, 100, signature=declaration(event))
        assert plain(rows) == emitted.of(event), declaration(event)
        assert {row["signature"] for row in rows} <= {signature(event)}
        kinds |= {(row["args"] is None, "problem" in row) for row in rows}
    assert kinds == {(True, True), (False, False)}


def test_several_contracts_are_one_list_in_pages_of_any_size(source, emitted):
    draw = Random(5)
    for event in emitted.abi:
        emitters = draw.sample(emitted.addresses, 2)
        expected = emitted.of(event, emitters)
        query = {"signature": declaration(event), "address": ",".join([*emitters, emitters[0]])}
        for order, limit in (("desc", 7), ("asc", 100)):
            rows = by_links(source.client, ALL, limit, orderBy=order, **query)
            assert plain(rows) == expected[:: 1 if order == "desc" else -1]
        numbered = [get(source.client, "/events", limit=7, page=n, **query) for n in (1, 2)]
        assert plain([row for page in numbered for row in page["events"]]) == expected[:14]


def test_indexed_arguments_filter_by_their_names(source, emitted):
    draw, types = Random(6), set()
    by_text = "bytes", "string"  # which no log has
    for event in emitted.abi:
        logs = [log for log in emitted.logs if log["event"] == event["name"] and log["args"]]
        indexed = enumerate([one for one in event["inputs"] if one["indexed"]], start=1)
        for at, one in [(at, one) for at, one in indexed if one["type"] not in by_text]:
            log = draw.choice(logs)
            value = log["args"][one["name"]]
            expected = emitted.of(event, topics=[(at, log["topics"][at])])
            text = json.dumps(value).strip('"')
            types.add(one["type"])
            for spelling in (one["name"], f"arg.{one['name']}", "args"):
                given = {"args": json.dumps({one["name"]: value})}.get(spelling, text)
                query = {"signature": declaration(event), spelling: given}
                assert plain(by_links(source.client, ALL, 100, **query)) == expected, query
            body = {"signature": declaration(event), "args": {one["name"]: value}}
            answer = post(source.client, "/query", entity="events", filter=body, limit=100)
            assert plain(answer["data"]) == expected
    assert "address" in types


def test_a_page_says_what_it_was_read_from(source, emitted):
    """As lists of logs say which fields the node reports."""
    unproven = {"node": ["events"]}.get(source.name)
    event = emitted.abi[0]
    query = {"signature": declaration(event), "address": emitted.addresses[0]}
    page = get(source.client, "/events", **query)
    assert (page["source"], page.get("unproven")) == (source.name, unproven)
    answer = post(source.client, "/query", entity="events", filter=query)
    assert (answer["source"], answer["data"]) == (source.name, page["events"])
    assert answer.get("unproven") == (unproven and ["data"])
    none = get(source.client, "/events", **{**query, "address": "0x" + 40 * "1"})
    assert (none["events"], none["next"]) == ([], None)


def test_a_file_has_all_logs_with_a_column_for_each_argument(source, emitted):
    for event in emitted.abi[:4]:
        expected = emitted.of(event)
        query = {"signature": declaration(event)}
        answer = source.client.get("/api/v1/events", query_string={**query, "format": "ndjson"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["X-Scan-Complete"] == "true"
        assert answer.headers["X-Scan-Source"] == source.name
        assert "X-Scan-Source" in answer.headers["Access-Control-Expose-Headers"]
        rows = [json.loads(line) for line in answer.text.splitlines()]
        names = [*rows[0]][5:-1]
        assert len(names) == len(event["inputs"])
        for row, (position, address, args) in zip(rows, expected, strict=True):
            assert (row["block_number"], row["log_index"], row["contract"]) == (*position, address)
            of_log = [row[name] for name in names]
            assert of_log == (list(args.values()) if args else [None] * len(names))
            assert (row["problem"] is None) is (args is not None)
        answer = source.client.get("/api/v1/events", query_string={**query, "format": "parquet"})
        typed = parquet.read_table(io.BytesIO(answer.data)).to_pylist()
        assert [row["block_number"] for row in typed] == [row["block_number"] for row in rows]
        assert {*rows[0]} <= {*typed[0]}


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_file_that_cannot_be_read_is_an_error(emitted, postgres, template):
    """Of no node, and nothing is left of it that is written later."""
    with postgres.cloned(template) as url:
        Indexing(url, emitted.anvil.url, logs="none").run_until(emitted.anvil.head())
        execute(url, NO_BODIES)
        client = client_over(url)
        for file in ("csv", "ndjson", "parquet"):
            query = {"signature": declaration(emitted.abi[0]), "format": file}
            answer = client.get("/api/v1/events", query_string=query)
            assert (answer.status_code, answer.json["code"]) == (502, "upstream_failed")
            gc.collect()
