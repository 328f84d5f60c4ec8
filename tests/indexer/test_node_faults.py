"""What a node may do wrong: the reason is told, nothing wrong is written, and it goes on."""

import itertools
import logging
import time
from contextlib import suppress

import pytest

from scan.ethereum import client
from tests.support import database, faulty_node
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing, database_of, status
from tests.support.serving import wait_until
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough


@pytest.mark.usefixtures("short_pauses")
def test_a_fault_is_told_once_and_waited_out(node, anvil, database_url, caplog):
    def pay():
        anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
        anvil.mine()

    pay()
    faults = {
        "rate limit is exceeded (429)": faulty_node.too_many_requests(0),
        "HTTP 500": faulty_node.status(500),
        "cut the connection": faulty_node.cut_connection,
        "not JSON, or is truncated": faulty_node.half_json,
        "not a hex quantity": faulty_node.null_results,
        "neither result nor error": faulty_node.answers_missing,
        "Internal error": faulty_node.node_error(-32603, "Internal error"),
        "does not have the receipts of block": faulty_node.null_receipts,
        "contradicts itself (": faulty_node.foreign_receipts,
        "a block number is beyond 63 bits": faulty_node.replacing(
            "eth_blockNumber", "0x" + 64 * "f"
        ),
        "said � and ?": faulty_node.node_error(-32000, "said \0 and \ud800"),
        "eth_getBlockByNumber does not exist": faulty_node.refuse_method("eth_getBlockByNumber"),
    }
    with Indexing(database_url, node.url, until=1) as indexing, caplog.at_level(logging.WARNING):
        for head, (reason, fault) in enumerate(faults.items(), start=1):
            node.fault = fault
            pay()
            database.wait_for_problem(database_url, reason)
            before = node.requests
            wait_until(lambda least=before + 2: node.requests > least)
            assert status(database_url)["indexedBlock"] == head
            assert sum(reason in record.getMessage() for record in caplog.records) == 1
            node.fault = None
            indexing.wait_for(head + 1)
            wait_until(lambda: status(database_url)["problem"] is None)


@pytest.mark.parametrize(
    "fault",
    [
        faulty_node.limit_batch(7, faulty_node.batch_error),
        faulty_node.limit_batch(7, faulty_node.status(413)),
        faulty_node.limit_batch(7, faulty_node.node_error(-32005, "batch of more than 7 calls")),
        faulty_node.cap_results(9),
    ],
    ids=["one error", "413", "an error in every call", "a result cap"],
)
def test_batches_shrink_to_what_the_node_takes(scenario_node, fault):
    calls = [client.Call("eth_getBlockByNumber", (hex(n), False)) for n in range(60)]
    scenario_node.fault = fault
    answers = client.Node([scenario_node.url]).batch(calls)
    assert scenario_node.requests < 40
    assert [int(block["number"], 16) for block in answers] == list(range(60))


def test_a_slow_node_is_asked_for_less(scenario_node):
    node = client.Node([scenario_node.url], timeout_s=0.2)
    calls = [client.Call("eth_getBlockByNumber", (hex(n), True)) for n in range(40)]
    scenario_node.fault = faulty_node.limit_batch(10, faulty_node.hang(0.5))
    answers = []
    for _ in range(50):  # on a busy machine 0.2 s may pass for other reasons
        with suppress(client.NodeError):
            answers = node.batch(calls)
            break
    assert [int(block["number"], 16) for block in answers] == list(range(40))


def test_a_development_node_is_followed_past_finality(anvil, database_url, postgres, template):
    """Whether it is still behind the index, or beyond it again."""
    anvil.mine(2)
    with Indexing(database_url, anvil.url, until=2, finality=5) as indexing:
        for mined in (0, 20):
            snapshot = anvil.call("evm_snapshot")
            anvil.mine(12)
            indexing.wait_for(14)
            anvil.call("evm_revert", snapshot)
            anvil.call("anvil_setCoinbase", anvil.accounts[3])
            anvil.mine(mined)
            indexing.wait_for(2 + mined)
            assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_a_fork_past_finality_stops_with_advice(database_url):
    """Of a chain of which the node does not say that it is a developer's."""
    fault = faulty_node.no_development
    with Anvil("--chain-id", "7") as anvil, faulty_node.FaultyNode(anvil.url, fault) as node:
        anvil.mine(12)
        with Indexing(database_url, node.url, until=12, finality=5):
            before = digest(database_url)
            anvil.call("anvil_setCoinbase", anvil.accounts[3])
            anvil.reorganise(6)
            database.wait_for_problem(database_url, "raise SCAN_FINALITY")
            assert digest(database_url) == before
        with Indexing(database_url, node.url, finality=6) as indexing:
            newest = anvil.call("eth_getBlockByNumber", "latest", False)["hash"]
            wait_until(lambda: head_hash(database_url) == newest)
            indexing.wait_for(12)


def head_hash(database_url):
    row = database_of(database_url).row("indexer/blocks_get_head")
    return "0x" + bytes(row[1]).hex() if row else ""


def test_a_fork_below_the_first_block_takes_back_all(anvil, database_url, postgres, template):
    anvil.mine(12)
    with Indexing(database_url, anvil.url, until=12, start_block=8) as indexing:
        anvil.call("anvil_setCoinbase", anvil.accounts[3])
        anvil.reorganise(9)
        newest = anvil.call("eth_getBlockByNumber", "latest", False)["hash"]
        wait_until(lambda: head_hash(database_url) == newest)
        indexing.wait_for(12)
    assert anvil.head() == 12
    assert digest(database_url) == fresh_digest(postgres, template, anvil, start_block=8)


@pytest.mark.parametrize("options", [["--chain-id", "97"], ["--gas-limit", "40000000"]])
@pytest.mark.parametrize("blocks", [0, 9])
def test_another_chain_is_refused(node, anvil, database_url, options, blocks):
    anvil.mine(5)
    with Anvil(*options) as other, Indexing(database_url, node.url, until=5) as indexing:
        before = digest(database_url)
        other.mine(blocks)
        node.upstream = other.url
        database.wait_for_problem(database_url, "this database holds chain 31337 with genesis")
        assert digest(database_url) == before
        node.upstream = anvil.url
        anvil.mine()
        indexing.wait_for(6)


def test_a_node_that_goes_back_and_forth_costs_no_loop(
    anvil, node, database_url, postgres, template
):
    with Anvil() as other:
        for one in (anvil, other):
            one.mine(10)
        other.call("anvil_setCoinbase", other.accounts[3])
        for one in (anvil, other):
            one.send(one.accounts[0], one.accounts[1], value=5)
            one.mine(4)
        with Indexing(database_url, node.url, until=14) as indexing:
            turns = itertools.cycle((anvil.url, other.url, other.url))

            def alternate(calls, forward):
                node.upstream = next(turns)
                return faulty_node.Reply(body=forward(calls))

            node.fault = alternate
            time.sleep(4.0)
            assert node.requests < 400
            node.fault, node.upstream = None, other.url
            other.mine()
            indexing.wait_for(15)
        assert digest(database_url) == fresh_digest(postgres, template, other)


def test_the_next_node_serves_while_one_fails(node, anvil, database_url):
    anvil.mine(3)
    node.fault = faulty_node.cut_connection
    with Indexing(database_url, f"{node.url},{anvil.url}") as indexing:
        indexing.wait_for(3)
        before = node.requests
        anvil.mine(3)
        indexing.wait_for(6)
        assert node.requests <= before + 1  # it is left alone
