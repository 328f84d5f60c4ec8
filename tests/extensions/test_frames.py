"""Transactions with frames (EIP-8141, type 0x06), which this version does not know: their bytes
prove what all types have; who paid for another, and what no bytes prove, is said.

The payload and the receipt are those of the EIP, the receipt's JSON that of execution-apis 860.
"""

import json

import pytest
import rlp

from scan.ethereum.blocks import MalformedBlock
from scan.extensions.chains.tests.rollup import history
from scan.extensions.demo.tests.replaying import served
from tests.extensions.without_recipient import require_no_recipient
from tests.support import auditing
from tests.support.chain_forms.made_chain import GWEI, MadeChain, log, word
from tests.support.chain_forms.others import ALICE, BOB, CAROL, GENESIS
from tests.support.faulty_node import Reply, changing, records_of
from tests.support.indexing import Indexing, source_of

pytestmark = pytest.mark.thorough

SEPOLIA, FRAMES, GAS = 11_155_111, 0x06, 60_000
PRICE = 8 * GWEI
SAID = "status and price of transactions of type 6"


class FrameChain(MadeChain):
    def _encoded_receipt(self, receipt):
        if receipt["type"] != FRAMES:
            return super()._encoded_receipt(receipt)
        logs = [[entry["address"], entry["topics"], entry["data"]] for entry in receipt["logs"]]
        frames = [[1, 20_000, []], [1, receipt["gasUsed"] - 20_000, logs]]
        payload = [receipt["cumulativeGasUsed"], receipt["payer"], frames]
        return bytes([FRAMES]) + rlp.encode(payload)


def made():
    """BOB pays in block 1 for ALICE, and in block 2 ALICE pays herself, beside a usual one."""
    chain = FrameChain(SEPOLIA, GENESIS)
    for number, payer in ((1, BOB), (2, ALICE)):
        chain.pay(CAROL if number > 1 else BOB, ALICE, 10**17 + number)
        chain.move(payer, None, PRICE * GAS)
        chain.move(None, chain.miner, GWEI * GAS)
        chain.move(ALICE, CAROL, 10**18)
        nonce = chain.next_nonce(ALICE)
        frames = [[1, 3, ALICE, [20_000, 0], 0, b"check"], [2, 0, CAROL, [40_000, 0], 10**18, b""]]
        signatures = [[0, ALICE, b"", b"s" * 65]]
        names = ("mode", "flags", "target", "limits", "value", "data")
        frame = {"type": "CALL", "from": ALICE, "to": CAROL, "value": 10**18, "input": b""}
        frame |= {"gas": 40_000, "gasUsed": 30_000, "calls": []}
        chain.add(
            {"type": FRAMES, "from": ALICE, "to": None, "nonce": nonce, "gas": GAS + 12_000}
            | {"chainId": SEPOLIA, "maxFeePerGas": 2 * PRICE, "maxPriorityFeePerGas": GWEI}
            | {"frames": [dict(zip(names, frame, strict=True)) for frame in frames]},
            {"gasUsed": GAS, "effectiveGasPrice": PRICE, "payer": payer}
            | {"frameReceipts": [{"status": 1, "gasUsed": 20_000, "logs": []}]}
            | {"logs": [log(CAROL, word("an event"))]},
            fee=PRICE * GAS if payer == ALICE else 0,
            encoding=[SEPOLIA, nonce, ALICE, frames, signatures, [GWEI, 2 * PRICE, 0], []],
            trace={"to": ALICE, "calls": [frame]},
        )
        chain.mine()
    return chain


def test_a_chain_with_frames_is_indexed_and_says_what_is_not_proven(database_url):
    chain = made()
    with served(chain, has_bytes=True) as node:
        index = Indexing(database_url, node.url).run_until(chain.head)
        client = index.client()
        rows = client.get(f"/api/v1/transactions?type={FRAMES}").json["transactions"]
        own, sponsored = rows
        assert [row["fee"] for row in rows] == [str(PRICE * GAS), "0"]
        assert own["chainFields"] == {"typeName": "unknown"}
        assert sponsored["chainFields"] == {
            "typeName": "unknown",
            "payer": "0x" + BOB.hex(),
            "payerFee": str(PRICE * GAS),
        }
        assert "0x" + BOB.hex() in client.get(f"/tx/{sponsored['hash']}").text
        for row in rows:
            require_no_recipient(client, row["hash"])
        [entry] = client.get("/readyz").json["unproven"]
        assert {*entry["reason"].split("; ")} - {"senders of transactions of type 6"} == {SAID}
        assert auditing.run(index.settings, node=True) == 0
        # The payer's history has no row of it, and says by how much it does not add up.
        for holder, missing in ((ALICE, 0), (CAROL, 0), (BOB, PRICE * GAS)):
            _, page = history(client, "0x" + holder.hex())
            assert page["unexplained"] == str(-missing), (holder, page)


BLOCKS, RECEIPTS = "eth_getBlockByNumber", "eth_getBlockReceipts"
REFUSED = "block 1 contradicts itself"


# What the bytes have cannot be altered; what they do not have is said. The first transaction is a
# usual one, and the second has frames.
@pytest.mark.parametrize(
    ("index", "methods", "lie", "expected"),
    [
        (1, [RECEIPTS], {"payer": "0x" + CAROL.hex()}, REFUSED),
        (1, [RECEIPTS], {"cumulativeGasUsed": "0x99999"}, REFUSED),
        (1, [RECEIPTS], {"gasUsed": "0x7"}, REFUSED),
        (
            1,
            [RECEIPTS],
            {"logs": [{"address": "0x" + BOB.hex(), "topics": [], "data": "0x"}]},
            "receipts and receiptsRoot",
        ),
        (0, [BLOCKS, RECEIPTS], {"type": hex(FRAMES)}, "types of transactions and their hashes"),
        (1, [BLOCKS], {"value": "0x7777"}, "value of transactions of type 6"),
        (1, [RECEIPTS], {"status": "0x0"}, SAID),
        (1, [RECEIPTS], {"effectiveGasPrice": "0x7"}, SAID),
    ],
)
def test_a_lie_about_a_transaction_with_frames_is_refused_or_said(index, methods, lie, expected):
    with served(made(), has_bytes=True) as node:
        node.fault = changing(lambda result: records_of(result)[index].update(lie), *methods)
        assert expected in what_is_said(node)


def test_without_its_bytes_it_stops_the_index():
    with served(made()) as node:
        assert len(source_of(node).blocks(0, 2)) == 1
        assert "transactions of type 6, unknown to this version of Scan" in what_is_said(node)


def test_in_a_large_block_it_is_as_proven_as_in_a_small_one():
    """Its receipts, read one by one, have their logs still when they are compared with bytes."""

    def with_spaces(calls, forward):
        is_large = any(c["method"] in (BLOCKS, RECEIPTS) for c in calls)
        return Reply(raw=json.dumps(forward(calls)).encode() + b" " * (9 * 2**20 * is_large))

    with served(made(), has_bytes=True) as node:
        small = source_of(node).blocks(1, 1)
        node.fault = with_spaces
        assert source_of(node).blocks(1, 1) == small


def what_is_said(node):
    try:
        [fetched] = source_of(node, traces="off").blocks(1, 1)
    except MalformedBlock as error:
        return str(error)
    return (fetched.block.unproven or "").split("; ")


def test_a_payer_of_a_type_that_has_none_is_not_taken():
    """No bytes of it have one."""
    with served(made(), has_bytes=True) as node:
        [honest] = source_of(node).blocks(1, 1)
        payer = {"payer": "0x" + CAROL.hex()}
        node.fault = changing(lambda result: records_of(result)[0].update(payer), RECEIPTS)
        [actual] = source_of(node).blocks(1, 1)
        assert actual == honest
        assert json.loads(actual.block.transactions[1].chain_fields or "")["typeName"] == "unknown"
