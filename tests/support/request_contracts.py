"""The contracts that take requests to the consensus layer, on anvil, which does not call them.

Their code is that of EIP-7002 and EIP-7251. The system's call at the end of a block is made here as
the first transaction of the next one, and what it would return before that is what the block took.
The deposit contract is a stand-in that emits its event with the data that it is given, and those of
builders (EIP-8282) log what they are given, exits with the caller before it; their queues are
those of Queue.
"""

import hashlib

from eth_abi import encode

SYSTEM = "0x" + "ff" * 19 + "fe"
DEPOSITS = "0x00000000219ab540356cbb839cbe05303d7705fa"
WITHDRAWALS = "0x00000961ef480eb55e80d19ad83579a64c007002"
CONSOLIDATIONS = "0x0000bbddc7ce488642fb579f8b00f3a590007251"
BUILDER_DEPOSITS = "0x0000bff46984e3725691fa540a8c7589300d8282"
BUILDER_EXITS = "0x000064d678505ad48f8ccb093bc65613800e8282"
DEPOSIT_EVENT = "649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5"
CODES = {
    DEPOSITS: f"0x365f5f377f{DEPOSIT_EVENT}365fa100",
    BUILDER_DEPOSITS: "0x365f5f37365fa000",
    BUILDER_EXITS: "0x3360601b5f52365f60143736601401" + "5fa000",
    WITHDRAWALS: (
        "0x3373fffffffffffffffffffffffffffffffffffffffe1460cb5760115f54807fffffffffffffffffffffffffff"
        "ffffffffffffffffffffffffffffffffffffff146101f457600182026001905f5b5f821115606857810190830284"
        "83029004916001019190604d565b909390049250505036603814608857366101f457346101f4575f5260205ff35b"
        "34106101f457600154600101600155600354806003026004013381556001015f35815560010160203590553360601b"
        "5f5260385f601437604c5fa0600101600355005b6003546002548082038060101160df575060105b5f5b818114610183"
        "5782810160030260040181604c02815460601b8152601401816001015481526020019060020154807fffffffffffff"
        "ffffffffffffffffffff00000000000000000000000000000000168252906010019060401c908160381c8160070153"
        "8160301c81600601538160281c81600501538160201c81600401538160181c81600301538160101c81600201538160"
        "081c81600101535360010160e1565b910180921461019557906002556101a0565b90505f6002555f6003555b5f5480"
        "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff14156101cd57505f5b600154600282"
        "8201116101e25750505f6101e8565b01600290035b5f555f600155604c025ff35b5f5ffd"
    ),
    CONSOLIDATIONS: (
        "0x3373fffffffffffffffffffffffffffffffffffffffe1460d35760115f54807fffffffffffffffffffffffffff"
        "ffffffffffffffffffffffffffffffffffffff1461019a57600182026001905f5b5f821115606857810190830284"
        "83029004916001019190604d565b9093900492505050366060146088573661019a573461019a575f5260205ff35b34"
        "1061019a57600154600101600155600354806004026004013381556001015f358155600101602035815560010160"
        "403590553360601b5f5260605f60143760745fa0600101600355005b6003546002548082038060021160e757506002"
        "5b5f5b8181146101295782810160040260040181607402815460601b81526014018160010154815260200181600201"
        "5481526020019060030154905260010160e9565b910180921461013b5790600255610146565b90505f6002555f6003"
        "555b5f54807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff141561017357505f5b"
        "6001546001828201116101885750505f61018e565b01600190035b5f555f6001556074025ff35b5f5ffd"
    ),
}


def place(node):
    for address, code in CODES.items():
        node.call("anvil_setCode", address, code)
    node.impersonate(SYSTEM)


def deposit_data(*values):
    """Data of a DepositEvent: key, credentials, amount, signature, index."""
    return "0x" + encode(["bytes"] * 5, values).hex()


def end_block(node):
    """Call the queues as the system would at the end of the newest block; to be called first of a
    block's transactions."""
    for contract in (WITHDRAWALS, CONSOLIDATIONS):
        node.send(SYSTEM, contract)


def taken(node):
    """What the queues give to the newest block, each by its contract."""
    calls = [{"from": SYSTEM, "to": to, "gas": hex(10**7)} for to in (WITHDRAWALS, CONSOLIDATIONS)]
    return [bytes.fromhex(node.call("eth_call", call, "latest")[2:]) for call in calls]


class Queue:
    """The requests that wait, of which each block takes the `most` oldest."""

    def __init__(self, most):
        self.most = most
        self.waiting = []

    def take(self, submitted):
        self.waiting += submitted
        taken, self.waiting = self.waiting[: self.most], self.waiting[self.most :]
        return b"".join(taken)


def hash_of(deposits, queues):
    """EIP-7685: of the lists that are not empty."""
    lists = enumerate((deposits, *queues))
    return hashlib.sha256(
        b"".join(hashlib.sha256(bytes([t]) + of_type).digest() for t, of_type in lists if of_type)
    ).digest()
