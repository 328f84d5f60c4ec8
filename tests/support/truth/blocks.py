"""What blocks, transactions and logs say of themselves, and what of it follows from no hash."""

import tomllib
from pathlib import Path

from tests.support.block_sizes import size_of
from tests.support.truth.reading import creates, quantity, succeeded, timestamp

OF_BODY = """
    hash fromAddress toAddress value gasPrice gasUsed status nonce transactionIndex contractAddress
    gasLimit type maxFeePerGas fee maxPriorityFeePerGas maxFeePerBlobGas blobVersionedHashes
    cumulativeGasUsed methodId
""".split()


def stats(chain, token_count):
    newest = chain.blocks[-100:]
    prices = [
        quantity(chain.receipts[t["hash"]]["effectiveGasPrice"])
        for b in newest
        for t in b["transactions"]
    ]
    return {
        "latestBlock": chain.head,
        "totalTransactions": len(chain.receipts),
        "totalTokens": token_count,
        "avgGasPrice": str(sum(prices) // len(prices) if prices else 0),
        "chainId": quantity(chain.node.call("eth_chainId")),
    }


# A field of a block's record that block_record() does not compute is the node's of its name.
RECORDS = tomllib.loads(Path("sql/records.toml").read_text("utf-8"))["records"]


def block_record(block, receipts):
    own = [receipts[t["hash"]] for t in block["transactions"]]
    gas = sum(quantity(receipt["gasUsed"]) for receipt in own)
    with_blobs = [r for r in own if r.get("blobGasUsed") and quantity(r["blobGasUsed"])]
    blobs = sum(quantity(r["blobGasUsed"]) * quantity(r["blobGasPrice"]) for r in with_blobs)
    base_fee = block.get("baseFeePerGas")
    computed = {
        "timestamp": timestamp(block["timestamp"]),
        "txCount": len(block["transactions"]),
        "size": quantity(block["size"]) if has_blobs_inside(block) else size_of(block),
        # The base fee of the gas that was paid for, since Amsterdam not the header's, and blobs.
        "burntFees": None if base_fee is None else str(quantity(base_fee) * gas + blobs),
        "blobFees": str(blobs) if with_blobs else None,
        "blobBaseFee": text_or_none(with_blobs[0]["blobGasPrice"]) if with_blobs else None,
        # By its logs of coin (EIP-7708), or as there is nothing to trace.
        "tracesProven": not unproven_of_block(block)
        and ("blockAccessListHash" in block or not block["transactions"]),
        "unproven": unproven_of_block(block),
    }
    return {
        name: computed[name] if name in computed else as_kind(value, block.get(name))
        for name, value in RECORDS["Block"].items()
        if not name.startswith("_")
    }


def as_kind(declared, value):
    """The node's value as a record has it in a field of this kind: with it null, an amount or a
    count, or else hex."""
    if value is None:
        return None
    kind = (declared if isinstance(declared, str) else declared[0]).partition(" ")[0]
    number = {"Amount": str, "Count": int}.get(kind)
    return number(quantity(value)) if number else value.lower()


def transactions(chain):
    return [
        transaction_record(t, chain.receipts[t["hash"]], chain.timestamps[quantity(b["number"])])
        | {"unproven": unproven_of_transactions(b)}
        for b in chain.blocks
        for t in b["transactions"]
    ]


def transaction_record(transaction, receipt, at):
    return {
        "hash": transaction["hash"],
        "blockNumber": quantity(transaction["blockNumber"]),
        "fromAddress": transaction["from"].lower(),
        "toAddress": transaction["to"].lower() if transaction["to"] else None,
        "value": str(quantity(transaction["value"])),
        "gasPrice": str(quantity(receipt["effectiveGasPrice"])),
        "gasUsed": str(quantity(receipt["gasUsed"])),
        "status": succeeded(receipt),
        "timestamp": at,
        "transactionIndex": quantity(receipt["transactionIndex"]),
        "contractAddress": receipt["contractAddress"].lower() if creates(receipt) else None,
        "blockHash": receipt["blockHash"],
        "nonce": quantity(transaction["nonce"]),
        "gasLimit": str(quantity(transaction["gas"])),
        "type": quantity(transaction["type"]),
        "maxFeePerGas": text_or_none(transaction.get("maxFeePerGas")),
        "maxPriorityFeePerGas": text_or_none(transaction.get("maxPriorityFeePerGas")),
        "maxFeePerBlobGas": text_or_none(transaction.get("maxFeePerBlobGas")),
        "blobVersionedHashes": transaction.get("blobVersionedHashes"),
        "cumulativeGasUsed": str(quantity(receipt["cumulativeGasUsed"])),
        "methodId": method_id(transaction),
        "fee": str(fee(transaction, receipt)),
        "unproven": [],
    }


def log_record(chain, log):
    return {
        "transactionHash": log.transaction_hash,
        "blockNumber": log.block,
        "logIndex": log.number,
        "transactionIndex": quantity(chain.receipts[log.transaction_hash]["transactionIndex"]),
        "address": log.address,
        "topics": ["0x" + topic.hex() for topic in log.topics],
        "data": "0x" + log.data.hex(),
        "timestamp": chain.timestamps[log.block],
    }


def has_blobs_inside(block):
    """Whether anvil keeps the blobs of a block in it, which has no root of its header then."""
    return any(t.get("blobs") for t in block["transactions"])


def unproven_of_block(block):
    inside = ["blobBaseFee", "blobFees", "burntFees", "size", "txCount"]
    return inside if has_blobs_inside(block) else []


def unproven_of_transactions(block):
    """Of those of a block: all that the root covers, or where anvil sent in another's name the
    sender, the hash and what was created."""
    if has_blobs_inside(block):
        return sorted(OF_BODY)
    is_signed = all(int(t["r"], 16) for t in block["transactions"])
    return [] if is_signed else ["contractAddress", "fromAddress", "hash"]


def fee(transaction, receipt):
    """Return what the sender paid for gas and, by EIP-4844, for blobs of 131,072 gas each."""
    blobs = len(transaction.get("blobVersionedHashes") or ())
    gas = quantity(receipt["effectiveGasPrice"]) * quantity(receipt["gasUsed"])
    return gas + blobs * 131_072 * quantity(receipt.get("blobGasPrice") or "0x0")


def text_or_none(amount):
    return None if amount is None else str(quantity(amount))


def method_id(transaction):
    calls = transaction["to"] and len(transaction["input"]) >= 10
    return transaction["input"][:10] if calls else None
