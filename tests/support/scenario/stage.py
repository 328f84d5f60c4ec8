"""Who acts on a node, what stands on it, and the one source of chance."""

import random

from eth_utils import keccak

MNEMONIC = "test test test test test test test test test test test junk"
ETHER = 10**18
GWEI = 10**9
MOST = 2**256 - 1
MINERS = tuple("0x" + keccak(text=f"miner {n}")[12:].hex() for n in range(3))
STRANGERS = tuple("0x" + keccak(text=f"stranger {n}")[12:].hex() for n in range(40))


class Stage:
    """The node, who acts on it, what stands on it, and the one source of chance."""

    def __init__(self, anvil, seed=1):
        self.anvil = anvil
        self.random = random.Random(seed)
        self.people = anvil.accounts
        self.contracts = {}
        self.pools = {}
        self.collectibles = []

    def deploy(self, key, name, *args):
        self.anvil.call("anvil_setCoinbase", self.random.choice(MINERS))
        self.contracts[key] = self.anvil.deploy(self.people[0], name, *args)
        return self.contracts[key]

    def do(self, who, key, function, *args, **fields):
        """One call of a contract, by the number or the address of who sends it."""
        sender = self.people[who] if isinstance(who, int) else who
        return self.anvil.transact(sender, self.contracts[key], function, *args, **fields)

    def mine(self):
        self.anvil.call("anvil_setCoinbase", self.random.choice(MINERS))
        self.anvil.mine()

    def person(self):
        return self.random.choice(self.people)

    def anybody(self):
        return self.random.choice((*self.people, *STRANGERS))


def word(number):
    return f"{number:064x}"


def data(*numbers):
    return bytes.fromhex("".join(word(n) for n in numbers))


def topic(address):
    return bytes(12) + bytes.fromhex(address[2:])
