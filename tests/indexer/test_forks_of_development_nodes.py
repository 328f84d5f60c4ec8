"""A development node that forks another chain: `anvil --fork-url`, and what it is reset to."""

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.ethereum import development_nodes
from scan.ethereum.client import Node as Client
from scan.indexer import contract_inspection
from tests.support import faulty_node, serving
from tests.support.anvil import Anvil
from tests.support.auditing import EXACT, run
from tests.support.database import execute
from tests.support.indexing import Indexing

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


def fork(forked, *options, block=FORKED_AT):
    return Anvil("--fork-url", forked.url, "--fork-block-number", str(block), *options)


def first_blocks(url):
    return execute(url, "SELECT min(number), max(number) FROM blocks")


def test_the_index_begins_after_the_forked_block(forked, database_url):
    with fork(forked) as node:
        one, two = node.accounts[:2]
        with Indexing(database_url, node.url) as indexing:
            hash_ = node.send(one, two, value=7)
            node.mine()
            indexing.wait_for(FORKED_AT + 1)
            client = indexing.client()
            assert first_blocks(database_url) == [(FORKED_AT + 1, FORKED_AT + 1)]
            status = client.get("/readyz").json
            assert (status["firstBlock"], status["forkBlock"]) == (FORKED_AT + 1, FORKED_AT)
            assert status["problem"] is None and status["unprovenBlocks"] == 0
            assert client.get(f"/api/v1/transactions/{hash_}").json["value"] == "7"
            older = client.get(f"/api/v1/blocks/{FORKED_AT}")
            assert f"The index begins at block {FORKED_AT + 1}." in older.text
            page = client.get("/status").text
            assert "Forked at block" in page


def test_a_reset_to_another_fork_begins_anew_after_that(forked, database_url):
    """Whole blocks, too, whose partitions begin with the first block."""
    with fork(forked) as node, Indexing(database_url, node.url) as indexing:
        for block in (200, 280, FORKED_AT):
            node.send(node.accounts[0], node.accounts[1], value=5)
            node.mine(3)
            indexing.wait_for(node.head())
            node.call("anvil_reset", {"forking": {"jsonRpcUrl": forked.url, "blockNumber": block}})
            node.mine(2)
            indexing.wait_for(block + 2)
            assert first_blocks(database_url) == [(block + 1, block + 2)]
            assert indexing.client().get("/readyz").json["forkBlock"] == block


@pytest.mark.thorough
def test_an_empty_index_follows_a_fork_that_moves(forked, database_url):
    with fork(forked) as node, Indexing(database_url, node.url) as indexing:
        client = indexing.client()
        serving.wait_until(lambda: client.get("/readyz").json["forkBlock"] == FORKED_AT)
        for block in (200, 280):
            node.call("anvil_reset", {"forking": {"jsonRpcUrl": forked.url, "blockNumber": block}})
            indexing.look()
            serving.wait_until(lambda block=block: client.get("/readyz").json["forkBlock"] == block)
            assert client.get("/readyz").json["firstBlock"] == block + 1
            assert first_blocks(database_url) == [(None, None)]


@pytest.mark.thorough
def test_a_setting_decides_where_a_fork_begins(forked, database_url):
    with fork(forked) as node:
        node.mine()
        indexing = Indexing(database_url, node.url, start_block=249).run_until(FORKED_AT + 1)
        assert first_blocks(database_url) == [(249, FORKED_AT + 1)]
        assert indexing.client().get("/readyz").json["forkBlock"] == FORKED_AT


@pytest.mark.thorough
def test_a_fork_and_its_chain_are_no_one_index(forked, database_url):
    """Both have the same id and genesis block; the indexer says so and writes nothing."""
    Indexing(database_url, forked.url, start_block=299).run_until(300)
    with fork(forked) as node, Indexing(database_url, node.url) as indexing:
        client = indexing.client()
        serving.wait_until(
            lambda: (
                "a development node's fork of chain 1 "
                in str(client.get("/readyz").json["problem"])
            )
        )
        assert first_blocks(database_url) == [(299, 300)]


ODD = ["x", -1, 2**70, True, [5], {"a": 1}, 1.5, "0x"]


@pytest.mark.parametrize(
    "answer", [10**6, *(pytest.param(a, marks=pytest.mark.thorough) for a in ODD)]
)
def test_an_odd_forked_block_is_no_start(answer, anvil, database_url):
    """The index says what is wrong, and begins once the node is right again."""
    anvil.mine(2)
    odd = faulty_node.replacing(
        lambda call: call["method"] == "hardhat_metadata",
        {"instanceId": "0x1", "forkedNetwork": {"forkBlockNumber": answer}},
    )
    with (
        faulty_node.FaultyNode(anvil.url, fault=odd) as node,
        Indexing(database_url, node.url) as indexing,
    ):
        client, problem = indexing.client(), "as the block that it forks"
        serving.wait_until(lambda: problem in str(client.get("/readyz").json["problem"]))
        assert first_blocks(database_url) == [(None, None)]
        node.fault = None
        indexing.wait_for(2)
        assert first_blocks(database_url) == [(0, 2)]


SENDER, NOBODY, CODED, SEEN = (f"0x{40 * digit}" for digit in "7653")


@pytest.mark.parametrize(
    "chain_id", ["1", *(pytest.param(i, marks=pytest.mark.thorough) for i in ("8453", "31337"))]
)
def test_state_that_changes_without_a_block_is_shown_at_once(chain_id, forked, database_url):
    """And blocks of a fork with another chain's id, such as Base's, have their node's rules."""
    with fork(forked, "--chain-id", chain_id) as node, Indexing(database_url, node.url) as indexing:
        node.impersonate(SENDER)
        hash_ = node.send(SENDER, node.accounts[0], value=5)
        node.mine()
        indexing.wait_for(FORKED_AT + 1)
        client = indexing.client(development_node="auto")
        record = client.get(f"/api/v1/transactions/{hash_}").json
        assert record["fromAddress"] == SENDER and "fromAddress" in record["unproven"]
        for address in (SENDER, NOBODY):
            path = f"/api/v1/addresses/{address}"
            assert client.get(path).json["isContract"] is False
            node.call("anvil_setBalance", address, hex(123))
            assert client.get(path).json["balance"] == "123"
            page = client.get(f"/address/{address}").text
            assert '<data value="123">' in page
            node.call("anvil_setCode", address, "0x6001600055")
            assert client.get(path).json["isContract"] is True


@pytest.mark.thorough
def test_reverted_blocks_are_gone_and_state_is_the_older_one(forked, database_url):
    with fork(forked) as node, Indexing(database_url, node.url) as indexing:
        node.mine()
        snapshot = node.snapshot()
        hash_ = node.send(node.accounts[0], NOBODY, value=5)
        node.mine(2)
        indexing.wait_for(node.head())
        client = indexing.client(development_node="auto")
        assert client.get(f"/api/v1/addresses/{NOBODY}").json["balance"] == "5"
        node.revert(snapshot)
        indexing.wait_for(FORKED_AT + 1)
        assert client.get(f"/api/v1/transactions/{hash_}").status_code == 404
        assert client.get(f"/api/v1/addresses/{NOBODY}").json["balance"] == "0"


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


def test_a_token_s_balance_that_changes_in_storage_is_shown_at_once(forked, database_url):
    """anvil_setStorageAt, without a transfer: of one who has some, of an account of the node that
    no block names, and of an address that nothing names, which is listed once its own page is
    shown; and of the supply."""
    with (
        fork(forked, "--chain-id", "31337") as node,
        Indexing(database_url, node.url, development_node="auto") as indexing,
    ):
        one, two, *_, last = node.accounts
        coin = node.deploy(one, "Coin", "New", "NEW", 18)
        node.transact(one, coin, "mint", two, 7)
        node.mine()
        indexing.wait_for(node.head())
        client = indexing.client()

        def store(value, n, *key):
            value = f"0x{value:064x}"
            node.call("anvil_setStorageAt", coin.address, slot_of(n, *key), value)

        def records(path, key):
            answer = client.get(f"/api/v1/{path}").json
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
        [listed] = client.get("/api/v1/tokens").json["tokens"]
        token = client.get(f"/api/v1/tokens/{coin.address}").json
        for record in (listed, token):
            assert (record["totalSupply"], record["supplyBlock"]) == ("99", node.head())
        assert token["holderCount"] == 3
        page = client.get(f"/token/{coin.address}?tab=holders").text
        assert '<data value="99">' in page and "000000009" in page
        node.transact(one, coin, "mint", NOBODY, 1)
        node.mine()
        indexing.wait_for(node.head())
        assert [balance for _, balance in holders()] == ["9", "7", "5"]


def test_an_item_s_owner_that_changes_in_storage_is_shown_at_once(forked, database_url):
    with (
        fork(forked) as node,
        Indexing(database_url, node.url, development_node="auto") as indexing,
    ):
        one, two = node.accounts[:2]
        items = node.deploy(one, "Collectible", "Items", "ITM")
        node.transact(one, items, "mint", one, 1)
        node.mine()
        indexing.wait_for(node.head())
        client = indexing.client()

        def owners():
            [listed] = client.get(f"/api/v1/tokens/{items.address}/items").json["items"]
            item = client.get(f"/api/v1/tokens/{items.address}/items/1").json
            return {listed["owner"], item["owner"], item["owners"][0]["address"]}

        assert owners() == {one.lower()}
        owned = slot_of(variable_with(node, items, int(one, 16), "uint256", 1), "uint256", 1)
        node.call("anvil_setStorageAt", items.address, owned, f"0x{int(two, 16):064x}")
        assert owners() == {two.lower()}


def test_before_its_own_blocks_a_fork_has_the_state_of_the_block_that_it_forks(
    forked, database_url
):
    """And what the node changes of that; tokens by their own answers, and those alone."""
    with (
        fork(forked) as node,
        Indexing(database_url, node.url, development_node="auto") as indexing,
    ):
        client, coin, holder = indexing.client(), forked.coin.address, node.accounts[1]
        serving.wait_until(lambda: client.get("/readyz").json["forkBlock"] == FORKED_AT)
        for value in (5, 123):
            node.call("anvil_setBalance", NOBODY, hex(value))
            account = client.get(f"/api/v1/addresses/{NOBODY}").json
            assert (account["balance"], account["balanceBlock"]) == (str(value), FORKED_AT)
        assert '<data value="123">' in client.get(f"/address/{NOBODY}").text
        token = client.get(f"/api/v1/tokens/{coin}").json
        assert (token["name"], token["symbol"], token["totalSupply"]) == ("Old", "OLD", "70")
        assert (token["readBlock"], token["holderCount"]) == (FORKED_AT, 1)
        [held] = client.get(f"/api/v1/tokens/{coin}/holders").json["holders"]
        assert (held["address"], held["balance"]) == (holder.lower(), "70")
        for path in (f"tokens/{coin}/transfers", "tokens", "blocks"):
            assert client.get(f"/api/v1/{path}").json["total"] == 0
        assert "OLD" in client.get(f"/token/{coin}").text
        query = f"action=balance&module=account&address={NOBODY}"
        assert client.get(f"/api?{query}").json["result"] == "123"
        for address in (NOBODY, holder, node.url[-5:].zfill(40)):
            missing = client.get(f"/api/v1/tokens/0x{address[-40:]}")
            assert missing.status_code == 404
    with Indexing(database_url, node.url):  # which is away
        assert client.get(f"/api/v1/addresses/{NOBODY}").status_code == 503


def test_a_token_older_than_the_fork_is_shown_once_it_is_called(forked, database_url):
    """Without an event of its own since the fork; also anew, after the block is taken back."""
    with (
        fork(forked) as node,
        Indexing(database_url, node.url, development_node="auto") as indexing,
    ):
        one, two, three = node.accounts[:3]
        coin, client = forked.coin, indexing.client()
        node.mine()
        snapshot, path = node.snapshot(), f"/api/v1/tokens/{coin.address}"
        for _ in range(2):
            called = node.transact(three, coin, "balanceOf", two)
            failed = node.transact(three, coin, "transfer", one, 5)
            node.mine()
            indexing.wait_for(node.head())
            assert client.get(path).json["symbol"] == "OLD"  # at first sight, by its own answers
            serving.wait_until(lambda: client.get("/api/v1/tokens").json["total"] == 1)
            indexing.wait_for(node.head())
            token = client.get(path).json
            assert (token["name"], token["symbol"], token["decimals"]) == ("Old", "OLD", 18)
            assert (token["totalSupply"], token["holderCount"]) == ("70", 1)
            assert (token["supplyBlock"], token["eventsConsistent"]) == (node.head(), True)
            assert [t["symbol"] for t in client.get("/api/v1/tokens").json["tokens"]] == ["OLD"]
            [match] = client.get("/api/v1/search?q=old").json["results"]
            assert (match["type"], match["value"]) == ("token", coin.address)
            [holder] = client.get(f"{path}/holders").json["holders"]
            assert (holder["address"], holder["balance"]) == (two.lower(), "70")
            summary = client.get(f"/api/v1/transactions/{called}").json["summary"]["text"]
            assert summary.startswith("Called balanceOf of “Old”")
            assert "OLD</" in client.get(f"/tx/{failed}").text  # an amount of its error
            assert "Old" in client.get(f"/address/{coin.address}").text
            node.revert(snapshot)
            indexing.wait_for(node.head())
            assert client.get("/api/v1/tokens").json["tokens"] == []
            snapshot = node.snapshot()
        hash_ = node.transact(two, coin, "transfer", one, 5)
        node.mine()
        indexing.wait_for(node.head())
        holders = client.get(f"{path}/holders").json["holders"]
        assert [h["balance"] for h in holders] == ["65", "5"]
        assert client.get(path).json["transferCount"] == 1
        summary = client.get(f"/api/v1/transactions/{hash_}").json["summary"]["text"]
        assert summary.startswith("Sent ")


def test_a_contract_that_no_block_names_is_indexed_by_who_looks_at_it(
    anvil, database_url, monkeypatch
):
    """As of anvil_setCode, or older than a fork: a token is shown as one. Contracts are looked at
    one after the other."""
    monkeypatch.setattr(contract_inspection, "MOST_EVENTLESS", 1)
    with Indexing(database_url, anvil.url, development_node="auto") as indexing:
        one = anvil.accounts[0]
        coin = anvil.deploy(one, "Coin", "New", "NEW", 6)
        anvil.mine()
        code = anvil.call("eth_getCode", coin.address, "latest")
        for address in (CODED, SEEN):
            anvil.call("anvil_setCode", address, code)
        indexing.wait_for(anvil.head())
        client = indexing.client()
        assert client.get(f"/address/{SEEN}").status_code == 200
        for address in (CODED, SEEN):
            path = f"/api/v1/tokens/{address}"
            serving.wait_until(lambda path=path: client.get(path).status_code == 200)
            assert client.get(path).json["totalSupply"] == "0"


OWN_IDS = ["777", *(pytest.param(i, marks=pytest.mark.thorough) for i in ("1", "10", "42161"))]


@pytest.mark.parametrize("chain_id", OWN_IDS)
def test_blocks_of_a_development_node_have_its_rules_under_any_id(chain_id, database_url):
    """Whatever chain has that id: a sender who did not sign is indexed, and audited so."""
    with Anvil("--chain-id", chain_id) as node:
        node.impersonate(SENDER)
        hash_ = node.send(SENDER, node.accounts[0], value=5)
        node.mine()
        indexing = Indexing(database_url, node.url, stores_bodies=True).run_until(1)
        record = indexing.client().get(f"/api/v1/transactions/{hash_}").json
        assert record["fromAddress"] == SENDER and "fromAddress" in record["unproven"]
        assert run(indexing.settings) == EXACT


GANACHE = {"web3_clientVersion": "Ganache/v7.9.2/EthereumJS TestRPC/v7.9.2/ethereum-js"}
OF_PROVIDERS = [{}, {"status": "ok"}, {"forkedNetwork": None}, None, "0x", [], True]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (GANACHE, True),
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
def test_a_development_node_is_one_under_any_chain_s_id(database_url):
    """What it changes without a block is shown at once, and blocks are taken back beyond
    SCAN_FINALITY."""
    with (
        Anvil("--chain-id", "4242") as node,
        Indexing(database_url, node.url, finality=2) as indexing,
    ):
        coin = node.deploy(node.accounts[0], "Coin", "New", "NEW", 18)
        snapshot, head = node.snapshot(), node.head()
        node.mine(6)
        indexing.wait_for(head + 6)
        client = indexing.client(development_node="auto")
        path = f"/api/v1/addresses/{NOBODY}"
        for value in (123, 456):
            node.call("anvil_setBalance", NOBODY, hex(value))
            assert client.get(path).json["balance"] == str(value)
        indexed = node.call("eth_getCode", coin.address, "latest")
        for code, message in (
            (indexed, "is not verified"),
            ("0x6001600055", "another code"),
            ("0x", "No contract is indexed"),
            (indexed, "is not verified"),
        ):
            node.call("anvil_setCode", coin.address, code)
            assert message in client.get(f"/api/v1/contracts/{coin.address}").json["error"]
            record = client.get(f"/api/v1/addresses/{coin.address}").json
            assert record["isContract"] is (code != "0x")
        node.revert(snapshot)
        indexing.wait_for(head)
