"""Traces of nodes that lie: what contradicts the transaction or proven balances is refused."""

from collections import namedtuple
from contextlib import contextmanager

import pytest
import rlp
from eth_utils import keccak

from tests.support import anvil, rehashed_chain
from tests.support.chain_forms.encoding import HEADER_FIELDS
from tests.support.faulty_node import FaultyNode, altering, before, refuse_method, replacing
from tests.support.indexing import Indexing
from tests.support.lists import get
from tests.support.scenario.stage import STRANGERS, Stage

COIN = 10**18


# A chain whose last block has a contract that paid 7 wei to somebody.
Paid = namedtuple("Paid", "node purse")


@pytest.fixture(scope="module")
def paid(shared_anvil):
    stage = Stage(shared_anvil)
    purse = stage.deploy("purse", "Purse").address.lower()
    stage.do(1, "purse", "pay", STRANGERS[0], 7, value=100)
    stage.mine()
    return Paid(shared_anvil, purse)


def invented(wei):
    """A call of the contract that nobody made."""

    def lie(frame, purse):
        call = {"type": "CALL", "from": purse, "to": STRANGERS[1], "value": hex(wei)}
        frame["calls"] = [*frame.get("calls", []), {**call, "gas": "0x0", "gasUsed": "0x0"}]

    return lie


def in_traces(paid, lie):
    """Of the block with the payment."""
    last = paid.node.call("eth_getBlockByNumber", "latest", False)["hash"]

    def alter(call, answer):
        if call["method"] == "debug_traceBlockByHash" and call["params"][0] == last:
            for entry in answer["result"]:
                lie(entry["result"], paid.purse)

    return altering(alter)


@contextmanager
def client_behind(paid, url, fault):
    """Of an index that a node with this fault was followed into."""
    with (
        FaultyNode(paid.node.url, fault) as node,
        Indexing(url, node.url, until=paid.node.head()) as indexing,
    ):
        yield indexing.client()


@pytest.mark.parametrize(
    "lie",
    [
        lambda frame, _: frame.update(to=STRANGERS[1]),
        # As geth counts it, whose outermost call has the gas of the whole transaction.
        lambda frame, _: frame.update(gas=hex(anvil.GAS), gasUsed="0x5209"),
        invented(10**6 * COIN),
    ],
    ids=["another recipient", "more gas", "a call that spends what its account does not have"],
)
def test_traces_that_contradict_transactions_or_balances_are_refused(paid, database_url, lie):
    """The block is indexed, and counted as one whose internal transfers are not known."""
    with client_behind(paid, database_url, in_traces(paid, lie)) as client:
        shown = get(client, "/internal-transfers", limit=100)
    assert (shown["internalTransfers"], shown["untracedBlocks"]) == ([], 1)


@pytest.mark.thorough
def test_another_node_is_asked_for_traces_that_are_refused(paid, database_url):
    with FaultyNode(paid.node.url, in_traces(paid, invented(1_000_000 * COIN))) as node:
        urls = f"{node.url},{paid.node.url}"
        with Indexing(database_url, urls, until=paid.node.head()) as indexing:
            shown = get(indexing.client(), "/internal-transfers", limit=100)
    [payment] = shown["internalTransfers"]
    assert (payment["value"], payment["proven"], shown["untracedBlocks"]) == ("7", False, 0)


@pytest.mark.thorough
@pytest.mark.parametrize(("wei", "refused"), [(1_000_000 * COIN, "eth_getProof"), (5, "no method")])
def test_what_no_proof_contradicts_is_shown_as_the_node_s(paid, database_url, wei, refused):
    """Where the node offers no proofs, and where an account has as much as the node says."""
    lies = before(in_traces(paid, invented(wei)), refuse_method(refused))
    with client_behind(paid, database_url, lies) as client:
        records = get(client, "/internal-transfers", limit=100)["internalTransfers"]
        assert [record["proven"] for record in records] == [False, False]
        rows = client.get(f"/api/v1/addresses/{STRANGERS[1]}/history").json["history"]
        inside = [row["proven"] for row in rows if row["type"] == "internal_transfer"]
        assert inside == [False]
        page = client.get("/internal-transfers").text
        assert page.count("without proof: internal transfers") == 1


def with_access_list(paid, lie):
    """A chain that has access lists, and no logs of coin: beside false traces of its last block,
    with the payment, that block's list, by execution-apis' rules: what accounts have after it."""
    sent = paid.node.call("eth_getBlockByNumber", "latest", True)["transactions"][0]
    listed = []
    for address in sorted({paid.purse, STRANGERS[0].lower(), sent["from"]}):
        wei = int(paid.node.call("eth_getBalance", address, "latest"), 16)
        listed.append([bytes.fromhex(address[2:]), [], [], [[1, wei]], [], []])
    raw, head = rlp.encode(listed), hex(paid.node.head())

    def alter(header):
        own = raw if header["number"] == head else rlp.encode([])
        header |= {"blockAccessListHash": "0x" + keccak(own).hex(), "slotNumber": "0x1"}

    fields = (*HEADER_FIELDS, "blockAccessListHash", "slotNumber")
    chain = rehashed_chain.RehashedChain(paid.node, alter, fields)
    with_list = replacing("debug_getRawBlockAccessList", "0x" + raw.hex())
    return before(chain, before(in_traces(paid, lie), with_list))


@pytest.mark.thorough
def test_an_access_list_contradicts_transfers_that_no_balance_shows(paid, database_url):
    """5 wei, which the account that pays them has."""
    lies = with_access_list(paid, invented(5))
    with client_behind(paid, database_url, lies) as client:
        [sent] = client.get(f"/api/v1/blocks/{paid.node.head()}/transactions").json["transactions"]
        answer = client.get(f"/api/v1/transactions/{sent['hash']}/internal")
    assert get(client, "/internal-transfers", limit=100)["internalTransfers"] == []
    assert answer.status_code == 404 and "indexed without traces" in answer.json["error"]


@pytest.mark.thorough
def test_honest_traces_agree_with_the_access_list(paid, database_url):
    honest = with_access_list(paid, lambda *_: None)
    with client_behind(paid, database_url, honest) as client:
        shown = get(client, "/internal-transfers", limit=100)
    [payment] = shown["internalTransfers"]
    assert (payment["value"], shown["untracedBlocks"]) == ("7", 0)
