"""Balances, holdings and calls after an older block, where the node keeps its state."""

from pathlib import Path

from tests.support import lists
from tests.support.anvil import ZERO, Anvil
from tests.support.explorer import behind
from tests.support.faulty_node import FaultyNode, refuse, routed
from tests.support.indexing import Indexing
from tests.support.lists import get
from tests.support.many_functions import verified
from tests.support.scenario.stage import STRANGERS


def test_balances_are_those_of_the_block(scenario, client):
    head = scenario.anvil.head()
    created = scenario.stage.contracts["weth"].address
    for address in (scenario.stage.people[1], STRANGERS[0], created):
        now = get(client, f"/addresses/{address}")
        for number in (0, head // 3, head // 2, head):
            block = scenario.anvil.call("eth_getBlockByNumber", hex(number), False)["hash"]
            detail = get(client, f"/addresses/{address}?block={number}")
            balance = int(scenario.anvil.call("eth_getBalance", address, hex(number)), 16)
            code = scenario.anvil.call("eth_getCode", address, hex(number))
            assert (detail["balance"], detail["balanceBlock"]) == (str(balance), number)
            assert detail["isContract"] is (code != "0x")
            assert detail["txCount"] == now["txCount"]
            assert get(client, f"/addresses/{address}?block={block}") == detail
        assert get(client, f"/addresses/{address}?block=latest") == now


def test_holdings_are_those_after_the_block(scenario, client):
    """Of coins that are honest, what balanceOf() returned then."""
    anvil, head = scenario.anvil, scenario.anvil.head()
    honest = [scenario.stage.contracts[key] for key in ("dollar", "harbor", "gold", "weth")]
    counts = set()
    for address in (scenario.stage.people[1], scenario.stage.people[9], STRANGERS[0]):
        for number in (*range(0, head, 23), head):
            listed = lists.Listed(f"/addresses/{address}/tokens?block={number}", "tokens")
            rows = lists.by_links(client, listed, limit=3)
            holdings = {row["tokenAddress"]: int(row["balance"]) for row in rows}
            at = hex(number)
            created = [c for c in honest if anvil.call("eth_getCode", c.address, at) != "0x"]
            balances = {c.address: anvil.read(c, "balanceOf", address, block=at) for c in created}
            expected = {coin: balance for coin, balance in balances.items() if balance}
            known = holdings.keys() & {coin.address for coin in honest}
            assert {coin: holdings[coin] for coin in known} == expected
            counts.add(len(expected))
        assert rows == lists.by_links(
            client, lists.Listed(f"/addresses/{address}/tokens", "tokens")
        )
    assert min(counts) == 0 and max(counts) > 3
    assert get(client, f"/addresses/{ZERO}/tokens?block={head}")["tokens"] == []


def test_calls_see_the_state_of_the_block(explorer):
    """From before the contract was there, a revert that is none later, and an implied newest."""
    counter = Path(__file__).with_name("Counter.sol").read_text()
    address = verified(explorer, counter, "Counter")
    sender, anvil = explorer.anvil.accounts[0], explorer.anvil
    numbers = [anvil.head()]
    for amount in (4, 7):
        anvil.receipt_of(
            anvil.send(sender, address, data="0x1003e2d2" + f"{amount:064x}", gas=200_000)
        )
        numbers.append(anvil.head())
    explorer.wait_for_block(anvil.head())

    def call(function, block=None):
        return explorer.client.post(
            f"/api/v1/contracts/{address}/call",
            json={"functionName": function},
            query_string={} if block is None else {"block": block},
        )

    assert [call("count", number).json["result"] for number in numbers] == ["0", "4", "11"]
    newest = {"result": "11", "unproven": ["result"]}
    assert call("count").json == call("count", "latest").json == newest
    assert call("fail", numbers[2]).json["result"] == "11"
    reverted = call("fail", numbers[1])
    assert (reverted.status_code, reverted.json["code"]) == (422, "call_reverted")
    assert "too few" in reverted.json["error"]
    assert call("count", numbers[0] - 1).json["code"] == "call_reverted"
    assert call("count", 10**9).status_code == 404
    assert call("count", "soon").json["field"] == "block"
    with FaultyNode(anvil.url) as node:  # which keeps the latest state alone
        node.fault = refuse(
            lambda call: call["method"] == "eth_call" and call["params"][1] != "latest",
            -32000,
            "missing trie node",
        )
        client = explorer.indexing.client(rpc_urls=(node.url,))
        path, body = f"/api/v1/contracts/{address}/call", {"functionName": "count"}
        assert client.post(path, json=body).json["result"] == "11"
        refused = client.post(f"{path}?block={numbers[2]}", json=body).json
        assert refused["code"] == "history_unavailable"


def test_state_of_another_fork_is_neither_shown_nor_kept(anvil, database_url):
    """Of a coin whose events do not add up, supply and holders are the node's answers, too. The
    node is a balancer's, of which another one has the state."""

    def act(node, nth):
        one, two, *_ = node.accounts
        coin = node.deploy(one, "SilentCoin", 1000, False, True)
        for value in (100, 100 * nth):
            node.transact(one, coin, "transfer", two, value)
        node.transact(one, coin, "rebase", 777 * nth)
        node.send(one, STRANGERS[nth], value=7_000_000)
        node.mine(2)
        return coin.address

    coin = act(anvil, 1)
    state = "eth_call eth_getBalance eth_getCode eth_getStorageAt eth_getTransactionCount".split()
    indexing = Indexing(database_url, anvil.url).run_until(anvil.head())
    with (
        Anvil() as fork,
        FaultyNode(fork.url) as other,
        behind(indexing.settings) as (client, node),
    ):
        act(fork, 2)
        node.fault = routed(lambda call: call["method"] in state, other.forward)
        holder, head = anvil.accounts[1], anvil.head()
        paths = [f"/addresses/{STRANGERS[2]}", f"/tokens/{coin}", f"/tokens/{coin}/holders"]
        paths += [f"/addresses/{holder}/tokens", f"/addresses?addresses={STRANGERS[2]}"]
        of_fork = [client.get(f"/api/v1{path}") for path in paths]
        node.fault = None
        stranger, token, holders, holdings, _ = [get(client, path) for path in paths]
    assert (stranger["balance"], stranger["balanceBlock"]) == ("0", head)
    assert token["totalSupply"] == "777000"
    balances = {row["address"]: row["balance"] for row in holders["holders"]}
    assert balances[holder] == holdings["tokens"][0]["balance"] == str(180 * 777)
    for response in of_fork:
        assert response.status_code in (200, 502)
        for wrong in (7_000_000, 1000 * 1554, 270 * 1554):
            assert f'"{wrong}"' not in response.text, response.text


def test_a_node_without_history_is_named(database_url):
    """Not taken for a node that is away; holdings come from the index's own transfers."""
    with Anvil("--prune-history", "3") as node:
        node.send(node.accounts[0], STRANGERS[0], value=1)
        node.mine(40)
        with Indexing(database_url, node.url, until=node.head(), traces="off") as indexing:
            client = indexing.client()
            path = f"/addresses/{node.accounts[0]}"
            for _ in range(2):
                refused = client.get(f"/api/v1{path}?block=3")
                assert (refused.status_code, refused.json["code"]) == (422, "history_unavailable")
                assert "archive node" in refused.json["error"]
            assert get(client, f"{path}/tokens?block=0")["tokens"] == []
            now = get(client, f"{path}?block={node.head()}")
            assert now["balance"] == get(client, path)["balance"]
