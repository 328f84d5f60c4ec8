"""Base since Denim, where blocks share a second, and the OP Stack since Lagoon, with refunds."""

import pytest

from scan.ethereum.blocks import MalformedBlock
from scan.extensions.demo.tests.replaying import served
from tests.extensions.without_recipient import require_no_recipient
from tests.support.chain_forms import genesis, new_rollups, op_stack
from tests.support.faulty_node import changing, records_of
from tests.support.indexing import Indexing, source_of

pytestmark = pytest.mark.thorough

POST_EXEC = 0x7D


@pytest.mark.parametrize("said_ms", [0, None], ids=["another time", "no time"])
def test_milliseconds_are_those_of_the_deposit_whatever_the_node_says(said_ms, database_url):
    def say(block):
        block["timestampMs"] = None if said_ms is None else hex(said_ms)

    chain = new_rollups.denim()
    with served(chain) as node:
        node.fault = changing(say, "eth_getBlockByNumber")
        client = Indexing(database_url, node.url).run_until(chain.head).client()
        blocks = [client.get(f"/api/v1/blocks/{n}").json for n in range(chain.head + 1)]
        assert [block.get("chainFields", {}).get("timestampMs") for block in blocks] == [
            None,
            *(str(new_rollups.DENIM_S * 1000 + 200 * n) for n in range(chain.head)),
        ]
        assert str(new_rollups.DENIM_S * 1000 + 800) in client.get("/block/5").text
        second = client.get("/api/v1/blocks/5/transactions").json["transactions"][-2]
        assert (second["toAddress"], second["fee"]) == ("0x" + new_rollups.BASE_TIME.hex(), "0")
        assert client.get("/readyz").json["unproven"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"sender": genesis.ALICE},
        {"to": genesis.BOB},
        {"data": b""},
        {"data": bytes.fromhex("86bdf394") + b"\1" * 32},
    ],
    ids=["a user", "elsewhere", "no call", "more than a second"],
)
def test_another_second_deposit_tells_no_milliseconds(change):
    stack = op_stack.OpStack("isthmus", 8453)
    stack.begin(1)
    call = bytes.fromhex("86bdf394") + (200).to_bytes(32)
    deposit = {"sender": stack.DEPOSITOR, "to": new_rollups.BASE_TIME, "data": call} | change
    stack.deposit(deposit["sender"], deposit["to"], data=deposit["data"])
    stack.chain.mine(timestampMs=7)
    with served(stack.chain) as node:
        [fetched] = source_of(node).blocks(1, 1)
        assert "timestampMs" not in str(fetched.block.chain_fields)


def test_a_transaction_with_refunds_is_nobodys_and_costs_nothing(database_url):
    chain = new_rollups.lagoon()
    with served(chain) as node:
        client = Indexing(database_url, node.url).run_until(chain.head).client()
        rows = client.get(f"/api/v1/transactions?type={POST_EXEC}").json["transactions"]
        assert [row["blockNumber"] for row in rows] == [3, 1]
        for row in rows:
            assert (row["fee"], row["value"], row["toAddress"]) == ("0", "0", None)
            assert row["fromAddress"] == f"0x{0:040x}"
            assert row["chainFields"]["typeName"] == "post_exec"
            assert "post_exec" in client.get(f"/tx/{row['hash']}").text
            require_no_recipient(client, row["hash"])
        refunded = client.get("/api/v1/blocks/1/transactions").json["transactions"][1]
        assert (refunded["gasUsed"], refunded["chainFields"]["opGasRefund"]) == ("19000", "2000")
        assert client.get("/readyz").json["unproven"] == []


ALICE = "0x" + genesis.ALICE.hex()


@pytest.mark.parametrize(
    ("method", "field", "lie"),
    [
        ("eth_getBlockByNumber", "from", ALICE),
        ("eth_getBlockByNumber", "value", "0x7"),
        ("eth_getBlockByNumber", "input", "0xc0"),
        ("eth_getBlockReceipts", "contractAddress", ALICE),
        ("eth_getBlockReceipts", "gasUsed", "0x7"),
        ("eth_getBlockReceipts", "status", "0x0"),
    ],
)
def test_no_false_field_of_a_transaction_with_refunds_is_taken(method, field, lie):
    def alter(result):
        for record in records_of(result)[-1:]:
            record |= {field: lie} if record["type"] == hex(POST_EXEC) else {}

    with served(new_rollups.lagoon()) as node:
        source = source_of(node)
        [honest] = source.blocks(3, 3)
        assert honest.block.unproven is None
        node.fault = changing(alter, method)
        with pytest.raises(MalformedBlock, match="block 3 contradicts itself"):
            source.blocks(3, 3)


def test_fields_that_it_does_not_have_change_nothing():
    def alter(block):
        if block["transactions"]:
            absent = dict.fromkeys(("nonce", "chainId", "gasPrice"), "0xa4ec")
            block["transactions"][-1] |= absent

    with served(new_rollups.lagoon()) as node:
        source = source_of(node)
        [honest] = source.blocks(3, 3)
        node.fault = changing(alter, "eth_getBlockByNumber")
        [actual] = source.blocks(3, 3)
        assert (actual.block.transactions[-1].fee, actual.block.unproven) == (0, None)
        assert actual.block.credits == honest.block.credits
