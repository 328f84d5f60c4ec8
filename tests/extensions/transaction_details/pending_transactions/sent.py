"""A pending transaction as a node might say it; no transaction has this hash."""

HASH = "0x" + "12" * 32
SENT = {
    "hash": HASH,
    "from": "0x" + "ab" * 20,
    "to": None,
    "blockNumber": None,
    "type": "0x2",
    "value": "0x1",
    "nonce": "0x2",
    "gas": "0x5208",
    "input": "0x",
    "maxFeePerGas": "0x3",
}
