"""Transactions of chains of other forms, in their JSON, and what is decoded of them."""

import json

import orjson

from scan.ethereum import block_decoder
from tests.support.node_objects import BLOCK_HASH

SENDER, OTHER = "0x" + "a1" * 20, "0x" + "b2" * 20
HASH = "0x" + "cd" * 32
BASE_FEE, PRICE, GAS = 7, 10, 21_000


def sent(index, type_="0x2", **fields):
    return {
        "hash": f"0x{index + 1:064x}",
        "blockHash": BLOCK_HASH,
        "transactionIndex": hex(index),
        "from": SENDER,
        "to": OTHER,
        "value": "0x0",
        "input": "0x",
        "nonce": "0x0",
        "gas": hex(GAS),
        "type": type_,
        **fields,
    }


def received(transaction, **fields):
    links = {name: transaction[name] for name in ("blockHash", "transactionIndex", "type")}
    return {
        **links,
        "transactionHash": transaction["hash"],
        "contractAddress": None,
        "status": "0x1",
        "gasUsed": hex(GAS),
        "cumulativeGasUsed": hex(GAS),
        "logs": [],
        "effectiveGasPrice": hex(PRICE),
        **fields,
    }


def decoded(*pairs, chain_id=None, **block):
    """Of the chain that its first transaction names, by default."""
    if chain_id is None and pairs:
        chain_id = int(pairs[0][0].get("chainId", "0x0"), 16)
    transactions = [transaction for transaction, _ in pairs]
    header = {
        "number": "0x5",
        "hash": BLOCK_HASH,
        "parentHash": BLOCK_HASH,
        "timestamp": "0x1",
        "miner": OTHER,
        "gasUsed": hex(GAS * len(pairs)),
        "gasLimit": "0x1c9c380",
        "baseFeePerGas": hex(BASE_FEE),
        "transactions": transactions,
        "extraData": "0x",
        **block,
    }
    receipts = [receipt for _, receipt in pairs]
    return block_decoder.decode_block(header, receipts, int(header["number"], 16), chain_id)


def fields_of(block, index=0):
    return dict(json.loads(block.transactions[index].chain_fields or "{}"))


def credited(block):
    first = block.number << 20
    assert [c.ordinal for c in block.credits] == list(range(first, first + len(block.credits)))
    return [(c.transaction_index, c.type, c.address.hex(), c.amount_wei) for c in block.credits]


def block_of(chain, number):
    answers = [orjson.loads(line) for line in chain.lines()]
    block, receipts = (
        [a["result"] for a in answers if a["method"] == method][number]
        for method in ("eth_getBlockByNumber", "eth_getBlockReceipts")
    )
    return block, receipts
