"""Ethereum's blocks before Byzantium, with proof of work, as their nodes return them: a proxy
before anvil, which does not mine so.

Blocks get a difficulty and uncles, and with that other hashes, which are computed here; receipts
have the root of the state instead of a status. Balances include what miners earned: until Byzantium
five coins, of which a block has one part in 32 more for each uncle, and an uncle one part in eight
less for each block after it (Yellow Paper, section 11.3).
"""

import json
from collections import defaultdict

import rlp
from eth_utils import keccak

from tests.support.amsterdam_chain import encode_receipt
from tests.support.chain_forms.encoding import list_root
from tests.support.rehashed_chain import OLDEST, RehashedChain, field, hash_of

REWARD = 5 * 10**18
# Which anvil's genesis block has nevertheless.
LATER = ("baseFeePerGas", "withdrawalsRoot", "blobGasUsed", "excessBlobGas")


def fields_of(header):
    return [field(header, name) for name in OLDEST]


class MinedChain(RehashedChain):
    """A Fault: `uncles` are of each block by number (distance, miner); the newest block is
    `head`."""

    def __init__(self, node, uncles, head):
        self.node = node
        self.head = head
        self.uncles = defaultdict(list)
        self.rewards = []  # block, address, amount
        self._siblings = uncles
        super().__init__(node, self._mine, OLDEST, head)

    def _mine(self, header):
        number = int(header["number"], 16)
        siblings = self._siblings.get(number, [])
        for index, (distance, miner) in enumerate(siblings):
            own = {"miner": miner, "extraData": f"0x{index:02x}", "uncles": []}
            uncle = self.headers[number - distance] | own
            self.uncles[number].append(uncle | {"hash": hash_of(uncle, OLDEST)})
        own_uncles = self.uncles[number]
        header |= dict.fromkeys(LATER) | {
            "difficulty": "0x20000",
            "uncles": [uncle["hash"] for uncle in own_uncles],
            "sha3Uncles": "0x" + keccak(rlp.encode([*map(fields_of, own_uncles)])).hex(),
            "receiptsRoot": "0x" + self._receipts_root(number).hex(),
        }
        if number:
            self.rewards.append((number, header["miner"], REWARD + len(siblings) * REWARD // 32))
            for distance, miner in siblings:
                self.rewards.append((number, miner, REWARD * (8 - distance) // 8))

    def _receipts_root(self, number):
        receipts = self.node.call("eth_getBlockReceipts", hex(number))
        return list_root([encode_receipt(_without_status(receipt)) for receipt in receipts])

    def earned(self, address, block):
        if isinstance(block, dict):
            block = block.get("blockNumber") or self._number_of(block["blockHash"])
        last = int(block, 16) if block.startswith("0x") else len(self.headers)
        return sum(a for n, miner, a in self.rewards if n <= last and miner == address.lower())

    def _number_of(self, hash_):
        return next((h["number"] for h in self.headers if h["hash"] == hash_), "0x0")

    def __call__(self, calls, forward):
        sent = json.loads(json.dumps(calls).replace('"latest"', f'"{hex(self.head)}"'))
        reply = super().__call__(sent, forward)
        for call, answer in zip(calls, reply.body, strict=True):
            self._complete(call["method"], call["params"], answer)
        return reply

    def _complete(self, method, params, answer):
        result = answer.get("result")
        if method == "eth_getUncleByBlockHashAndIndex":
            own_uncles = self.uncles[int(self._number_of(params[0]), 16)]
            answer.pop("error", None)
            answer["result"] = own_uncles[int(params[1], 16)]
        elif method == "eth_blockNumber":
            answer["result"] = hex(self.head)
        elif method == "eth_getBalance" and result:
            answer["result"] = hex(int(result, 16) + self.earned(*params))
        elif method == "eth_getBlockReceipts" and result:
            answer["result"] = [*map(_without_status, result)]
        elif method == "eth_getTransactionReceipt" and result:
            answer["result"] = _without_status(result)


def _without_status(receipt):
    root = "0x" + keccak(text=receipt["transactionHash"]).hex()
    return {k: v for k, v in receipt.items() if k != "status"} | {"root": root, "type": "0x0"}
