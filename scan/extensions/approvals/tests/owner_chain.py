"""A chain whose owner approves in every way there is, and its approvals by the API."""

from collections import namedtuple
from contextlib import contextmanager

import pytest

from scan.extensions.logs.unstored_logs import MOST_STORED_AT_ONCE
from tests.support.anvil import ZERO
from tests.support.lists import pages

PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
MOST, MOST_160 = 2**256 - 1, 2**160 - 1
FAR = 4_000_000_000


class Chain(namedtuple("Chain", "anvil owner contracts")):
    def do(self, name, function, *args, sender="", **fields):
        contract = self.contracts[name]
        sent = self.anvil.transact(sender or self.owner, contract, function, *args, **fields)
        assert self.anvil.receipt_of(sent)["status"] == "0x1", (name, function, args)

    def address(self, name):
        return self.contracts[name].address

    @contextmanager
    def undone(self):
        """Afterwards empty blocks, more than there were, are in place of all that was done."""
        snapshot = self.anvil.snapshot()
        try:
            yield
        finally:
            head = self.anvil.head()
            self.anvil.revert(snapshot)
            self.anvil.mine(head + 1 - self.anvil.head())

    def node_says(self, kind, token, to):
        """What the contract's own function returns for the owner."""
        contract = next(c for c in self.contracts.values() if c.address == token)
        if kind == "permit2":
            permits = self.contracts["permits"]
            return int(self.anvil.read(permits, "allowance", self.owner, token, to)[0])
        if kind == "operator":
            return int(self.anvil.read(contract, "isApprovedForAll", self.owner, to))
        if kind == "allowance":
            return int(self.anvil.read(contract, "allowance", self.owner, to))
        is_owner = self.anvil.read(contract, "ownerOf", int(to)) == self.owner
        return int(is_owner and self.anvil.read(contract, "getApproved", int(to)) != ZERO)


@pytest.fixture(scope="module")
def chain(shared_anvil):
    anvil = shared_anvil
    deployer, owner, *others = anvil.accounts
    names = {
        "coin": ("Coin", "Coin", "COIN", 6),
        "weth": ("WrappedEther",),
        "keepers": ("Collectible", "Keepers", "KEEP"),
        "items": ("Items", "Items", "ITEM"),
        "one": ("Taker",),
        "other": ("Taker",),
        **{f"boaster{n}": ("Boaster", n) for n in range(4)},
    }
    contracts = {name: anvil.deploy(deployer, *of) for name, of in names.items()}
    contracts["permits"] = anvil.place(PERMIT2, "PermittedTransfers")
    chain = Chain(anvil, owner, contracts)
    coin, one, other = (contracts[name].address for name in ("coin", "one", "other"))
    do = chain.do
    do("coin", "mint", owner, 1000)
    do("coin", "approve", one, MOST)
    do("coin", "approve", other, 500)
    do("other", "take", coin, owner, others[0], 200, sender=others[0])  # without an Approval
    do("coin", "approve", others[1], 70)
    do("coin", "approve", others[1], 0)
    do("coin", "approve", PERMIT2, MOST)
    do("permits", "approve", coin, one, 400, FAR)
    do("one", "takeByPermit2", PERMIT2, coin, owner, others[0], 150, sender=others[0])
    do("permits", "permit", owner, coin, other, MOST_160, 1_000)  # has expired
    do("permits", "approve", coin, others[2], 9, FAR)
    do("permits", "lockdown", [(coin, others[2])])
    do("permits", "approve", coin, others[3], MOST_160, FAR)
    do("weth", "deposit", value=40)
    do("weth", "approve", other, 10**30)
    for token_id in (1, 2, 3, 4):
        do("keepers", "mint", owner, token_id)
        do("keepers", "approve", one, token_id)
    do("keepers", "transferFrom", owner, others[0], 2)  # clears it without an event
    do("keepers", "approve", other, 3)
    do("keepers", "burn", 4)
    do("keepers", "setApprovalForAll", other, True)
    do("items", "mint", owner, 7, 50)
    do("items", "setApprovalForAll", one, True)
    do("items", "setApprovalForAll", other, True)
    do("items", "setApprovalForAll", other, False)
    anvil.mine(MOST_STORED_AT_ONCE)  # events that an index without logs asks the node for
    return chain


def key_of(record):
    return record["kind"], record["tokenAddress"], record["tokenId"] or record["spender"]


def by_key(client, owner, **filters):
    path = f"/addresses/{owner}/approvals"
    return {key_of(r): r for r in pages(client, path, "approvals", 3, **filters)}
