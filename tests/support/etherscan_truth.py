"""Rows in Etherscan's form, made from the node's own JSON, slowly and plainly."""


def written(value):
    """An unknown number is empty."""
    return "" if value is None else str(value)


def number(value):
    return str(int(value, 16))


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
        self.tokens = {token["address"]: token for token in truth.tokens}

    def transactions(self, address):
        return [
            self._transaction(transaction)
            for transaction in self.by_hash.values()
            if address in self._parties(transaction)
        ]

    def transfers(self, kind, address, token):
        return [
            self._transfer(transfer, kind)
            for transfer in reversed(self.truth.token_transfers)
            if transfer["tokenType"] == kind
            and address in (None, transfer["fromAddress"], transfer["toAddress"])
            and token in (None, transfer["tokenAddress"])
        ]

    def internal_transfers(self, address=None, transaction=None):
        return [
            {
                "blockNumber": str(transfer["blockNumber"]),
                "timeStamp": number(self.blocks[transfer["blockNumber"]]["timestamp"]),
                "hash": transfer["transactionHash"],
                "from": transfer["fromAddress"],
                "to": "" if "create" in transfer["type"] else transfer["toAddress"],
                "value": transfer["value"],
                "contractAddress": transfer["toAddress"] if "create" in transfer["type"] else "",
                "input": "",
                "type": transfer["type"],
                "gas": "",
                "gasUsed": "",
                "traceId": "",
                "isError": "0",
                "errCode": "",
                "proven": "0",
            }
            for transfer in reversed(self.truth.internal_transfers)
            if address in (None, transfer["fromAddress"], transfer["toAddress"])
            and transaction in (None, transfer["transactionHash"])
        ]

    def log_rows(self, logs):
        return [self._log(log) for log in logs]

    def _parties(self, transaction):
        receipt = self.receipts[transaction["hash"]]
        created = receipt["contractAddress"] if receipt["status"] == "0x1" else None
        return {transaction["from"], transaction["to"], created} - {None}

    def _transaction(self, transaction):
        receipt = self.receipts[transaction["hash"]]
        succeeded = receipt["status"] == "0x1"
        is_creation = transaction["to"] is None
        return {
            **self._shared(transaction),
            "from": transaction["from"],
            "to": transaction["to"] or "",
            "value": number(transaction["value"]),
            "isError": "0" if succeeded else "1",
            "txreceipt_status": "1" if succeeded else "0",
            "input": transaction["input"],
            "contractAddress": receipt["contractAddress"] if is_creation and succeeded else "",
        }

    def _transfer(self, transfer, kind):
        # One that its constructor destroyed is no token, and had no name after a block.
        token = self.tokens.get(transfer["tokenAddress"], {"name": ""})
        row = {
            **self._shared(self.by_hash[transfer["transactionHash"]]),
            "from": transfer["fromAddress"],
            "to": transfer["toAddress"],
            "contractAddress": transfer["tokenAddress"],
            "tokenName": token["name"],
            "tokenSymbol": transfer["tokenSymbol"],
            "input": "deprecated",
        }
        if kind == "BEP20":
            decimals = written(transfer["tokenDecimals"])
            return {**row, "value": transfer["value"], "tokenDecimal": decimals}
        if kind == "BEP721":
            return {**row, "tokenID": transfer["tokenId"], "tokenDecimal": "0"}
        return {**row, "tokenID": transfer["tokenId"] or "", "tokenValue": transfer["value"]}

    def _shared(self, transaction):
        receipt = self.receipts[transaction["hash"]]
        height = int(transaction["blockNumber"], 16)
        return {
            "blockNumber": str(height),
            "timeStamp": number(self.blocks[height]["timestamp"]),
            "hash": transaction["hash"],
            "nonce": number(transaction["nonce"]),
            "blockHash": transaction["blockHash"],
            "transactionIndex": number(transaction["transactionIndex"]),
            "gas": number(transaction["gas"]),
            "gasPrice": number(receipt["effectiveGasPrice"]),
            "gasUsed": number(receipt["gasUsed"]),
            "cumulativeGasUsed": number(receipt["cumulativeGasUsed"]),
            "confirmations": str(self.head - height + 1),
            "methodId": transaction["input"][:10],
            "functionName": "",
        }

    def _log(self, log):
        receipt = self.receipts[log["transactionHash"]]
        return {
            "address": log["address"],
            "topics": log["topics"],
            "data": log["data"],
            "blockNumber": log["blockNumber"],
            "blockHash": log["blockHash"],
            "timeStamp": self.blocks[int(log["blockNumber"], 16)]["timestamp"],
            "gasPrice": receipt["effectiveGasPrice"],
            "gasUsed": receipt["gasUsed"],
            "logIndex": log["logIndex"],
            "transactionHash": log["transactionHash"],
            "transactionIndex": log["transactionIndex"],
        }


def _position(log):
    return int(log["blockNumber"], 16), int(log["logIndex"], 16)
