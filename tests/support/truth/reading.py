"""A chain read whole from its node: blocks, receipts, logs, traces and answers of contracts."""

import datetime
from collections import namedtuple
from functools import cache

from eth_utils import keccak

from tests.support.anvil import RpcError, calldata

ZERO = "0x" + 40 * "0"
SYSTEM = "0x" + 19 * "ff" + "fe"
BATCH = 100


def topic_of(event):
    return "0x" + keccak(text=event).hex()


class Log(namedtuple("Log", "address topics data block number transaction_hash")):
    """A log with its hex undone; `block` and `number` (its log index) place it in the chain."""

    @property
    def event(self):
        return "0x" + self.topics[0].hex() if self.topics else ""

    def words(self):
        whole = len(self.data) // 32 * 32
        return [int.from_bytes(self.data[n : n + 32], "big") for n in range(0, whole, 32)]


class Chain:
    """One pass over the chain: what was read is kept, since everything is asked many times."""

    def __init__(self, node, traces):
        self.node = node
        self.head = int(node.call("eth_blockNumber"), 16)
        numbers = range(self.head + 1)
        self.blocks = batched(node, [("eth_getBlockByNumber", (hex(n), True)) for n in numbers])
        self.receipts = read_receipts(node, self.blocks)
        self.logs = read_logs(node, self.head)
        self.timestamps = [timestamp(b["timestamp"]) for b in self.blocks]
        self.created = {
            h: r["contractAddress"].lower() for h, r in self.receipts.items() if creates(r)
        }
        self.traces = read_traces(node, self.receipts) if traces else {}
        self.call = cache(self._call)

    def is_coin(self, log):
        """Whether the protocol logs a transfer of coin, as it does since Amsterdam (EIP-7708)."""
        return log.address == SYSTEM and "blockAccessListHash" in self.blocks[log.block]

    def address_answer(self, log, signature, *args, to=""):
        answer = self.call(to or log.address, signature, args, log.block)
        if answer is None or len(answer) < 32 or any(answer[:12]):
            return None
        return "0x" + answer[12:32].hex()

    def _call(self, to, signature, args, block):
        """The raw answer, or None where the call fails."""
        call = {"to": to, "data": calldata(signature, *args)}
        try:
            return bytes.fromhex(self.node.call("eth_call", call, hex(block))[2:])
        except RpcError:
            return None


def read_receipts(node, blocks):
    hashes = [t["hash"] for b in blocks for t in b["transactions"]]
    receipts = batched(node, [("eth_getTransactionReceipt", (h,)) for h in hashes])
    return dict(zip(hashes, receipts, strict=True))


def creates(receipt):
    """A creation that failed created nothing, though its receipt may name an address."""
    return bool(receipt.get("contractAddress")) and succeeded(receipt)


def succeeded(receipt):
    return receipt.get("status") != "0x0"


def read_traces(node, hashes):
    """The outermost call frame of each transaction."""
    requests = [("debug_traceTransaction", (h, {"tracer": "callTracer"})) for h in hashes]
    return dict(zip(hashes, batched(node, requests), strict=True))


def read_logs(node, head):
    logs = []
    for first in range(0, head + 1, BATCH):
        span = {"fromBlock": hex(first), "toBlock": hex(min(head, first + BATCH - 1))}
        logs += [read_log(record) for record in node.call("eth_getLogs", span)]
    return sorted(logs, key=lambda log: (log.block, log.number))


def read_log(record):
    return Log(
        address=record["address"].lower(),
        topics=[bytes.fromhex(topic[2:]) for topic in record["topics"]],
        data=bytes.fromhex(record["data"][2:]),
        block=quantity(record["blockNumber"]),
        number=quantity(record["logIndex"]),
        transaction_hash=record["transactionHash"],
    )


def batched(node, requests):
    answers = []
    for n in range(0, len(requests), BATCH):
        answers += node.batch(requests[n : n + BATCH])
    return answers


def timestamp(value):
    moment = datetime.datetime.fromtimestamp(quantity(value), datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def quantity(value):
    return int(value, 16)
