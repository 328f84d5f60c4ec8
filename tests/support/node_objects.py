"""Blocks, transactions and receipts in a node's JSON, decoded from each form in which it comes."""

import msgspec
import orjson

from scan.ethereum import block_decoder, blocks

BLOCK_HASH = "0x" + 64 * "b"
SENDER, RECIPIENT, CREATED = ("0x" + 40 * digit for digit in "123")
HASHES = ["0x" + 64 * "a", "0x" + 64 * "c"]


def a_transaction(index=0, **changes):
    fields = {
        "hash": HASHES[index],
        "blockHash": BLOCK_HASH,
        "transactionIndex": hex(index),
        "from": SENDER,
        "to": RECIPIENT,
        "value": "0xde0b6b3a7640000",
        "gasPrice": "0x3b9aca00",
        "input": "0x",
        "type": "0x0",
    }
    return without_missing(fields | changes)


def a_receipt(index=0, **changes):
    fields = {
        "transactionHash": HASHES[index],
        "blockHash": BLOCK_HASH,
        "transactionIndex": hex(index),
        "status": "0x1",
        "gasUsed": "0x5208",
        "effectiveGasPrice": "0x77359400",
        "contractAddress": None,
        "logs": [],
    }
    return without_missing(fields | changes)


def a_block(transactions, **changes):
    fields = {
        "number": "0x7",
        "hash": BLOCK_HASH,
        "parentHash": "0x" + 64 * "d",
        "timestamp": "0x65a0",
        "miner": "0x" + 40 * "9",
        "gasUsed": "0xa410",
        "gasLimit": "0x1c9c380",
        "baseFeePerGas": "0x1",
        "transactions": transactions,
    }
    return without_missing(fields | changes)


def without_missing(fields):
    return {key: value for key, value in fields.items() if value is not ...}


def an_authorization(**changes):
    fields = {"chainId": "0x1", "address": CREATED, "nonce": "0x0", "yParity": "0x0"}
    return without_missing(fields | {"r": "0x1", "s": "0x1"} | changes)


def decode_block(block, receipts, number):
    """From JSON as it comes from a node, as it is parsed, and with receipts that come one by one,
    as of a block that is too large for one answer: all alike, or refused in every form."""
    forms = [(block, receipts), tuple(msgspec.Raw(orjson.dumps(o)) for o in (block, receipts))]
    if isinstance(receipts, list):
        forms.append((block, iter(receipts)))
    outcomes = []
    for form in forms:
        try:
            outcomes.append(block_decoder.decode_block(*form, number))
        except blocks.MalformedBlock as error:
            outcomes.append(error)
    if all(isinstance(outcome, blocks.MalformedBlock) for outcome in outcomes):
        raise outcomes[0]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    return outcomes[0]
