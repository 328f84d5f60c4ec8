"""GET /api/v1/logs, and logs of /query: the same rows whichever of them are stored."""

import itertools
import random
import threading
from collections import namedtuple

import pytest

from scan.ethereum.stored_blocks import stored_body
from scan.extensions.logs.unstored_logs import MOST_STORED_AT_ONCE, LogBounds
from scan.queries.reader import ProcessorWait
from tests.support import WAIT_S, database, faulty_node, refusals, watched_database
from tests.support.explorer import behind
from tests.support.indexing import Indexing, client_over, sources
from tests.support.lists import chain_of, get, pages, same
from tests.support.truth.token_moves import TRANSFER
from tests.support.value_names import shown

UNKNOWN = "0x" + 64 * "7"
TOPICS = ("topic0", "topic1", "topic2", "topic3")


class Service(namedtuple("Service", "stored client url")):
    """`stored` is as SCAN_LOGS, or "blocks"."""


STORED = ["none", "blocks", pytest.param("standard", marks=pytest.mark.thorough)]


@pytest.fixture(scope="module", params=STORED)
def service(request, shared_database_url, scenario, indexed, indexed_without_bodies):
    index = {"none": indexed_without_bodies, "blocks": indexed}.get(request.param)
    if index is None:
        index = Indexing(shared_database_url, scenario.anvil.url, logs=request.param)
        index.run_until(scenario.anvil.head())
        database.execute(index.url, "DELETE FROM block_bodies; DELETE FROM bodies_from")
    return Service(request.param, index.client(), index.url)


def filters_of(logs):
    """Filters that match something, and some that do not."""
    draw = random.Random(5)
    filters = [{}, {"topic0": UNKNOWN}, {"address": "0x" + 40 * "1"}]
    for _ in range(15):
        one, other = draw.choice(logs), draw.choice(logs)
        keys = {"address": one["address"]} | dict(zip(TOPICS, one["topics"], strict=False))
        chosen = {key: value for key, value in keys.items() if draw.random() < 0.4}
        numbers = sorted((one["blockNumber"], other["blockNumber"]))
        bounds = dict(zip(("blockFrom", "blockTo"), numbers, strict=True))
        filters.append(chosen | {k: v for k, v in bounds.items() if draw.random() < 0.3})
    return filters


def matching(truth, filter_):
    """By a look at every one."""
    return chain_of(truth).find({"entity": "logs", "filter": filter_})


def test_every_page_is_the_nodes(service, scenario):
    """Whole in pages of both sizes, and by each filter in pages of one of them."""
    filters = filters_of(scenario.truth.logs)
    for filter_, limit in [({}, 100), *zip(filters, itertools.cycle((7, 100)), strict=False)]:
        expected = matching(scenario.truth, filter_)
        same(pages(service.client, "/logs", "logs", limit, **filter_), expected)


def test_a_total_is_that_of_the_whole_list_on_every_page(service, scenario):
    for filters in filters_of(scenario.truth.logs):
        expected = len(matching(scenario.truth, filters))
        query = {**filters, "limit": min(max(1, expected // 3), 100)}
        totals = []
        while query is not None:
            page = service.client.get("/api/v1/logs", query_string=query).get_json()
            totals.append(page["total"])
            query = {**query, "cursor": page["next"]} if page["next"] else None
        assert {*totals} <= {expected, None}, (filters, totals)


def test_what_is_stored_needs_no_node(service, scenario):
    alone = client_over(service.url)
    address = scenario.truth.logs[0]["address"]
    any_event = [{}, {"address": address}, {"topic0": UNKNOWN}]
    transfers = [{"topic0": TRANSFER}, {"topic0": TRANSFER, "address": address}]
    needing_a_node = {"none": [*any_event, *transfers], "standard": any_event}
    refused = []
    for filter_ in (*any_event, *transfers):
        answer = alone.get("/api/v1/logs", query_string=filter_)
        query = {"entity": "logs", "filter": filter_}
        assert alone.post("/api/v1/query", json=query).status_code == answer.status_code
        refused += [(filter_, answer)] * (answer.status_code != 200)
    assert [filter_ for filter_, _ in refused] == needing_a_node.get(service.stored, [])
    for _, answer in refused:
        assert (answer.status_code, answer.json["code"]) == (502, "upstream_failed")
        assert answer.headers["Retry-After"]


@pytest.fixture
def stored_blocks(indexed):
    """A client, and the number and sizes of the blocks of each statement for stored ones."""
    counts, sizes = [], []

    def note(statement, params, rows):
        if statement == "contracts/block_bodies_list":
            counts.append(len(params["numbers"]))
            sizes.append([len(row[-1]) for row in rows if row[-1] is not None])

    with watched_database.watched(indexed.settings, note) as client:
        yield client, counts, sizes


def test_few_stored_blocks_are_read_at_once(stored_blocks, scenario):
    client, counts, _ = stored_blocks
    [oldest] = get(client, "/logs", limit=1, page=len(scenario.truth.logs))["logs"]
    assert oldest["blockNumber"] == min(log["blockNumber"] for log in scenario.truth.logs)
    assert sum(counts) > 2 * MOST_STORED_AT_ONCE and max(counts) == MOST_STORED_AT_ONCE


@pytest.mark.thorough
@pytest.mark.parametrize("most_bytes", [0, 1_000])
def test_lists_of_large_blocks_have_few_bytes_in_memory(stored_blocks, scenario, most_bytes):
    client, _, sizes = stored_blocks
    sources(client).transaction_contents.at_once_bytes = most_bytes
    bounds_of(client).batch_bytes = most_bytes
    same(pages(client, "/logs", "logs", 100), scenario.truth.logs)
    assert max(map(len, sizes)) >= 1
    assert all(sum(of_statement[:-1]) <= most_bytes for of_statement in sizes)


def bounds_of(client):
    return sources(client).get(LogBounds)


def test_logs_of_a_malformed_block_are_the_nodes(clone, indexed_template, scenario):
    """By its digest it is what was written."""
    url = clone(indexed_template)
    malformed = stored_body([b"\xc0"], [b"\xc0"])
    database.execute(url, "UPDATE block_bodies SET digest = %s, body = %s", *malformed)
    same(pages(client_over(url, scenario.anvil.url), "/logs", "logs", 100), scenario.truth.logs)


def test_events_are_those_of_a_name_or_a_signature(client):
    by_topic = get(client, "/logs", topic0=TRANSFER, limit=100)
    for event in ("Transfer", " Transfer(address, address, uint) "):
        assert get(client, "/logs", topic0=event, limit=100)["logs"] == by_topic["logs"]
        query = {"entity": "logs", "filter": {"topic0": event}, "limit": 100}
        assert client.post("/api/v1/query", json=query).json["data"] == by_topic["logs"]
    several = client.get("/api/v1/logs?topic0=Swap")
    assert several.status_code == 400
    assert "Swap(address,uint256,uint256,uint256,uint256,address)" in several.json["error"]
    emitter = by_topic["logs"][0]["address"]
    page = client.get(f"/address/{emitter}?tab=events&topic0=Transfer").text
    assert '<option value="Transfer(address,address,uint256)">' in page
    assert by_topic["logs"][0]["transactionHash"] in page


@pytest.mark.parametrize("value", [None, 1, [], {}, [UNKNOWN], "0x12", UNKNOWN + "0"], ids=shown)
def test_bad_topics_of_a_query_are_refused(client, value):
    query = {"entity": "logs", "filter": {"topic2": value}}
    refusals.require_parameter(client.post("/api/v1/query", json=query), "topic2")


@pytest.fixture
def lying(indexed_without_bodies):
    """A node between, and an index that stores no logs, and no blocks."""
    with behind(indexed_without_bodies.settings) as (client, node):
        yield node, client


def changing(change):
    """What the node returns for eth_getLogs, changed."""
    return faulty_node.replacing("eth_getLogs", change)


def ranges_of(calls):
    """The blocks whose logs are asked for."""
    filters = [call["params"][0] for call in calls if call["method"] == "eth_getLogs"]
    return [range(int(r["fromBlock"], 16), 1 + int(r["toBlock"], 16)) for r in filters]


def with_field(**field):
    return changing(lambda logs: [log | field for log in logs])


@pytest.mark.thorough
@pytest.mark.parametrize(
    "lie",
    [
        pytest.param(with_field(removed=True), id="removed"),
        pytest.param(with_field(address="0x" + 40 * "9"), id="another address"),
        pytest.param(
            changing(
                lambda logs: [log | {"topics": log["topics"][:1] + [UNKNOWN] * 4} for log in logs]
            ),
            id="five topics",
        ),
        pytest.param(with_field(blockHash="0x" + 64 * "8"), id="another block's hash"),
        pytest.param(with_field(transactionIndex="0x7f"), id="another index of the transaction"),
        pytest.param(with_field(blockNumber="0xfffff"), id="a block outside"),
        pytest.param(with_field(data="0xzz"), id="no hex"),
        pytest.param(changing(lambda logs: logs + logs), id="twice"),
        pytest.param(changing(lambda _: {"logs": []}), id="no list"),
        pytest.param(faulty_node.other_block, id="another chain"),
        pytest.param(faulty_node.cut_connection, id="away"),
    ],
)
def test_a_node_that_lies_is_not_believed(lying, scenario, lie):
    node, client = lying
    log = next(log for log in scenario.truth.logs if log["topics"])
    filter_ = {"address": log["address"], "topic0": log["topics"][0]}
    node.fault = lie
    answer = client.get("/api/v1/logs", query_string=filter_)
    assert (answer.status_code, answer.json["code"]) == (502, "upstream_failed"), answer.text
    query = {"entity": "logs", "filter": filter_}
    assert client.post("/api/v1/query", json=query).status_code == 502
    node.fault = None
    same(pages(client, "/logs", "logs", 7, **filter_), matching(scenario.truth, filter_))


def test_logs_out_of_order_are_put_into_order(lying, scenario):
    node, client = lying
    node.fault = changing(lambda logs: logs[::-1])
    same(pages(client, "/logs", "logs", 100), scenario.truth.logs)


@pytest.mark.thorough
def test_a_node_that_gives_few_logs_at_once_is_asked_for_fewer_blocks(lying, scenario):
    node, client = lying
    node.fault = faulty_node.refuse(
        lambda call: any(len(blocks) > 20 for blocks in ranges_of([call])),
        *(-32602, "block range is too wide"),
    )
    same(pages(client, "/logs", "logs", 100), scenario.truth.logs)


@pytest.mark.thorough
def test_logs_of_a_busy_contract_come_from_a_slow_node(lying, scenario):
    """Which does not answer for more than four blocks in time: no page needs them all, and the
    list is not counted. Cursors lead to its end."""
    node, client = lying
    bounds_of(client).batch_timeout_s = bounds_of(client).count_s = 0.1
    ended = threading.Event()

    def be_slow(calls, forward):
        if sum(map(len, ranges_of(calls))) > 4:
            ended.wait(WAIT_S)
        return faulty_node.Reply(body=forward(calls))

    node.fault = be_slow
    addresses = [log["address"] for log in scenario.truth.logs]
    busiest = max(addresses, key=addresses.count)
    try:
        first = get(client, "/logs", address=busiest, limit=3)
        expected = [log for log in scenario.truth.logs if log["address"] == busiest]
        same(first["logs"], expected[:3])
        assert client.get(f"/address/{busiest}?tab=events").status_code == 200
        rows, following = [], {}
        while following is not None and len(rows) <= 60:
            page = get(client, "/logs", limit=20, **following)
            rows += page["logs"]
            following = page["next"] and {"cursor": page["next"]}
        same(rows, scenario.truth.logs[: len(rows)])
    finally:
        ended.set()


@pytest.mark.thorough
def test_a_client_has_many_logs_read_once_at_a_time(lying):
    _, client = lying
    bounds_of(client).few_logs = 5
    sources(client).get(ProcessorWait).seconds = 0.0
    with sources(client).processor_places.place("127.0.0.1"):
        assert client.get("/api/v1/logs?limit=31").status_code == 429
        others = {"REMOTE_ADDR": "192.0.2.7"}
        assert client.get("/api/v1/logs?limit=31", environ_base=others).status_code == 200


def test_what_the_node_cannot_give_is_refused_with_advice(lying):
    node, client = lying
    node.fault = faulty_node.refuse(
        lambda call: call["method"] == "eth_getLogs",
        *(-32005 - 1, "query returned more than 10000 results"),
    )
    answer = client.get("/api/v1/logs")
    assert (answer.status_code, answer.json["code"]) == (503, "unavailable")
    assert "blockFrom" in answer.json["error"]
    node.fault = None
    bounds_of(client).logs = 50
    uncounted = client.get("/api/v1/logs").json
    assert (len(uncounted["logs"]), uncounted["total"]) == (25, None) and uncounted["next"]
    assert client.post("/api/v1/query", json={"entity": "logs"}).json["count"] == 25
    bounds_of(client).data_bytes = 40
    one = {"entity": "logs", "limit": 1, "offset": 3}
    assert client.post("/api/v1/query", json=one).json["count"] == 1
    many = {"entity": "logs", "limit": 24}
    ended = client.post("/api/v1/query", json=many).json  # early, by the size of its data
    assert 0 < ended["count"] < 24 and ended["next"]
    assert client.post("/api/v1/query", json={"entity": "logs", "offset": 60}).status_code == 503


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32602, "block range extends beyond current head block"),  # execution-apis 875
        (-32603, "Internal Error: Could not get header for block 9"),  # ethrex
    ],
)
def test_a_node_behind_the_index_is_no_list_of_too_many_logs(lying, scenario, code, message):
    """The node has not got the index' newest blocks yet, as behind a load balancer: nothing that a
    narrower request would help."""
    node, client = lying
    newest = scenario.truth.logs[0]
    head = newest["blockNumber"] - 1
    refusing = faulty_node.refuse(
        lambda call: any(max(blocks) > head for blocks in ranges_of([call])), code, message
    )
    newer = faulty_node.replacing(
        lambda c: c["method"] == "eth_getBlockByNumber" and int(c["params"][0], 16) > head, None
    )
    node.fault = faulty_node.before(refusing, newer)
    query = {"address": newest["address"]}
    answer = client.get("/api/v1/logs", query_string=query)
    assert (answer.status_code, answer.json["code"]) == (502, "upstream_failed"), answer.text
    assert "not at the same chain" in answer.json["error"]
    until = client.get("/api/v1/logs", query_string={**query, "blockTo": head, "limit": 100}).json
    same(until["logs"], matching(scenario.truth, {**query, "blockTo": head})[:100])
    node.fault = None
    same(client.get("/api/v1/logs", query_string=query).json["logs"][:1], [newest])


def test_later_pages_ask_the_node_for_their_own_blocks_alone(lying, scenario):
    node, client = lying
    ranges = []

    def note(calls, forward):
        ranges.extend(ranges_of(calls))
        return faulty_node.Reply(body=forward(calls))

    node.fault = note
    get(client, "/logs", limit=5)
    assert ranges
    ranges.clear()
    logs = get(client, "/logs", limit=5, page=3)["logs"]
    same(logs, scenario.truth.logs[10:15])
    blocks = {log["blockNumber"] for log in logs}
    numbers = {number for range_ in ranges for number in range_}
    assert numbers >= blocks and max(numbers) == max(blocks) and min(numbers) == min(blocks)
