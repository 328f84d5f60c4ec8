"""No lie about a block is believed: what is proven or computed is refused or stored right.

A node that lies, over HTTP before a made chain, alters each field of each answer that values come
from, one at a time. Random lies of a real one: tests/indexer/test_lying_node.py.
"""

from collections import namedtuple
from contextlib import suppress

import pytest
import rlp

from scan.ethereum import blocks, client
from scan.extensions.demo.tests.replaying import served
from scan.indexer import block_rows, block_source
from tests.support.chain_forms import accounts, encoding
from tests.support.chain_forms.made_chain import ETH, MadeChain, log, word
from tests.support.faulty_node import altering

ALICE, BOB, COIN = accounts.address("Alice"), accounts.address("Bob"), accounts.address("coin")
TRANSFER = bytes.fromhex("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")
BLOCKS, RECEIPTS = "eth_getBlockByNumber", "eth_getBlockReceipts"
ALL_LOGS = block_rows.NO_LOGS._replace(stored="all")
LIES = ("0x7", "0x" + "11" * 20, "0x" + "22" * 32, None)
STRUCTS = {
    "block": blocks.BlockJson.of_forms,
    "transaction": blocks._form_transaction(),
    "receipt": blocks.ReceiptJson.of_forms,
}
# What the indexer makes of each record that it reads. `source` and `blobs` are no fields of nodes
# that are not for tests.
NO_FIELDS = frozenset(("source", "blobs", "transactions", "logs"))
# Receipts repeat fields of transactions, under these names where they are others.
IN_RECEIPTS = {"hash": "transactionHash", "gasPrice": "effectiveGasPrice"}


class Lie(namedtuple("Lie", "kind index field value in_both", defaults=(False,))):
    """Of the record `index` of its `kind`; `in_both`: in the receipt as well."""


def records(kind, method, result):
    """The records of a kind in a node's answer."""
    if method == BLOCKS:
        of_block = {"block": [result], "withdrawal": result.get("withdrawals") or []}
        return of_block.get(kind, result["transactions"] if kind == "transaction" else [])
    if kind == "log":
        return [entry for receipt in result for entry in receipt["logs"]]
    return list(result) if kind == "receipt" else []


def put(record, field, value):
    if value is None:
        record.pop(field, None)
    else:
        record[field] = value


class LyingNode:
    """Tells one lie about a block, by a fault of a node; its answers are read as a node's."""

    def __init__(self, faulty_node, number):
        self.number, self.lie = hex(number), None
        faulty_node.fault = altering(self._alter)
        self.node = client.Node([faulty_node.url])
        self.source = block_source.BlockSource(self.node, traces="off")
        self.true = self.rows()

    def lies(self):
        """One about each field that records of a kind have, or may have: each time another of LIES,
        or a number near its own."""
        answers = {
            BLOCKS: self.node.call(BLOCKS, self.number, True),
            RECEIPTS: self.node.call(RECEIPTS, self.number),
        }
        by_field = {}
        for lie in lies_about(answers):
            by_field.setdefault((lie.kind, lie.field, lie.in_both), []).append(lie)
        return [lies[n % len(lies)] for n, lies in enumerate(by_field.values())]

    def _alter(self, call, answer):
        lie, method = self.lie, call["method"]
        if not lie or method not in (BLOCKS, RECEIPTS) or call["params"][0] != self.number:
            return
        items = records(lie.kind, method, answer["result"])
        if lie.index < len(items):
            put(items[lie.index], lie.field, lie.value)
        if lie.in_both and method == RECEIPTS:
            put(answer["result"][lie.index], IN_RECEIPTS.get(lie.field, lie.field), lie.value)

    def rows(self):
        [fetched] = self.source.blocks(int(self.number, 16), int(self.number, 16))
        return block_rows.table_rows(fetched, ALL_LOGS)

    def believed(self, lies):
        """Those that change what would be stored without the block's saying so."""
        believed = []
        for self.lie in lies:
            with suppress(blocks.MalformedBlock):
                rows = self.rows()
                is_said = rows.block["unproven"] not in (None, self.true.block["unproven"])
                if rows != self.true and not is_said:
                    believed.append(self.lie)
        return believed


def lies_about(answers):
    for kind in ("block", "transaction", "receipt", "log", "withdrawal"):
        method = BLOCKS if kind in ("block", "transaction", "withdrawal") else RECEIPTS
        for index, record in enumerate(records(kind, method, answers[method])):
            known = STRUCTS[kind].__struct_fields__ if kind in STRUCTS else ()
            for field in sorted({*record, *known} - NO_FIELDS):
                true = record.get(field)
                is_short = isinstance(true, str) and 2 < len(true) < 20
                for value in (*LIES, *([hex(int(true, 16) ^ 1)] if is_short else [])):
                    yield Lie(kind, index, field, value)
                    if kind == "transaction":
                        yield Lie(kind, index, field, value, in_both=True)


def made():
    """Block 1 of mainnet has types 0, 2 and 3, a token's transfer, blobs and a withdrawal."""
    chain = MadeChain(1, {ALICE: ETH, BOB: ETH})
    parties = [holder.rjust(32, b"\0") for holder in (ALICE, BOB)]
    moved = {"logs": [log(COIN, TRANSFER, *parties, data=(5).to_bytes(32))]}
    chain.pay(ALICE, BOB, 1, type=0)
    chain.pay(BOB, COIN, 2, receipt=moved, input=b"\xa9\x05\x9c\xbb" + bytes(64))
    blobs = {"maxFeePerBlobGas": ETH, "blobVersionedHashes": [bytes([1]) + word("blob")[1:]]}
    chain.pay(ALICE, BOB, 3, type=3, receipt={"blobGasPrice": 159_773}, **blobs)
    withdrawal = {"index": 1, "validatorIndex": 2, "address": BOB, "amount": 32}
    root = encoding.list_root([rlp.encode([*withdrawal.values()])])
    gas = {"blobGasUsed": 131_072, "excessBlobGas": 40_000_000}
    chain.mine(withdrawals=[withdrawal], withdrawalsRoot=root, **gas)
    return chain


@pytest.mark.usefixtures("read_once")
def test_no_lie_about_a_block_is_believed():
    """Of a made chain: of each field of each record, in transactions and receipts together too."""
    with served(made()) as chain:
        node = LyingNode(chain, 1)
        lies = node.lies()
        assert node.believed(lies) == []
    fields = {(lie.kind, lie.field) for lie in lies}
    for kind, columns in (
        ("block", blocks.BLOCK_COLUMNS),
        ("transaction", blocks.TRANSACTION_COLUMNS),
    ):
        for name, column in columns.items():
            of = "receipt" if column.of_receipt else kind
            assert not column.json_name or (of, column.json_name) in fields, name
    expected = {"index", "validatorIndex", "address", "amount"}
    assert {f for k, f in fields if k == "withdrawal"} == expected
