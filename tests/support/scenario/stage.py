"""Who acts on a node, what stands on it, and the one source of chance."""

import random
from typing import Any

from eth_utils import keccak

from tests.support.anvil import Anvil, Contract

MNEMONIC = "test test test test test test test test test test test junk"
ETHER = 10**18
GWEI = 10**9
MOST = 2**256 - 1
MINERS = tuple("0x" + keccak(text=f"miner {n}")[12:].hex() for n in range(3))
STRANGERS = tuple("0x" + keccak(text=f"stranger {n}")[12:].hex() for n in range(40))


class Stage:
    """The node, who acts on it, what stands on it, and the one source of chance."""

    def __init__(self, anvil: Anvil, seed: int = 1) -> None:
        self.anvil = anvil
        self.random = random.Random(seed)
        self.people = anvil.accounts
        self.contracts: dict[str, Contract] = {}
        self.pools: dict[str, Contract] = {}
        self.collectibles: list[tuple[int, str]] = []

    def deploy(self, key: str, name: str, *args: Any) -> Contract:
        self.anvil.call("anvil_setCoinbase", self.random.choice(MINERS))
        self.contracts[key] = self.anvil.deploy(self.people[0], name, *args)
        return self.contracts[key]

    def do(self, who: int | str, key: str, function: str, *args: Any, **fields: Any) -> str:
        """One call of a contract, by the number or the address of who sends it."""
        sender = self.people[who] if isinstance(who, int) else who
        return self.anvil.transact(sender, self.contracts[key], function, *args, **fields)

    def mine(self) -> None:
        self.anvil.call("anvil_setCoinbase", self.random.choice(MINERS))
        self.anvil.mine()

    def person(self) -> str:
        return self.random.choice(self.people)

    def anybody(self) -> str:
        return self.random.choice((*self.people, *STRANGERS))


def word(number: int) -> str:
    return f"{number:064x}"


def data(*numbers: int) -> bytes:
    return bytes.fromhex("".join(word(n) for n in numbers))


def topic(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])
