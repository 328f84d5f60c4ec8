"""No lie about a block is believed: what is proven or computed is refused or stored right.

A node that lies, over HTTP before a made chain, alters each field of each answer that values come
from, one at a time. Random lies of a real one: tests/indexer/test_lying_node.py.
"""

from collections import namedtuple
from contextlib import suppress

import pytest
import rlp
from eth_utils import keccak

from scan.ethereum import blocks, client
from scan.extensions.demo.tests.replaying import served
from scan.indexer import block_rows, block_source
from tests.support.chain_forms import accounts, encoding
from tests.support.chain_forms.made_chain import ETH, MadeChain, log, word
from tests.support.faulty_node import altering

BLOCKS, RECEIPTS = "eth_getBlockByNumber", "eth_getBlockReceipts"
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


def telling(lie):
    """The fault of a node that tells a lie about block 1."""

    def alter(call, answer):
        method, result = call["method"], answer.get("result")
        if method in (BLOCKS, RECEIPTS) and call["params"][0] == "0x1":
            meant = records(lie.kind, method, result)[lie.index : lie.index + 1]
            altered = [(record, lie.field) for record in meant]
            if lie.in_both and method == RECEIPTS:
                altered.append((result[lie.index], IN_RECEIPTS.get(lie.field, lie.field)))
            for record, field in altered:
                record[field] = lie.value
                if lie.value is None:
                    del record[field]

    return altering(alter)


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


@pytest.mark.usefixtures("read_once")
def test_no_lie_about_a_block_is_believed():
    """Of block 1 of a made chain of mainnet, which has types 0, 2 and 3, a token's transfer, blobs
    and a withdrawal: of each field that records have, or may have, each time another of LIES, or a
    number near its own, in transactions and receipts together too."""
    alice, bob, coin = map(accounts.address, ("Alice", "Bob", "coin"))
    chain = MadeChain(1, {alice: ETH, bob: ETH})
    parties = [holder.rjust(32, b"\0") for holder in (alice, bob)]
    transfer = keccak(text="Transfer(address,address,uint256)")
    moved = {"logs": [log(coin, transfer, *parties, data=(5).to_bytes(32))]}
    chain.pay(alice, bob, 1, type=0)
    chain.pay(bob, coin, 2, receipt=moved, input=b"\xa9\x05\x9c\xbb" + bytes(64))
    blobs = {"maxFeePerBlobGas": ETH, "blobVersionedHashes": [bytes([1]) + word("blob")[1:]]}
    chain.pay(alice, bob, 3, type=3, receipt={"blobGasPrice": 159_773}, **blobs)
    withdrawal = {"index": 1, "validatorIndex": 2, "address": bob, "amount": 32}
    root = encoding.list_root([rlp.encode([*withdrawal.values()])])
    gas = {"blobGasUsed": 131_072, "excessBlobGas": 40_000_000}
    chain.mine(withdrawals=[withdrawal], withdrawalsRoot=root, **gas)
    with served(chain) as node:
        own = client.Node([node.url])
        source = block_source.BlockSource(own, traces="off")

        def rows():
            [fetched] = source.blocks(1, 1)
            return block_rows.table_rows(fetched, block_rows.NO_LOGS._replace(stored="all"))

        answers = {BLOCKS: own.call(BLOCKS, "0x1", True), RECEIPTS: own.call(RECEIPTS, "0x1")}
        by_field, true, taken = {}, rows(), []
        for lie in lies_about(answers):
            by_field.setdefault((lie.kind, lie.field, lie.in_both), []).append(lie)
        lies = [each[n % len(each)] for n, each in enumerate(by_field.values())]
        for lie in lies:
            node.fault = telling(lie)
            with suppress(blocks.MalformedBlock):
                taken.append((lie, rows()))
    honest = (None, true.block["unproven"])
    assert [lie for lie, got in taken if got != true and got.block["unproven"] in honest] == []
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
