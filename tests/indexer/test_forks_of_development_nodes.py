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
def test_an_empty_index_follows_a_fork_that_moves(forked, places):
    with following(forked, places) as (world, node):
        serving.wait_until(lambda: world.get("/readyz")["forkBlock"] == FORKED_AT)
        for block in (200, 280):
            node.call("anvil_reset", {"forking": {"jsonRpcUrl": forked.url, "blockNumber": block}})
            world.indexing.look()
            serving.wait_until(lambda block=block: world.get("/readyz")["forkBlock"] == block)
            assert world.get("/readyz")["firstBlock"] == block + 1
            assert first_blocks(world) == [(None, None)]


@pytest.mark.thorough
def test_a_setting_decides_where_a_fork_begins(forked, places):
    with following(forked, places, start_block=249) as (world, node):
        node.mine()
        world.read()
        assert first_blocks(world) == [(249, FORKED_AT + 1)]
        assert world.get("/readyz")["forkBlock"] == FORKED_AT


@pytest.mark.thorough
def test_a_fork_and_its_chain_are_no_one_index(forked, places):
    """Both have the same id and genesis block; the indexer says so and writes nothing."""
    Indexing(places[0], forked.url, start_block=299).run_until(300)
    with following(forked, places) as (world, _):
        problem = "a development node's fork of chain 1 "
        serving.wait_until(lambda: problem in str(world.get("/readyz")["problem"]))
        assert first_blocks(world) == [(299, 300)]


ODD = ["x", -1, 2**70, True, [5], {"a": 1}, 1.5, "0x"]


@pytest.mark.parametrize(
    "answer", [10**6, *(pytest.param(a, marks=pytest.mark.thorough) for a in ODD)]
)
def test_an_odd_forked_block_is_no_start(answer, anvil, places):
    """The index says what is wrong, and begins once the node is right again."""
    anvil.mine(2)
    odd = faulty_node.replacing(
        lambda call: call["method"] == "hardhat_metadata",
        {"instanceId": "0x1", "forkedNetwork": {"forkBlockNumber": answer}},
    )
    with (
        faulty_node.FaultyNode(anvil.url, fault=odd) as node,
        World(anvil, places, node.url) as world,
    ):
        world.begin()
        problem = "as the block that it forks"
        serving.wait_until(lambda: problem in str(world.get("/readyz")["problem"]))
        assert first_blocks(world) == [(None, None)]
        node.fault = None
        world.read()
        assert first_blocks(world) == [(0, 2)]


SENDER, NOBODY, CODED, SEEN = (f"0x{40 * digit}" for digit in "7653")


@pytest.mark.parametrize(
    "chain_id", ["1", *(pytest.param(i, marks=pytest.mark.thorough) for i in ("8453", "31337"))]
)
def test_state_that_changes_without_a_block_is_shown_at_once(chain_id, forked, places):
    """And blocks of a fork with another chain's id, such as Base's, have their node's rules."""
    with following(forked, places, "--chain-id", chain_id) as (world, node):
        node.impersonate(SENDER)
        hash_ = node.send(SENDER, node.accounts[0], value=5)
        node.mine()
        world.indexing.wait_for(FORKED_AT + 1)
        world.serve(development_node="auto")
        record = world.get(f"/api/v1/transactions/{hash_}")
        assert record["fromAddress"] == SENDER and "fromAddress" in record["unproven"]
        for address in (SENDER, NOBODY):
            path = f"/api/v1/addresses/{address}"
            assert world.get(path)["isContract"] is False
            node.call("anvil_setBalance", address, hex(123))
            assert world.get(path)["balance"] == "123"
            page = world.get(f"/address/{address}")
            assert '<data value="123">' in page
            node.call("anvil_setCode", address, "0x6001600055")
            assert world.get(path)["isContract"] is True


@pytest.mark.thorough
def test_reverted_blocks_are_gone_and_state_is_the_older_one(forked, places):
    with following(forked, places) as (world, node):
        node.mine()
        snapshot = node.snapshot()
        hash_ = node.send(node.accounts[0], NOBODY, value=5)
        node.mine(2)
        world.read()
        world.serve(development_node="auto")
        assert world.get(f"/api/v1/addresses/{NOBODY}")["balance"] == "5"
        node.revert(snapshot)
        world.indexing.wait_for(FORKED_AT + 1)
        assert world.client.get(f"/api/v1/transactions/{hash_}").status_code == 404
        assert world.get(f"/api/v1/addresses/{NOBODY}")["balance"] == "0"


def slot_of(n, *key):
    """The slot of the contract's n-th variable, or of a mapping's key: its type and itself."""
    if not key:
        return f"0x{n:064x}"
    return f"0x{keccak(encode([key[0], 'uint256'], [key[1], n])).hex()}"


def variable_with(node, contract, value, *key):
    """The number of the variable that has a value."""
    return next(
        n
        for n in range(20)
        if int(node.call("eth_getStorageAt", contract.address, slot_of(n, *key), "latest"), 16)
        == value
    )


def test_a_token_s_balance_that_changes_in_storage_is_shown_at_once(forked, places):
    """anvil_setStorageAt, without a transfer: of one who has some, of an account of the node that
    no block names, and of an address that nothing names, which is listed once its own page is
    shown; and of the supply."""
    with following(forked, places, "--chain-id", "31337", development_node="auto") as (world, node):
        two, *_, last = node.accounts[1:]
        coin = world.deploy("Coin", "New", "NEW", 18)
        world.do(coin, "mint", two, 7)
        world.read()

        def store(value, n, *key):
            value = f"0x{value:064x}"
            node.call("anvil_setStorageAt", coin.address, slot_of(n, *key), value)

        def records(path, key):
            answer = world.get(f"/api/v1/{path}")
            assert {"total", key} <= {*answer["unproven"]} and answer["total"] == len(answer[key])
            for record in answer[key]:
                assert "balance" in record["unproven"] and record["balanceBlock"] == node.head()
            return answer[key]

        def balances_of(address):
            return [r["balance"] for r in records(f"addresses/{address}/tokens", "tokens")]

        def holders():
            rows = records(f"tokens/{coin.address}/holders", "holders")
            return [(record["address"], record["balance"]) for record in rows]

        assert balances_of(two) == ["7"] and holders() == [(two.lower(), "7")]
        assert balances_of(last) == balances_of(NOBODY) == []
        balances = variable_with(node, coin, 7, "address", two)
        for holder, value in ((two, 5), (last, 9), (NOBODY, 6)):
            store(value, balances, "address", holder)
        assert holders() == [(last.lower(), "9"), (two.lower(), "5")]
        for holder, value in ((two, 5), (last, 9), (NOBODY, 6)):
            assert balances_of(holder) == [str(value)]
        assert holders() == [(last.lower(), "9"), (NOBODY, "6"), (two.lower(), "5")]
        store(99, variable_with(node, coin, 7))
        [listed] = world.get("/api/v1/tokens")["tokens"]
        token = world.get(f"/api/v1/tokens/{coin.address}")
        for record in (listed, token):
            assert (record["totalSupply"], record["supplyBlock"]) == ("99", node.head())
        assert token["holderCount"] == 3
        page = world.get(f"/token/{coin.address}?tab=holders")
        assert 'value="99"' in page and "0.000000000000000099" in page
        world.do(coin, "mint", NOBODY, 1)
        world.read()
        assert [balance for _, balance in holders()] == ["9", "7", "5"]


def test_an_item_s_owner_that_changes_in_storage_is_shown_at_once(forked, places):
    with following(forked, places, development_node="auto") as (world, node):
        one, two = world.me, world.you
        items = world.deploy("Collectible", "Items", "ITM")
        world.do(items, "mint", one, 1)
        world.read()

        def owners():
            [listed] = world.get(f"/api/v1/tokens/{items.address}/items")["items"]
            item = world.get(f"/api/v1/tokens/{items.address}/items/1")
            return {listed["owner"], item["owner"], item["owners"][0]["address"]}

        assert owners() == {one.lower()}
        owned = slot_of(variable_with(node, items, int(one, 16), "uint256", 1), "uint256", 1)
        node.call("anvil_setStorageAt", items.address, owned, f"0x{int(two, 16):064x}")
        assert owners() == {two.lower()}


def test_before_its_own_blocks_a_fork_has_the_state_of_the_block_that_it_forks(forked, places):
    """And what the node changes of that; tokens by their own answers, and those alone."""
    with following(forked, places, development_node="auto") as (world, node):
        coin, holder = forked.coin.address, world.you
        serving.wait_until(lambda: world.get("/readyz")["forkBlock"] == FORKED_AT)
        for value in (5, 123):
            node.call("anvil_setBalance", NOBODY, hex(value))
            account = world.get(f"/api/v1/addresses/{NOBODY}")
            assert (account["balance"], account["balanceBlock"]) == (str(value), FORKED_AT)
        assert '<data value="123">' in world.get(f"/address/{NOBODY}")
        token = world.get(f"/api/v1/tokens/{coin}")
        assert (token["name"], token["symbol"], token["totalSupply"]) == ("Old", "OLD", "70")
        assert (token["readBlock"], token["holderCount"]) == (FORKED_AT, 1)
        [held] = world.get(f"/api/v1/tokens/{coin}/holders")["holders"]
        assert (held["address"], held["balance"]) == (holder.lower(), "70")
        for path in (f"tokens/{coin}/transfers", "tokens", "blocks"):
            assert world.get(f"/api/v1/{path}")["total"] == 0
        assert "OLD" in world.get(f"/token/{coin}")
        query = f"action=balance&module=account&address={NOBODY}"
        assert world.get(f"/api?{query}")["result"] == "123"
        for address in (NOBODY, holder, node.url[-5:].zfill(40)):
            missing = world.client.get(f"/api/v1/tokens/0x{address[-40:]}")
            assert missing.status_code == 404
    with Indexing(world.url, node.url):  # which is away
        assert world.client.get(f"/api/v1/addresses/{NOBODY}").status_code == 503


def test_a_token_older_than_the_fork_is_shown_once_it_is_called(forked, places):
    """Without an event of its own since the fork; also anew, after the block is taken back."""
    with following(forked, places, development_node="auto") as (world, node):
        one, two, three = node.accounts[:3]
        coin = forked.coin
        node.mine()
        snapshot, path = node.snapshot(), f"/api/v1/tokens/{coin.address}"
        for _ in range(2):
            called = node.transact(three, coin, "balanceOf", two)
            failed = node.transact(three, coin, "transfer", one, 5)
            node.mine()
            world.read()
            assert world.get(path)["symbol"] == "OLD"  # at first sight, by its own answers
            serving.wait_until(lambda: world.get("/api/v1/tokens")["total"] == 1)
            world.read()
            token = world.get(path)
            assert (token["name"], token["symbol"], token["decimals"]) == ("Old", "OLD", 18)
            assert (token["totalSupply"], token["holderCount"]) == ("70", 1)
            assert (token["supplyBlock"], token["eventsConsistent"]) == (node.head(), True)
            assert [t["symbol"] for t in world.get("/api/v1/tokens")["tokens"]] == ["OLD"]
            [match] = world.get("/api/v1/search?q=old")["results"]
            assert (match["type"], match["value"]) == ("token", coin.address)
            [holder] = world.get(f"{path}/holders")["holders"]
            assert (holder["address"], holder["balance"]) == (two.lower(), "70")
            summary = world.get(f"/api/v1/transactions/{called}")["summary"]["text"]
            assert summary.startswith("Called balanceOf of “Old”")
            assert "OLD</" in world.get(f"/tx/{failed}")  # an amount of its error
            assert "Old" in world.get(f"/address/{coin.address}")
            node.revert(snapshot)
            world.read()
            assert world.get("/api/v1/tokens")["tokens"] == []
            snapshot = node.snapshot()
        hash_ = node.transact(two, coin, "transfer", one, 5)
        node.mine()
        world.read()
        holders = world.get(f"{path}/holders")["holders"]
        assert [h["balance"] for h in holders] == ["65", "5"]
        assert world.get(path)["transferCount"] == 1
        summary = world.get(f"/api/v1/transactions/{hash_}")["summary"]["text"]
        assert summary.startswith("Sent ")


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


OWN_IDS = ["777", *(pytest.param(i, marks=pytest.mark.thorough) for i in ("1", "10", "42161"))]


@pytest.mark.parametrize("chain_id", OWN_IDS)
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


OF_PROVIDERS = [{}, {"status": "ok"}, {"forkedNetwork": None}, None, "0x", [], True]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"web3_clientVersion": "Ganache/v7.9.2/EthereumJS TestRPC/v7.9.2/ethereum-js"}, True),
        ({"web3_clientVersion": "anvil/v1.4.0"}, True),
        ({"web3_clientVersion": "Geth/anvil-ganache/v1.16.7/linux-amd64/go1.24"}, False),
        *(({"hardhat_metadata": answer}, False) for answer in OF_PROVIDERS),
        *(({"anvil_nodeInfo": answer}, False) for answer in OF_PROVIDERS),
    ],
)
def test_a_node_is_for_development_as_its_program_says(answers, expected, anvil):
    """No other one, under the chain id of such nodes either, nor whose provider answers methods
    that it does not know."""

    def alter(call, answer):
        if call["method"] in answers:
            answer.update(result=answers[call["method"]])
        elif call["method"] in faulty_node.OF_DEVELOPMENT:
            answer.update(error={"code": -32601, "message": "method not found"})
            del answer["result"]

    with faulty_node.FaultyNode(anvil.url, fault=faulty_node.altering(alter)) as node:
        kind = development_nodes.kind_of(Client([node.url]))
        assert kind == development_nodes.NodeKind(expected)


@pytest.mark.thorough
def test_a_development_node_is_one_under_any_chain_s_id(places):
    """What it changes without a block is shown at once, and blocks are taken back beyond
    SCAN_FINALITY."""
    with Anvil("--chain-id", "4242") as node, World(node, places, finality=2) as world:
        world.serve(development_node="auto")
        coin = world.deploy("Coin", "New", "NEW", 18)
        snapshot = node.snapshot()
        node.mine(6)
        world.read()
        path = f"/api/v1/addresses/{NOBODY}"
        for value in (123, 456):
            node.call("anvil_setBalance", NOBODY, hex(value))
            assert world.get(path)["balance"] == str(value)
        indexed = node.call("eth_getCode", coin.address, "latest")
        for code, message in (
            (indexed, "is not verified"),
            ("0x6001600055", "another code"),
            ("0x", "No contract is indexed"),
            (indexed, "is not verified"),
        ):
            node.call("anvil_setCode", coin.address, code)
            assert message in world.get(f"/api/v1/contracts/{coin.address}")["error"]
            record = world.get(f"/api/v1/addresses/{coin.address}")
            assert record["isContract"] is (code != "0x")
        node.revert(snapshot)
        world.read()
