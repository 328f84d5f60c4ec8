"""A development node that forks another chain: `anvil --fork-url`, and what it is reset to."""

from contextlib import contextmanager

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.ethereum import development_nodes
from scan.ethereum.client import Node as Client
from scan.indexer import contract_inspection
from tests.support import faulty_node, serving
from tests.support.anvil import Anvil
from tests.support.auditing import EXACT
from tests.support.indexing import Indexing
from tests.support.world import World

FORKED_AT = 250


@pytest.fixture(scope="module")
def forked():
    """The node of a chain with 300 blocks, which others fork."""
    with Anvil("--chain-id", "1") as node:
        coin = node.deploy(node.accounts[0], "Coin", "Old", "OLD", 18)
        node.transact(node.accounts[0], coin, "mint", node.accounts[1], 70)
        node.mine()
        node.call("anvil_mine", hex(298), hex(12))
        node.coin = coin
        yield node


@contextmanager
def following(forked, places, *options, **settings):
    """A fork of it, and the index of that."""
    fork = ("--fork-url", forked.url, "--fork-block-number", str(FORKED_AT))
    with Anvil(*fork, *options) as node, World(node, places, **settings) as world:
        world.begin()
        yield world, node


def first_blocks(world):
    return world.sql("SELECT min(number), max(number) FROM blocks")


def test_the_index_begins_after_the_forked_block(forked, places):
    with following(forked, places) as (world, _):
        hash_ = world.pay(7)
        world.read()
        assert first_blocks(world) == [(FORKED_AT + 1, FORKED_AT + 1)]
        status = world.get("/readyz")
        assert (status["firstBlock"], status["forkBlock"]) == (FORKED_AT + 1, FORKED_AT)
        assert status["problem"] is None and status["unprovenBlocks"] == 0
        assert world.get(f"/api/v1/transactions/{hash_}")["value"] == "7"
        older = world.client.get(f"/api/v1/blocks/{FORKED_AT}")
        assert f"The index begins at block {FORKED_AT + 1}." in older.text
        assert "Forked at block" in world.get("/status")


def test_a_reset_to_another_fork_begins_anew_after_that(forked, places):
    """Whole blocks, too, whose partitions begin with the first block."""
    with following(forked, places) as (world, node):
        for block in (200, 280, FORKED_AT):
            world.pay(5)
            node.mine(2)
            world.read()
            node.call("anvil_reset", {"forking": {"jsonRpcUrl": forked.url, "blockNumber": block}})
            node.mine(2)
            world.indexing.wait_for(block + 2)
            assert first_blocks(world) == [(block + 1, block + 2)]
            assert world.indexing.client().get("/readyz").json["forkBlock"] == block


@pytest.mark.thorough
def test_a_fork_and_its_chain_are_no_one_index(forked, places):
    """Both have the same id and genesis block; the indexer says so and writes nothing."""
    Indexing(places[0], forked.url, start_block=299).run_until(300)
    with following(forked, places) as (world, _):
        problem = "a development node's fork of chain 1 "
        serving.wait_until(lambda: problem in str(world.get("/readyz")["problem"]))
        assert first_blocks(world) == [(299, 300)]


@pytest.mark.parametrize(
    "answer", [10**6, *(pytest.param(a, marks=pytest.mark.thorough) for a in ("x", -1, True))]
)
def test_an_odd_forked_block_is_no_start(answer, anvil, node, places):
    """The index says what is wrong, and begins once the node is right again."""
    anvil.mine(2)
    node.fault = faulty_node.replacing(
        lambda call: call["method"] == "hardhat_metadata",
        {"instanceId": "0x1", "forkedNetwork": {"forkBlockNumber": answer}},
    )
    with World(anvil, places, node.url) as world:
        world.begin()
        problem = "as the block that it forks"
        serving.wait_until(lambda: problem in str(world.get("/readyz")["problem"]))
        assert first_blocks(world) == [(None, None)]
        node.fault = None
        world.read()
        assert first_blocks(world) == [(0, 2)]


SENDER, NOBODY, CODED, SEEN = (f"0x{40 * digit}" for digit in "7653")


def test_state_that_changes_without_a_block_is_shown_at_once(forked, places):
    with following(forked, places, development_node="auto") as (world, node):
        world.pay()
        world.read()
        for address in (SENDER, NOBODY):
            path = f"/api/v1/addresses/{address}"
            assert world.get(path)["isContract"] is False
            node.call("anvil_setBalance", address, hex(123))
            assert world.get(path)["balance"] == "123"
            assert '<data value="123">' in world.get(f"/address/{address}")
            node.call("anvil_setCode", address, "0x6001600055")
            assert world.get(path)["isContract"] is True


def test_a_token_s_balance_that_changes_in_storage_is_shown_at_once(forked, places):
    """anvil_setStorageAt, without a transfer: of one who has some, of an account of the node that
    no block names, and of an address that nothing names, which is listed once its own page is
    shown; and of the supply."""
    with following(forked, places, "--chain-id", "31337", development_node="auto") as (world, node):
        two, *_, last = map(str.lower, node.accounts[1:])
        coin = world.deploy("Coin", "New", "NEW", 18)
        world.do(coin, "mint", two, 7)
        world.read()

        def slot_of(n, *key):
            """The slot of the contract's n-th variable, or of a mapping's key: its type, itself."""
            if not key:
                return f"0x{n:064x}"
            return f"0x{keccak(encode([key[0], 'uint256'], [key[1], n])).hex()}"

        def variable_with(value, *key):
            """The number of the variable that has a value."""
            slots = [slot_of(n, *key) for n in range(20)]
            read = [node.call("eth_getStorageAt", coin.address, slot, "latest") for slot in slots]
            return [int(word, 16) for word in read].index(value)

        def store(value, n, *key):
            value = f"0x{value:064x}"
            node.call("anvil_setStorageAt", coin.address, slot_of(n, *key), value)

        def balances_of(address):
            answer = world.get(f"/api/v1/addresses/{address}/tokens")
            assert {"total", "tokens"} <= {*answer["unproven"]}
            return [record["balance"] for record in answer["tokens"]]

        assert (balances_of(two), world.holders(coin)) == (["7"], {two: 7})
        assert balances_of(last) == balances_of(NOBODY) == []
        balances = variable_with(7, "address", two)
        for holder, value in ((two, 5), (last, 9), (NOBODY, 6)):
            store(value, balances, "address", holder)
        assert [*world.holders(coin).items()] == [(last, 9), (two, 5)]
        assert [balances_of(holder) for holder in (two, last, NOBODY)] == [["5"], ["9"], ["6"]]
        answer = world.token(coin, "/holders")
        assert {"total", "holders"} <= {*answer["unproven"]} and answer["total"] == 3
        assert {record["balanceBlock"] for record in answer["holders"]} == {node.head()}
        assert [*world.holders(coin).items()] == [(last, 9), (NOBODY, 6), (two, 5)]
        store(99, variable_with(7))
        [listed], token = world.get("/api/v1/tokens")["tokens"], world.token(coin)
        for record in (listed, token):
            assert (record["totalSupply"], record["supplyBlock"]) == ("99", node.head())
        assert token["holderCount"] == 3
        assert 'value="99"' in world.get(f"/token/{coin.address}?tab=holders")


def test_before_its_own_blocks_a_fork_has_the_state_of_the_block_that_it_forks(forked, places):
    """And what the node changes of that; tokens by their own answers, and those alone."""
    with following(forked, places, development_node="auto") as (world, node):
        coin, holder = forked.coin, world.you.lower()
        serving.wait_until(lambda: world.get("/readyz")["forkBlock"] == FORKED_AT)
        for value in (5, 123):
            node.call("anvil_setBalance", NOBODY, hex(value))
            account = world.get(f"/api/v1/addresses/{NOBODY}")
            assert (account["balance"], account["balanceBlock"]) == (str(value), FORKED_AT)
        token = world.token(coin)
        assert (token["name"], token["symbol"], token["totalSupply"]) == ("Old", "OLD", "70")
        assert (token["readBlock"], token["holderCount"]) == (FORKED_AT, 1)
        assert world.holders(coin) == {holder: 70}
        for path in (f"tokens/{coin.address}/transfers", "tokens", "blocks"):
            assert world.get(f"/api/v1/{path}")["total"] == 0
        assert "OLD" in world.get(f"/token/{coin.address}")
        for address in (NOBODY, holder):
            assert world.client.get(f"/api/v1/tokens/{address}").status_code == 404
    with Indexing(world.url, node.url):  # which is away
        assert world.client.get(f"/api/v1/addresses/{NOBODY}").status_code == 503


def test_a_token_older_than_the_fork_is_shown_once_it_is_called(forked, places):
    """Without an event of its own since the fork; also anew, after the block is taken back."""
    with following(forked, places, development_node="auto") as (world, node):
        one, two, three = map(str.lower, node.accounts[:3])
        coin = forked.coin
        node.mine()
        snapshot = node.snapshot()
        for _ in range(2):
            called = node.transact(three, coin, "balanceOf", two)
            failed = node.transact(three, coin, "transfer", one, 5)
            node.mine()
            world.read()
            assert world.token(coin)["symbol"] == "OLD"  # at first sight, by its own answers
            serving.wait_until(lambda: world.get("/api/v1/tokens")["total"] == 1)
            world.read()
            token = world.token(coin)
            assert (token["name"], token["totalSupply"], token["holderCount"]) == ("Old", "70", 1)
            assert (token["supplyBlock"], token["eventsConsistent"]) == (node.head(), True)
            [match] = world.get("/api/v1/search?q=old")["results"]
            assert (match["type"], match["value"]) == ("token", coin.address)
            assert world.holders(coin) == {two: 70}
            summary = world.transaction(called)["summary"]["text"]
            assert summary.startswith("Called balanceOf of “Old”")
            assert "OLD</" in world.get(f"/tx/{failed}")  # an amount of its error
            node.revert(snapshot)
            world.read()
            assert world.get("/api/v1/tokens")["tokens"] == []
            snapshot = node.snapshot()
        node.transact(two, coin, "transfer", one, 5)
        node.mine()
        world.read()
        assert world.holders(coin) == {two: 65, one: 5}
        assert world.token(coin)["transferCount"] == 1


def test_a_contract_that_no_block_names_is_indexed_by_who_looks_at_it(anvil, places, monkeypatch):
    """As of anvil_setCode, or older than a fork: a token is shown as one. Contracts are looked at
    one after the other."""
    monkeypatch.setattr(contract_inspection, "MOST_EVENTLESS", 1)
    with World(anvil, places, development_node="auto") as world:
        world.begin()
        coin = world.deploy("Coin", "New", "NEW", 6)
        anvil.mine()
        code = anvil.call("eth_getCode", coin.address, "latest")
        for address in (CODED, SEEN):
            anvil.call("anvil_setCode", address, code)
        world.read()
        assert world.client.get(f"/address/{SEEN}").status_code == 200
        for address in (CODED, SEEN):
            path = f"/api/v1/tokens/{address}"
            serving.wait_until(lambda path=path: world.client.get(path).status_code == 200)
            assert world.get(path)["totalSupply"] == "0"


@pytest.mark.parametrize("chain_id", ["777", pytest.param("10", marks=pytest.mark.thorough)])
def test_blocks_of_a_development_node_have_its_rules_under_any_id(chain_id, places):
    """Whatever chain has that id: a sender who did not sign is indexed, and audited so."""
    with Anvil("--chain-id", chain_id) as node, World(node, places, stores_bodies=True) as world:
        node.impersonate(SENDER)
        hash_ = node.send(SENDER, node.accounts[0], value=5)
        node.mine()
        world.read()
        record = world.get(f"/api/v1/transactions/{hash_}")
        assert record["fromAddress"] == SENDER and "fromAddress" in record["unproven"]
        assert world.audit() == EXACT


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"web3_clientVersion": "Ganache/v7.9.2/EthereumJS TestRPC/v7.9.2/ethereum-js"}, True),
        ({"web3_clientVersion": "anvil/v1.4.0"}, True),
        ({"web3_clientVersion": "Geth/anvil-ganache/v1.16.7/linux-amd64/go1.24"}, False),
        *(({"hardhat_metadata": answer}, False) for answer in ({}, {"forkedNetwork": None}, True)),
        *(({"anvil_nodeInfo": answer}, False) for answer in ({"status": "ok"}, None, [])),
    ],
)
def test_a_node_is_for_development_as_its_program_says(answers, expected, node):
    """No other one, under the chain id of such nodes either, nor whose provider answers methods
    that it does not know."""

    def alter(call, answer):
        if call["method"] in answers:
            answer.update(result=answers[call["method"]])
        elif call["method"] in faulty_node.OF_DEVELOPMENT:
            answer.update(error={"code": -32601, "message": "method not found"})
            del answer["result"]

    node.fault = faulty_node.altering(alter)
    kind = development_nodes.kind_of(Client([node.url]))
    assert kind == development_nodes.NodeKind(expected)
