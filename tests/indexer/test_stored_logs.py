"""SCAN_LOGS: which logs a database stores, from its first block on."""

import pytest

from scan.ethereum.blocks import EventLog
from scan.indexer.block_rows import load_standard_topics
from tests.support import indexing
from tests.support.database import execute, insert, store_all_logs, wait_for_problem
from tests.support.made_blocks import Move, address


def stored(url):
    return execute(
        url,
        "SELECT block_number, log_index, topic0 FROM logs"
        " LEFT JOIN event_topics USING (topic_id) ORDER BY ordinal",
    )


@pytest.mark.parametrize("mode", ["", "standard", "all"])
def test_what_is_stored(database_url, scenario, mode):
    standard = {"0x" + topic.hex() for topic in load_standard_topics()}
    indexing.Indexing(database_url, scenario.anvil.url, logs=mode).run_until(scenario.anvil.head())
    expected = [
        (log["blockNumber"], log["logIndex"])
        for log in reversed(scenario.truth.logs)
        if mode == "all" or (mode == "standard" and standard & set(log["topics"][:1]))
    ]
    assert [row[:2] for row in stored(database_url)] == expected
    assert bool(expected) == (mode in ("standard", "all"))
    assert execute(database_url, "SELECT stored_logs FROM chain") == [(mode or "none",)]


@pytest.mark.thorough
def test_a_database_keeps_what_it_has_stored_from_its_first_block(database_url, anvil):
    coin = anvil.deploy(anvil.accounts[0], "Coin", "Name", "N", 18)
    anvil.transact(anvil.accounts[0], coin, "mint", anvil.accounts[0], 5)
    anvil.mine()
    indexing.Indexing(database_url, anvil.url, logs="all").run_until(anvil.head())
    indexed = anvil.head()
    anvil.mine()
    with indexing.Indexing(database_url, anvil.url, logs="none"):
        wait_for_problem(database_url, "stores all logs since its first block, but SCAN_LOGS=none")
        assert execute(database_url, "SELECT max(number) FROM blocks") == [(indexed,)]
    indexing.Indexing(database_url, anvil.url).run_until(anvil.head())
    assert len(stored(database_url)) == 1


def test_before_the_first_block_it_may_change(database_url, anvil):
    genesis = anvil.call("eth_getBlockByNumber", "0x0", False)["hash"]
    row = {"chain_id": 31337, "genesis_hash": bytes.fromhex(genesis[2:]), "stored_logs": "none"}
    insert(database_url, "chain", **row)
    indexing.Indexing(database_url, anvil.url, logs="standard").run_until(anvil.head())
    assert execute(database_url, "SELECT stored_logs FROM chain") == [("standard",)]
    assert execute(database_url, "SELECT count(*) > 30 FROM event_topics") == [(True,)]


@pytest.mark.thorough
def test_a_page_of_too_much_data_is_refused_and_one_log_never(database_url, chain):
    store_all_logs(database_url)
    emitter = address("emitter")
    topic = b"\1" * 32
    large = b"\7" * (9 * 1024 * 1024)
    logs = [EventLog(0, index, emitter, (topic,), large) for index in range(2)]
    chain.append([Move(emitter, emitter)], logs)
    client = indexing.client_over(database_url)
    for filters in ({}, {"topic0": "0x" + topic.hex()}):
        answer = client.get("/api/v1/logs", query_string=filters)
        assert (answer.status_code, "limit" in answer.json["error"]) == (503, True)
        answer = client.get("/api/v1/logs", query_string={**filters, "limit": 1, "page": 2})
        [record] = answer.json["logs"]
        assert (record["logIndex"], len(record["data"]), answer.json["total"]) == (
            *(0, 2 + 2 * len(large), 2),
        )
