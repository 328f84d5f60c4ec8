"""Lists beside the node, row for row: random ranges, pages and orders."""

import random
from collections import Counter

import pytest

from scan.extensions.etherscan import transactions
from scan.queries.reader import ProcessorWait
from tests.support.etherscan_truth import told_apart
from tests.support.indexing import sources

TRANSFERS = {"tokentx": "BEP20", "tokennfttx": "BEP721", "token1155tx": "BEP1155"}
ROUNDS = 15


def window(draw, head):
    """A page of a range in an order; each part may be left out."""
    first, last = sorted(draw.sample(range(head + 3), 2))
    whole = {
        "startblock": draw.choice([0, first, first]),
        "endblock": draw.choice([9999999999, last, last, 99999999]),
        "page": draw.choice([0, 1, 1, 2, 3, 7]),
        "offset": draw.choice([1, 3, 10, 100, 10_000]),
        "sort": draw.choice(["asc", "desc"]),
    }
    return {name: value for name, value in whole.items() if draw.random() < 0.85}


def require_page(shown, rows, query):
    """Of all rows, oldest first, those of the page that is asked for."""
    first, last = query.get("startblock", 0), query.get("endblock", 9999999999)
    matches = [row for row in rows if first <= int(row["blockNumber"]) <= last]
    if query.get("sort") == "desc":
        matches.reverse()
    size = query.get("offset", 10_000)
    start = (max(query.get("page", 1), 1) - 1) * size
    page = matches[start : start + size]
    assert told_apart(shown, page) == page, query


def test_txlist_of_the_busiest_at_every_page(ask, etherscan_truth):
    """Its list is long enough for checkpoints."""
    counts = {a: record["txCount"] for a, record in etherscan_truth.truth.addresses.items()}
    busiest = max(counts, key=lambda address: counts[address])
    rows = etherscan_truth.transactions(busiest)
    assert len(rows) > 128
    draw = random.Random(16)
    for _ in range(ROUNDS):
        query = window(draw, etherscan_truth.head)
        require_page(ask.rows("account", "txlist", address=busiest, **query), rows, query)
    for sort in ("asc", "desc"):
        for page in range(1, len(rows) // 40 + 3):
            query = {"page": page, "offset": 40, "sort": sort, "startblock": 5}
            require_page(ask.rows("account", "txlist", address=busiest, **query), rows, query)


def test_a_client_has_many_rows_completed_once_at_a_time(indexed, scenario, monkeypatch):
    monkeypatch.setattr(transactions, "FEW_ROWS", 0)
    client = indexed.client()
    sources(client).get(ProcessorWait).seconds = 0.0
    person = scenario.truth.transactions[0]["fromAddress"]
    path = f"/api?module=account&action=txlist&address={person}"
    with sources(client).processor_places.place("127.0.0.1"):
        refused = client.get(path)
        served = client.get(path, environ_base={"REMOTE_ADDR": "192.0.2.7"})
    assert refused.json["status"] == "0" and "not done yet" in refused.text
    assert served.json["status"] == "1"


def test_txlistinternal_is_the_nodes(ask, etherscan_truth):
    draw = random.Random(18)
    transfers = etherscan_truth.truth.internal_transfers
    [(busiest, most)] = Counter(t["fromAddress"] for t in transfers).most_common(1)
    assert most > 128
    for _ in range(ROUNDS):
        chosen, query = draw.choice(transfers), window(draw, etherscan_truth.head)
        for form in ({"address": busiest}, {"address": chosen["toAddress"]}, {}):
            rows = etherscan_truth.internal_transfers(**form)
            shown = ask.rows("account", "txlistinternal", **form, **query)
            require_page(shown, rows, query)
        sent = chosen["transactionHash"]  # which is in one block
        rows = etherscan_truth.internal_transfers(transaction=sent)
        query = {name: value for name, value in query.items() if not name.endswith("block")}
        shown = ask.rows("account", "txlistinternal", txhash=sent, **query)
        require_page(shown, rows, query)


@pytest.mark.parametrize("action", TRANSFERS)
def test_token_transfers_are_the_nodes(ask, etherscan_truth, action):
    kind = TRANSFERS[action]
    draw = random.Random(17)
    transfers = [t for t in etherscan_truth.truth.token_transfers if t["tokenType"] == kind]
    for _ in range(ROUNDS):
        chosen = draw.choice(transfers)
        parties = {
            "address": draw.choice([chosen["fromAddress"], chosen["toAddress"]]),
            "contractaddress": chosen["tokenAddress"],
        }
        given = draw.choice([["address"], ["contractaddress"], ["address", "contractaddress"]])
        query = {**window(draw, etherscan_truth.head), **{name: parties[name] for name in given}}
        rows = etherscan_truth.transfers(kind, query.get("address"), query.get("contractaddress"))
        require_page(ask.rows("account", action, **query), rows, query)


def test_logs_of_an_address_and_by_topics_are_the_nodes(ask, etherscan_truth):
    draw = random.Random(19)
    with_topics = [log for log in etherscan_truth.logs if log["topics"]]
    for _ in range(ROUNDS):
        chosen = draw.choice(with_topics)
        count = len(chosen["topics"])
        topics = {
            f"topic{n}": chosen["topics"][n]
            for n in draw.sample(range(count), draw.randint(1, count))
        }
        for query in (topics, {"address": chosen["address"]}):
            logs = [log for log in etherscan_truth.logs if query.items() <= keys_of(log).items()]
            check_logs(ask, etherscan_truth, draw, logs, query)


def keys_of(log):
    topics = {f"topic{n}": topic for n, topic in enumerate(log["topics"])}
    return {"address": log["address"], **topics}


def test_topics_joined_by_or(ask, etherscan_truth):
    draw = random.Random(20)
    long = [log for log in etherscan_truth.logs if len(log["topics"]) >= 3]
    for _ in range(ROUNDS):
        one, other, third = (draw.choice(long)["topics"][index] for index in (0, 1, 2))

        def has(log, index, topic):
            return len(log["topics"]) > index and bool(log["topics"][index] == topic)

        either = {"topic0": one, "topic1": other, "topic0_1_opr": "or"}
        both_after = {**either, "topic2": third, "topic1_2_opr": "and"}
        logs = [log for log in etherscan_truth.logs if has(log, 0, one) or has(log, 1, other)]
        check_logs(ask, etherscan_truth, draw, logs, either)
        logs = [log for log in logs if has(log, 2, third)]
        check_logs(ask, etherscan_truth, draw, logs, both_after)


def check_logs(ask, truth, draw, logs, query):
    first, last = sorted(draw.sample(range(truth.head + 3), 2))
    first = draw.choice([first, 0])
    size, page = draw.choice([1, 5, 100, 1000]), draw.choice([1, 1, 2, 3])
    rows = ask.rows(
        "logs",
        "getLogs",
        **query,
        fromBlock=first or "earliest",
        toBlock=draw.choice([last, last, "latest"]) if last >= truth.head else last,
        page=page,
        offset=size,
    )
    matching = [log for log in logs if first <= int(log["blockNumber"], 16) <= last]
    start = (page - 1) * size
    expected = truth.log_rows(matching[start : start + size])
    assert told_apart(rows, expected) == expected, (query, first, last, page)
