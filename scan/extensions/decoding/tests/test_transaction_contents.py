"""GET /transactions/:hash: through proxies, of hostile contracts, of nodes that lie or are gone."""

from dataclasses import replace

import pytest
from eth_utils import keccak

from scan.ethereum import request_node, stored_blocks, transaction_reader
from scan.extensions.decoding import decoding
from scan.extensions.decoding import details as transaction_details
from scan.extensions.decoding.decoding import event_of
from scan.extensions.decoding.tests.work import (
    NEXT,
    SLOT,
    STEPS,
    WORK,
    WORKER,
    check_work,
    no_storage,
    proxy_to,
    work,
)
from scan.queries.reader import ProcessorWait
from tests.support import endless_responses, expected, faulty_node, many_functions
from tests.support.anvil import calldata
from tests.support.explorer import behind
from tests.support.indexing import sources
from tests.support.serving import NOWHERE, wait_until

__all__ = ["work"]


def test_a_call_of_a_verified_contract_is_decoded_as_expected(work):
    sent = work.send(work.worker, WORK)
    expected.compare(__file__, work.explorer.client, {"sent": sent})
    record = work.details(sent)
    check_work(record)
    receipt = work.explorer.anvil.call("eth_getTransactionReceipt", sent)
    assert record["input"] == "0x" + WORK.hex()
    for log, given in zip(record["logs"], receipt["logs"], strict=True):
        of_node = (given["address"].lower(), given["topics"], given["data"])
        assert (log["address"], log["topics"], log["data"]) == of_node
        assert log["logIndex"] == int(given["logIndex"], 16)


def test_a_proxy_is_decoded_by_the_implementation_that_it_had(work):
    proxy = proxy_to(work, work.worker)
    before = work.send(proxy, WORK)
    check_work(work.details(before))
    other = many_functions.deploy(work.explorer, NEXT, "Next")
    work.explorer.anvil.call("anvil_setStorageAt", proxy, SLOT, "0x" + other[2:].rjust(64, "0"))
    assert work.details(work.send(proxy, WORK))["method"] is None
    check_work(work.details(before))


@pytest.fixture(scope="module")
def shouted(work):
    """A transaction with 10,000 logs."""
    return work.send(work.worker, calldata("shout(uint256)", 10_000), gas=16_000_000)


def test_many_logs_and_long_calldata_are_given_whole(work, shouted):
    record = work.details(shouted)
    indexes = [log["logIndex"] for log in record["logs"]]
    assert indexes == [*range(10_000)] and record["logCount"] == 10_000
    long = WORK + bytes(128 * 1024 - len(WORK) - 200)
    record = work.details(work.send(work.worker, long, gas=16_000_000))
    assert record["input"] == "0x" + long.hex() and record["method"]["name"] == "work"


def test_interfaces_decode_the_logs_that_they_show(work, shouted, monkeypatch):
    """Of a transaction with 10,000 logs."""
    client = work.explorer.indexing.client()
    decoded = []

    def decode(*given):
        decoded.append(given)
        return event_of(*given)

    monkeypatch.setattr(decoding, "event_of", decode)
    for path, most in {
        f"/tx/{shouted}": 100,
        f"/api/v2/transactions/{shouted}": 0,
        f"/api/v2/transactions/{shouted}/logs": 51,
        f"/api/v2/transactions/{shouted}/logs?index=9000": 51,
        f"/api/v2/transactions/{shouted}/summary": 0,
        f"/api?module=transaction&action=gettxinfo&txhash={shouted}": 0,
        f"/api/v1/transactions/{shouted}": 10_000,
    }.items():
        decoded.clear()
        assert client.get(path).status_code == 200
        assert len(decoded) == most, path


def test_a_client_makes_one_large_answer_at_a_time(work, shouted):
    client = work.explorer.indexing.client()
    sources(client).get(ProcessorWait).seconds = 0.0
    slots = sources(client).processor_places
    paths = [
        f"/api/v1/transactions/{shouted}",
        f"/tx/{shouted}",
        f"/api/v2/transactions/{shouted}/logs",
        f"/api/v1/transactions/{shouted}/trace",
    ]
    with slots.place("127.0.0.1"):
        assert [client.get(path).status_code for path in paths] == [429] * 4
        assert client.get(paths[0], environ_base={"REMOTE_ADDR": "192.0.2.7"}).status_code == 200
        assert client.get("/api/v1/transactions?limit=3").status_code == 200
    assert client.get(paths[1]).status_code == 200
    assert slots.taken == 0


def test_too_many_logs_are_counted_and_left_out(work, monkeypatch):
    sent = work.send(work.worker, calldata("shout(uint256)", 30), gas=1_000_000)
    monkeypatch.setattr(transaction_reader, "MOST_PROVING_BYTES", 8_000)
    for module, name, bound, count in (
        (transaction_details, "MAX_LOGS", 20, 30),
        (transaction_reader, "MOST_BYTES", 8_000, None),
    ):
        monkeypatch.setattr(module, name, bound)
        status, record = work.get(sent, work.explorer.indexing.client())
        assert (status, record["logs"], record["logCount"]) == (200, None, count)
        assert "more logs" in record["unavailable"] and record["method"]["name"] == "shout"
        forget_block(work)  # its receipts are the node's


def test_a_verification_and_an_import_end_what_was_cached(work):
    source = WORKER.replace("contract Worker", "contract Later").replace("work(Step", "toil(Step")
    address = many_functions.deploy(work.explorer, source, "Later")
    selector = keccak(text=f"toil({STEPS},string)")[:4]
    sent = work.send(address, selector + WORK[4:])
    assert work.details(sent)["method"] is None
    work.explorer.execute(
        "INSERT INTO signatures VALUES (%s, %s)", selector, f"toil({STEPS},string)"
    )
    wait_until(lambda: work.details(sent)["method"])  # the change is announced a moment later
    imported = work.details(sent)["method"]
    assert (imported["name"], imported["source"]) == ("toil", "imported")
    assert [argument["name"] for argument in imported["arguments"]] == ["", ""]
    answer = work.explorer.verify(
        address, source, many_functions.VERSION, contractName="Later", optimizationUsed=0
    )
    assert answer.status_code == 200, answer.json
    wait_until(lambda: work.details(sent)["method"]["source"] == "verified")


def forget_block(work):
    """Leave the newest block as it is with SCAN_BODIES=off."""
    newest = "DELETE FROM block_bodies WHERE block_number = (SELECT max(number) FROM blocks)"
    work.explorer.execute(newest)


@pytest.mark.thorough
def test_a_node_that_fails_or_lies_is_not_asked_for_what_is_stored(work, monkeypatch):
    monkeypatch.setattr(request_node, "PAUSE_S", 600.0)
    sent, proxied = work.send(work.worker, WORK), work.send(proxy_to(work, work.worker), WORK)
    with behind(replace(work.explorer.settings, traces="off")) as (client, node):
        node.fault = faulty_node.cut_connection
        status, record = work.get(sent, client)
        assert (status, record["unavailable"]) == (200, None)
        check_work(record)
        assert "not shown" not in client.get(f"/tx/{sent}").text
        assert node.requests == 1  # for the finality
        node.fault = no_storage
        status, record = work.get(proxied, client)
        assert (status, record["input"], record["method"]) == (200, "0x" + WORK.hex(), None)
        assert "implementations" in record["unavailable"] and len(record["logs"]) == 2
        node.fault = None
        check_work(work.get(proxied, client)[1])


MALFORMED = stored_blocks.stored_body([b"\xc0"], [b"\xc0"])  # by its digest it is what was written


@pytest.mark.parametrize(
    "damage",
    [
        "body = substring(body FOR 20)",
        "body = ''",
        f"body = '\\x{MALFORMED.body.hex()}', digest = '\\x{MALFORMED.digest.hex()}'",
    ],
)
def test_a_damaged_block_is_as_one_that_is_not_stored(work, damage):
    sent = work.send(work.worker, WORK)
    indexing = work.explorer.indexing
    last = "WHERE block_number = (SELECT max(number) FROM blocks)"
    work.explorer.sql(f"UPDATE block_bodies SET {damage} {last}")  # noqa: S608
    check_work(work.get(sent, indexing.client())[1])
    status, record = work.get(sent, indexing.client(rpc_urls=(NOWHERE,)))
    assert (status, record["hash"], record["input"]) == (200, sent, None)
    assert record["unavailable"]


@pytest.mark.thorough
def test_a_node_that_fails_or_lies_leaves_what_has_rows(work, monkeypatch):
    monkeypatch.setattr(transaction_details, "TIMEOUT_S", 0.15)
    monkeypatch.setattr(transaction_reader, "proven_block", lambda *_: None)  # by hashes alone

    def field_with(**fields):
        """Another value in what the node gives of a block, a transaction or a receipt."""

        def alter(_, answer):
            if isinstance(answer.get("result"), dict):
                answer["result"].update(fields)

        return faulty_node.altering(alter)

    def log_with(**fields):
        def alter(_, answer):
            if "logs" in (answer.get("result") or ()):
                answer["result"]["logs"][1].update(fields)

        return faulty_node.altering(alter)

    faults = {
        "cut": faulty_node.cut_connection,
        "slow": faulty_node.hang(3.0),
        "null": faulty_node.null_results,
        "endless": endless_responses.endless_body,
        "another block": field_with(blockHash="0x" + 64 * "b"),
        "another transaction": field_with(hash="0x" + 64 * "a", transactionHash="0x" + 64 * "a"),
        "five topics": log_with(topics=["0x" + 64 * "0"] * 5),
        "data that is no hex": log_with(data="0xzz"),
        "an index before the one before": log_with(logIndex="0x0"),
        "a log of another transaction": log_with(transactionHash="0x" + 64 * "a"),
    }
    with behind(work.explorer.settings) as (client, node):
        for name, fault in faults.items():
            node.fault = fault
            sent = work.send(work.worker, WORK)
            forget_block(work)
            status, record = work.get(sent, client)
            assert (status, record["hash"]) == (200, sent), name
            assert (record["input"], record["method"], record["logs"]) == (None, None, None), name
            assert record["unavailable"].endswith(".")
            page = client.get(f"/tx/{sent}")
            assert page.status_code == 200 and "not shown" in page.text, name
            node.fault = None
            check_work(work.get(sent, client)[1])
            node.fault, requests = fault, node.requests  # what was read stays true
            check_work(work.get(sent, client)[1])
            assert node.requests == requests, name
