"""Statistics of days, balances and supplies now and after a block, beside /api/v1 and the node."""

import pytest

from scan.extensions.etherscan.tests.conftest import Asking
from tests.support import faulty_node
from tests.support.explorer import behind, with_state_of_a_fork

UNSEEN = "0x" + "9d" * 20


@pytest.mark.parametrize(
    "fault",
    [faulty_node.node_error(-32000, "missing trie node 1234 (path )"), faulty_node.null_results],
    ids=["pruned", "null"],
)
def test_what_the_node_does_not_say_of_the_past_is_an_error_and_not_cached(
    indexed_without_bodies, scenario, fault
):
    person = scenario.stage.people[3]
    token = scenario.stage.contracts["harbor"].address
    calls = [
        ("account", "balance", {"address": person, "tag": "0x5"}),
        ("account", "balancemulti", {"address": person, "tag": "5"}),
        ("account", "tokenbalance", {"contractaddress": token, "address": person}),
        ("contract", "getcontractcreation", {"contractaddresses": token}),
    ]
    with behind(indexed_without_bodies.settings, fault) as (client, node):
        ask = Asking(client)
        for module, action, parameters in calls:
            body = ask(module, action, **parameters)
            assert body["status"] == "0" and not isinstance(body["result"], list), body
        node.fault = None
        for module, action, parameters in calls:
            assert ask.result(module, action, **parameters)


def test_state_of_another_fork_is_refused(postgres, template):
    def act(node, nth):
        one, two, *_ = node.accounts
        coin = node.deploy(one, "Coin", "Gold", "GLD", 18)
        node.transact(one, coin, "mint", two, 1000 * nth)
        node.send(one, UNSEEN, value=nth)
        node.mine(2)
        return coin.address

    with with_state_of_a_fork(postgres, template, act) as (client, indexed, node, coin):
        head, holder, ask = indexed.head(), indexed.accounts[1], Asking(client)
        of_coin = {"contractaddress": coin, "blockno": head - 1}
        requested = [
            ("account", "balance", {"address": UNSEEN, "tag": hex(head)}, "1"),
            ("account", "balancehistory", {"address": UNSEEN, "blockno": head}, "1"),
            ("account", "tokenbalance", {"contractaddress": coin, "address": holder}, "1000"),
            ("stats", "tokensupplyhistory", of_coin, "1000"),
        ]
        for module, action, parameters, _ in requested:
            body = ask(module, action, **parameters)
            assert body["status"] == "0", (action, parameters, body)
        of_block = {"address": UNSEEN, "tag": hex(head)}
        assert "error" in ask("proxy", "eth_getTransactionCount", **of_block)
        node.fault = None
        for module, action, parameters, result in requested:
            assert ask.result(module, action, **parameters) == result
        assert ask("proxy", "eth_getTransactionCount", **of_block)["result"] == "0x0"
        for blockno in (head + 1, 10**30):
            body = ask("account", "balancehistory", address=UNSEEN, blockno=blockno)
            assert body["result"] == "Error! This block is not indexed"
