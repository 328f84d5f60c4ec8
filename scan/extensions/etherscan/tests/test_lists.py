"""Lists beside the node, row for row: random ranges, pages and orders."""

import random
from collections import Counter

import pytest

from scan.extensions.etherscan import transactions
from scan.queries.reader import ProcessorWait
from tests.support.indexing import sources

TRANSFERS = {"tokentx": "BEP20", "tokennfttx": "BEP721", "token1155tx": "BEP1155"}
ROUNDS = 15
OF_LOG = (
    "address topics data blockNumber blockHash logIndex transactionHash transactionIndex".split()
)


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


def check(ask, action, records, given, query):
    """The whole list has what the chain says, and a page is cut from it."""
    whole = ask.rows("account", action, **given)
    shown = [(row["hash"], row["from"], row["to"] or row["contractAddress"]) for row in whole]
    assert shown == [
        (
            record.get("transactionHash") or record["hash"],
            record["fromAddress"],
            record["toAddress"] or record.get("contractAddress") or "",
        )
        for record in reversed(records)
    ], given
    first, last = query.get("startblock", 0), query.get("endblock", 9999999999)
    matches = [row for row in whole if first <= int(row["blockNumber"]) <= last]
    if query.get("sort") == "desc":
        matches.reverse()
    size = query.get("offset", 10_000)
    start = (max(query.get("page", 1), 1) - 1) * size
    page = ask.rows("account", action, **given, **query)
    assert page == matches[start : start + size], (given, query)


def of(records, address):
    return [r for r in records if address in (r["fromAddress"], r["toAddress"])]


def test_txlist_of_the_busiest_at_every_page(ask, truth):
    """Its list is long enough for checkpoints."""
    busiest = max(truth.addresses, key=lambda address: truth.addresses[address]["txCount"])
    records, given = truth.transactions_of(busiest), {"address": busiest}
    assert len(records) > 128
    draw = random.Random(16)
    for _ in range(ROUNDS):
        check(ask, "txlist", records, given, window(draw, truth.head))
    for sort in ("asc", "desc"):
        for page in range(1, len(records) // 40 + 3):
            query = {"page": page, "offset": 40, "sort": sort, "startblock": 5}
            check(ask, "txlist", records, given, query)


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


def test_txlistinternal_is_the_nodes(ask, truth):
    draw = random.Random(18)
    transfers = truth.internal_transfers
    [(busiest, most)] = Counter(t["fromAddress"] for t in transfers).most_common(1)
    assert most > 128
    for _ in range(ROUNDS):
        chosen, query = draw.choice(transfers), window(draw, truth.head)
        check(ask, "txlistinternal", transfers, {}, query)
        for address in (busiest, chosen["toAddress"]):
            check(ask, "txlistinternal", of(transfers, address), {"address": address}, query)
        sent = chosen["transactionHash"]  # which is in one block
        rows = [transfer for transfer in transfers if transfer["transactionHash"] == sent]
        query = {name: value for name, value in query.items() if not name.endswith("block")}
        check(ask, "txlistinternal", rows, {"txhash": sent}, query)


@pytest.mark.parametrize("action", TRANSFERS)
def test_token_transfers_are_the_nodes(ask, truth, action):
    draw = random.Random(17)
    transfers = [t for t in truth.token_transfers if t["tokenType"] == TRANSFERS[action]]
    for _ in range(ROUNDS):
        chosen, query = draw.choice(transfers), window(draw, truth.head)
        token, party = chosen["tokenAddress"], chosen[draw.choice(["fromAddress", "toAddress"])]
        of_token = [transfer for transfer in transfers if transfer["tokenAddress"] == token]
        for rows, given in (
            (of_token, {"contractaddress": token}),
            (of(transfers, party), {"address": party}),
            (of(of_token, party), {"contractaddress": token, "address": party}),
        ):
            check(ask, action, rows, given, query)


def test_logs_of_an_address_and_by_topics_are_the_nodes(ask, scenario):
    logs = scenario.anvil.call("eth_getLogs", {"fromBlock": "0x0"})
    draw = random.Random(19)
    with_topics = [log for log in logs if log["topics"]]
    for _ in range(ROUNDS):
        chosen = draw.choice(with_topics)
        count = len(chosen["topics"])
        topics = {
            f"topic{n}": chosen["topics"][n]
            for n in draw.sample(range(count), draw.randint(1, count))
        }
        for query in (topics, {"address": chosen["address"]}):
            matching = [log for log in logs if query.items() <= keys_of(log).items()]
            check_logs(ask, draw, matching, query)


def keys_of(log):
    topics = {f"topic{n}": topic for n, topic in enumerate(log["topics"])}
    return {"address": log["address"], **topics}


def test_topics_joined_by_or(ask, scenario):
    logs = scenario.anvil.call("eth_getLogs", {"fromBlock": "0x0"})
    draw = random.Random(20)
    long = [log for log in logs if len(log["topics"]) >= 3]
    for _ in range(ROUNDS):
        topics = [draw.choice(long)["topics"][index] for index in (0, 1, 2)]
        one, other, third = ({(f"topic{n}", topic)} for n, topic in enumerate(topics))
        either = {**dict([*one, *other]), "topic0_1_opr": "or"}
        chosen = [log for log in logs if (one | other) & keys_of(log).items()]
        check_logs(ask, draw, chosen, either)
        chosen = [log for log in chosen if third <= keys_of(log).items()]
        check_logs(ask, draw, chosen, {**either, **dict(third), "topic1_2_opr": "and"})


def check_logs(ask, draw, logs, query):
    head = int(ask("proxy", "eth_blockNumber")["result"], 16)
    first, last = sorted(draw.sample(range(head + 3), 2))
    first = draw.choice([first, 0])
    size, page = draw.choice([1, 5, 100, 1000]), draw.choice([1, 1, 2, 3])
    rows = ask.rows(
        "logs",
        "getLogs",
        **query,
        fromBlock=first or "earliest",
        toBlock=draw.choice([last, last, "latest"]) if last >= head else last,
        page=page,
        offset=size,
    )
    matching = [log for log in logs if first <= int(log["blockNumber"], 16) <= last]
    start = (page - 1) * size
    shown = [{name: log[name] for name in OF_LOG} for log in matching[start : start + size]]
    assert [{name: row[name] for name in OF_LOG} for row in rows] == shown, (query, first, last)
