"""Which fields of a transaction are read from the node, and which need none."""

from collections import Counter

import pytest

from scan.extensions.etherscan.tests.conftest import Asking
from tests.support import database, faulty_node
from tests.support.indexing import client_over, sources

pytestmark = pytest.mark.thorough


def other(name):
    """Transactions as they are, but for one of their fields."""

    def alter(_, answer):
        for transaction in answer["result"].get("transactions", [answer["result"]]):
            transaction[name] = "0x" + 64 * "b"

    return faulty_node.altering(alter)


WRONG = {
    "null": faulty_node.null_results,
    "object": faulty_node.every_result("{}"),
    "transactions that are text": faulty_node.every_result('{"transactions": ["0x"]}'),
    "other block": other("blockHash"),
    "other transaction": other("hash"),
}


def counted(node):
    """How many calls of each method the node gets from now on."""
    methods = Counter()
    node.fault = faulty_node.altering(lambda call, _: methods.update([call["method"]]))
    return methods


def is_refused(body):
    fields = (body["status"], body["message"])
    return fields == ("0", "NOTOK") and body["result"].startswith("The node did not return")


@pytest.fixture
def busy(truth):
    return max(truth.addresses, key=lambda address: truth.addresses[address]["txCount"])


def test_a_page_that_takes_too_long_says_what_to_request(indexed, busy):
    ask = Asking(client_over(indexed.url))
    sources(ask.client).transaction_contents.read_s = -1.0
    body = ask("account", "txlist", address=busy)
    assert (body["status"], body["message"]) == ("0", "NOTOK")
    assert body["result"].endswith("takes more than -1 s: request fewer at once.")
    assert len(ask.rows("account", "txlist", address=busy, offset=1)) == 1


def test_only_inputs_are_asked_for(ask, indexed_without_bodies, busy, scenario_node):
    stored = ask.rows("account", "txlist", address=busy)
    methods = counted(scenario_node)
    ask = Asking(indexed_without_bodies.client(rpc_urls=(scenario_node.url,)))
    rows = ask.rows("account", "txlist", address=busy)
    assert rows == stored
    # Every few seconds the node is asked for its chain as well.
    of_chain = {"eth_chainId", "eth_getBlockByNumber"}
    assert methods.keys() - of_chain == {"eth_getTransactionByHash"}
    with_input = sum(row["input"] != "0x" for row in rows)
    assert 0 < methods["eth_getTransactionByHash"] <= with_input < len(rows)
    total = methods.total()
    ask.rows("account", "txlist", address=busy, offset=len(rows) - 1)
    assert methods.total() == total  # what was read is kept


def test_whether_a_receipt_has_a_status(ask, clone, indexed_template, busy, scenario_node):
    """Nothing that is stored settles it, but for transactions that failed."""
    url = clone(indexed_template)
    database.execute(
        url,
        "DELETE FROM block_bodies; DELETE FROM bodies_from;"
        " UPDATE blocks SET base_fee_per_gas = NULL; UPDATE transactions"
        " SET type = '', max_fee_per_gas = NULL, max_priority_fee_per_gas = NULL",
    )
    stored = ask.rows("account", "txlist", address=busy)
    methods = counted(scenario_node)
    before_london = Asking(client_over(url, scenario_node.url))
    assert before_london.rows("account", "txlist", address=busy) == stored
    assert methods["eth_getTransactionReceipt"]

    def without_status(call, answer):
        if "Receipt" in call["method"]:
            del answer["result"]["status"]

    scenario_node.fault = faulty_node.altering(without_status)
    rows = Asking(client_over(url, scenario_node.url)).rows("account", "txlist", address=busy)
    assert {row["isError"] for row in rows} == {"0", "1"}
    for row in rows:
        assert row["txreceipt_status"] == {"0": "", "1": "0"}[row["isError"]]
    away = Asking(client_over(url))
    assert is_refused(away("account", "txlist", address=busy))
    assert away.rows("account", "tokentx", address=busy)


@pytest.mark.parametrize("fault", WRONG.values(), ids=WRONG.keys())
def test_what_is_no_transaction_is_refused(indexed_without_bodies, busy, scenario_node, fault):
    scenario_node.fault = fault
    ask = Asking(indexed_without_bodies.client(rpc_urls=(scenario_node.url,)))
    assert is_refused(ask("account", "txlist", address=busy))
