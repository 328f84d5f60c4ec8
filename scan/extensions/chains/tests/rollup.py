"""A chain of the OP Stack, played on anvil."""

import random
from collections import namedtuple

import pytest
import rlp

from tests.support import anvil, indexing
from tests.support.lists import Listed, by_links, get

DEPOSITOR = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001"
L1_BLOCK = "0x4200000000000000000000000000000000000015"
TRAP = f"0x{0xDEAD:040x}"  # fails whoever calls it
L1_HASH = "ab" * 32
PASSER = "0x4200000000000000000000000000000000000016"
FORGER = f"0x{0xF0E:040x}"
LONG_BYTES = 16_385  # above what is stored of a message
SEED, BLOCKS = 7, 14
SIGNS = {"in": 1, "out": -1, "self": 0}


class Rollup(namedtuple("Rollup", "node url client deposits")):
    """`deposits` have, by hash, the sender and what it brought."""


def attributes(number):
    """The call of Ecotone and later that tells the L1 block; only what is read here counts."""
    fields = f"{number:016x}{1_700_000_000:016x}{900 + number:016x}"
    return f"0x440a5e20{1:08x}{2:08x}{fields}{30:064x}{1:064x}{L1_HASH}{'00' * 32}"


def deposit(node, sender, to, mint=0, value=0, data="0x"):
    """Sent as it stands in a block: nobody signs it."""
    source = random.Random(repr((node.head(), sender, to, mint, value, data))).randbytes(32)
    parties = [bytes.fromhex(party[2:]) for party in (sender, to)]
    fields = [source, *parties, mint, value, anvil.GAS, 0, bytes.fromhex(data[2:])]
    return str(node.call("eth_sendRawTransaction", f"0x7e{rlp.encode(fields).hex()}"))


def balance_of(node, address):
    return int(node.call("eth_getBalance", address, "latest"), 16)


def play(node):
    """Blocks at random, each with the deposit of L1's values first, as a derived block has it."""
    choice = random.Random(SEED)
    deposit(node, DEPOSITOR, L1_BLOCK, data=attributes(0))
    purse = node.deploy(node.accounts[0], "Purse")
    node.call("anvil_setCode", TRAP, "0xfe")
    passers = [node.place(address, "MessagePasser") for address in (PASSER, FORGER)]
    people = [*node.accounts[:4], *(f"0x{n:040x}" for n in (0xAA, 0xBB, 0xCC)), purse.address]
    deposits = {}
    for number in range(BLOCKS):
        deposit(node, DEPOSITOR, L1_BLOCK, data=attributes(number))
        # The pool takes one of each sender: its deposits have a nonce like any transaction.
        for sender in choice.sample(people, 4):
            mint = choice.choice((0, 2, 10**18))
            # Where the trap is called the deposit fails; what it minted stays.
            to = choice.choice((*people, TRAP))
            value = choice.choice((0, 2)) if balance_of(node, sender) > 1 else 0
            deposits[deposit(node, sender, to, mint=mint, value=value)] = sender.lower(), mint
        for _ in range(choice.randrange(4)):
            node.send(
                choice.choice(node.accounts[4:7]),
                choice.choice(people),
                value=choice.randrange(10**6),
                maxFeePerGas=10**11,
                maxPriorityFeePerGas=choice.choice((0, 10**9)),
            )
        for contract in passers:
            _pass_messages(node, contract, number)
        node.mine()
    return deposits


def _pass_messages(node, contract, number):
    """In some blocks one with value and data, in others several by one transaction."""
    sender, target = node.accounts[7 + number % 2], node.accounts[number % 3]
    fields = {"gas": hex(3_000_000), "maxFeePerGas": 10**11, "maxPriorityFeePerGas": 0}
    if number % 4 == 1:
        call = contract.data("initiateWithdrawal", target, 21_000 + number, b"\x07" * number)
        node.send(sender, contract.address, data=call, value=number, **fields)
    elif number % 4 == 2:
        large = contract.data("initiateWithdrawal", target, 1, b"\x07" * LONG_BYTES)
        node.send(sender, contract.address, data=large, **fields)
    elif number % 4 == 3:
        node.send(
            sender, contract.address, data=contract.data("initiateMany", target, 27), **fields
        )


@pytest.fixture(scope="module")
def rollup(shared_database_url):
    url = shared_database_url
    with anvil.Anvil("--network", "optimism", hardfork="isthmus") as node:
        deposits = play(node)
        client = indexing.Indexing(url, node.url).run_until(node.head()).client()
        yield Rollup(node, url, client, deposits)


def history(client, address):
    """Its rows, and the page that says whether they are complete."""
    path = f"/addresses/{address}/history"
    return by_links(client, Listed(path, "history")), get(client, path, limit=1)
