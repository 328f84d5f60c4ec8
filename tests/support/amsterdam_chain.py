"""Anvil's chain in Amsterdam's form from a block on: a Fault, whose blocks have the fork's header
fields, logs of coin (EIP-7708) and gas of blocks that is not the sum of receipts' gas (EIP-7778).
"""

import json

import rlp
from eth_utils import decode_hex, keccak

from tests.support import faulty_node, rehashed_chain, renamed_hashes
from tests.support.chain_forms.encoding import HEADER_FIELDS, bloom_of, list_root

SYSTEM = "0x" + "ff" * 19 + "fe"
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
FIELDS = (*HEADER_FIELDS, "blockAccessListHash", "slotNumber")
MOVING = ("CALL", "CREATE", "CREATE2", "SELFDESTRUCT")


class AmsterdamChain:
    """`headers` and `receipts` are by block number, and may be changed before they are sealed."""

    def __init__(self, node, fork):
        self.fork = fork
        self.headers = []
        self.receipts = []
        self._hashes = renamed_hashes.RenamedHashes()
        for number in range(node.head() + 1):
            header = node.call("eth_getBlockByNumber", hex(number), True)
            receipts = node.call("eth_getBlockReceipts", hex(number))
            if number >= fork:
                for receipt in receipts:
                    trace = node.call(
                        "debug_traceTransaction",
                        receipt["transactionHash"],
                        {"tracer": "callTracer"},
                    )
                    moved = [coin_log(*move) for move in moves(trace)]
                    receipt["logs"] = [*moved, *receipt["logs"]]
                paid = sum(int(receipt["gasUsed"], 16) for receipt in receipts)
                header["gasUsed"] = hex(paid + 4800 * (number % 3) if receipts else 0)
                header["blockAccessListHash"] = "0x" + keccak(bytes([number % 256])).hex()
                header["slotNumber"] = hex(9_000_000 + number)
            self.headers.append(header)
            self.receipts.append(receipts)
        self.seal()

    def seal(self):
        """Compute all roots, blooms and hashes from the fork on."""
        for number in range(self.fork, len(self.headers)):
            header, receipts = self.headers[number], self.receipts[number]
            logs = [log for receipt in receipts for log in receipt["logs"]]
            for index, log in enumerate(logs):
                log["logIndex"] = hex(index)
            for receipt in receipts:
                receipt["logsBloom"] = bloom(receipt["logs"])
                for log in receipt["logs"]:
                    names = ("transactionHash", "transactionIndex", "blockHash", "blockNumber")
                    log |= {name: receipt[name] for name in names} | {"removed": False}
            header["logsBloom"] = bloom(logs)
            header["receiptsRoot"] = "0x" + list_root([*map(encode_receipt, receipts)]).hex()
            header["parentHash"] = self.headers[number - 1]["hash"]
            ours, before = rehashed_chain.hash_of(header, FIELDS), header["hash"]
            self._hashes.add(before, ours)
            renamed = json.loads(json.dumps([header, receipts]).replace(before, ours))
            self.headers[number], self.receipts[number] = renamed

    def __call__(self, calls, forward):
        answers = self._hashes.ask(calls, forward)
        for call, answer in zip(calls, answers, strict=True):
            if "result" in answer:
                answer["result"] = self._result(call["method"], call["params"], answer["result"])
        return faulty_node.Reply(body=answers)

    def _result(self, method, params, result):
        if method.startswith("eth_getBlockBy") and result:
            own = self.headers[int(result["number"], 16)]
            return result | {name: own[name] for name in own if name != "transactions"}
        if method == "eth_getBlockReceipts" and result:
            return self.receipts[int(result[0]["blockNumber"], 16)]
        if method == "eth_getTransactionReceipt" and result:
            own_receipts = self.receipts[int(result["blockNumber"], 16)]
            return own_receipts[int(result["transactionIndex"], 16)]
        return self._logs(params[0]) if method == "eth_getLogs" else result

    def _logs(self, filter_):
        if "blockHash" in filter_:
            numbers = [n for n, h in enumerate(self.headers) if h["hash"] == filter_["blockHash"]]
        else:
            numbers = [*range(int(filter_["fromBlock"], 16), int(filter_["toBlock"], 16) + 1)]
        addresses = filter_.get("address") or []
        addresses = [addresses] if isinstance(addresses, str) else addresses
        topics = [[t] if isinstance(t, str) else t for t in filter_.get("topics") or []]
        return [
            log
            for number in numbers
            for receipt in self.receipts[number]
            for log in receipt["logs"]
            if (not addresses or log["address"].lower() in [a.lower() for a in addresses])
            and len(log["topics"]) >= len(topics)
            and all(not any_ or t in any_ for t, any_ in zip(log["topics"], topics, strict=False))
        ]


def moves(call):
    """The coin that a trace moves from one account to another, as it is moved."""
    if call.get("error"):
        return
    value = int(call.get("value") or "0x0", 16)
    if call["type"] in MOVING and value and call["from"] != call["to"]:
        yield call["from"], call["to"], value
    for inner in call.get("calls") or ():
        yield from moves(inner)


def coin_log(sender, recipient, value):
    parties = ["0x" + "00" * 12 + address[2:].lower() for address in (sender, recipient)]
    return {"address": SYSTEM, "topics": [TRANSFER, *parties], "data": f"0x{value:064x}"}


def bloom(logs):
    parts = [decode_hex(text) for log in logs for text in (log["address"], *log["topics"])]
    return f"0x{bloom_of(parts):0512x}"


def encode_receipt(receipt):
    logs = [
        [decode_hex(e["address"]), [*map(decode_hex, e["topics"])], decode_hex(e["data"])]
        for e in receipt["logs"]
    ]
    gas = int(receipt["cumulativeGasUsed"], 16)
    # Before Byzantium the root of the state.
    outcome = decode_hex(receipt["root"]) if "root" in receipt else int(receipt["status"], 16)
    encoded = rlp.encode([outcome, gas, decode_hex(receipt["logsBloom"]), logs])
    type_ = int(receipt["type"], 16)
    return bytes([type_]) * bool(type_) + encoded
