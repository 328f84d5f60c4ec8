"""What tells rows in Etherscan's form apart, made from the node's own JSON, slowly and plainly.

All fields of a row of each kind stand in tests/expected/etherscan.txt.
"""

OF_LOGS = "address topics data blockNumber blockHash logIndex transactionHash".split()


class EtherscanTruth:
    """The whole chain, oldest first."""

    def __init__(self, node, truth):
        self.node = node
        self.truth = truth
        self.head = int(node.call("eth_blockNumber"), 16)
        self.blocks = node.batch(
            [("eth_getBlockByNumber", (hex(height), True)) for height in range(self.head + 1)]
        )
        self.by_hash = {t["hash"]: t for block in self.blocks for t in block["transactions"]}
        self.receipts = dict(
            zip(
                self.by_hash,
                node.batch([("eth_getTransactionReceipt", (hash_,)) for hash_ in self.by_hash]),
                strict=True,
            )
        )
        logs = node.call("eth_getLogs", {"fromBlock": "0x0", "toBlock": hex(self.head)})
        self.logs = sorted(logs, key=_position)

    def transactions(self, address):
        return [
            {
                "blockNumber": str(int(sent["blockNumber"], 16)),
                "hash": sent["hash"],
                "from": sent["from"],
                "to": sent["to"] or "",
                "value": str(int(sent["value"], 16)),
                "input": sent["input"],
            }
            for sent in self.by_hash.values()
            if address in self._parties(sent)
        ]

    def transfers(self, kind, address, token):
        return [
            {
                **_moved(transfer),
                "contractAddress": transfer["tokenAddress"],
                **({"tokenID": transfer["tokenId"] or ""} if kind != "BEP20" else {}),
            }
            for transfer in reversed(self.truth.token_transfers)
            if transfer["tokenType"] == kind
            and address in (None, transfer["fromAddress"], transfer["toAddress"])
            and token in (None, transfer["tokenAddress"])
        ]

    def internal_transfers(self, address=None, transaction=None):
        return [
            {**_moved(transfer), "value": transfer["value"]}
            for transfer in reversed(self.truth.internal_transfers)
            if address in (None, transfer["fromAddress"], transfer["toAddress"])
            and transaction in (None, transfer["transactionHash"])
        ]

    def log_rows(self, logs):
        return [{name: log[name] for name in OF_LOGS} for log in logs]

    def _parties(self, transaction):
        receipt = self.receipts[transaction["hash"]]
        created = receipt["contractAddress"] if receipt["status"] == "0x1" else None
        return {transaction["from"], transaction["to"], created} - {None}


def told_apart(rows, expected):
    """The rows with the fields that are expected of them."""
    return [{n: row[n] for n in one} for row, one in zip(rows, expected, strict=True)]


def _moved(transfer):
    return {
        "blockNumber": str(transfer["blockNumber"]),
        "hash": transfer["transactionHash"],
        "from": transfer["fromAddress"],
    }


def _position(log):
    return int(log["blockNumber"], 16), int(log["logIndex"], 16)
