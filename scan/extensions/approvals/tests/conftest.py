"""A chain of approvals, which the folder's tests share."""

import pytest

from scan.extensions.approvals.tests.owner_chain import PERMIT2, Chain, act
from scan.extensions.logs.unstored_logs import MOST_STORED_AT_ONCE
from tests.support.anvil import Anvil


@pytest.fixture(scope="package")
def chain():
    with Anvil() as anvil:
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
        act(chain, others)
        anvil.mine(MOST_STORED_AT_ONCE)  # events that an index without logs asks the node for
        yield chain
