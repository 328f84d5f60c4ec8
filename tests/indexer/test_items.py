"""Who owns which id, through forks and lies: as the contracts themselves say, and a fresh index."""

import random
from collections.abc import Callable

import pytest

from app import create_app
from tests.support.anvil import ZERO, Anvil, Contract, RpcError
from tests.support.database import Postgres
from tests.support.indexing import Indexing
from tests.support.items import items_of, require_same_items
from tests.support.scenario import ERC721, ERC1155, MOST
from tests.support.table_digest import digest, fresh_digest
from tests.support.truth import read_truth

IDS = (*range(9), 2**64, MOST - 1, MOST)
DEEPEST = 12


class Trading:
    """Mints, transfers, burns and batches by chance, honest and invented, some of them failing."""

    def __init__(self, anvil: Anvil, seed: int) -> None:
        self.anvil = anvil
        self.random = random.Random(seed)
        self.people = anvil.accounts[:4]
        deployer = anvil.accounts[9]
        self.keepers = anvil.deploy(deployer, "Collectible", "Lantern Keepers", "LAMP")
        self.forge = anvil.deploy(deployer, "Items", "Forge and Field", "FORGE")
        self.liar = anvil.deploy(deployer, "ShapeShifter", ERC721, False)
        self.forger = anvil.deploy(deployer, "ShapeShifter", ERC1155, False)

    def block(self) -> None:
        acts: tuple[Callable[[], None], ...] = (
            *(self._mint, self._transfer, self._burn),
            *(self._mint_batch, self._send_items, self._send_batch, self._burn_items),
            *(self._lie, self._forge),
        )
        for act in self.random.choices(acts, k=self.random.randint(0, 8)):
            act()
        self.anvil.mine()

    def _do(self, contract: Contract, function: str, *args: object, gas: int = 900_000) -> None:
        self.anvil.transact(self._person(), contract, function, *args, gas=gas)

    def _person(self) -> str:
        return self.random.choice(self.people)

    def _party(self) -> str:
        return self.random.choice((*self.people, ZERO))

    def _id(self) -> int:
        return self.random.choice(IDS)

    def _batch(self, most: int) -> tuple[list[int], list[int]]:
        ids = [self._id() for _ in range(self.random.randint(0, 5))]  # the same one twice, too
        return ids, [self.random.randint(0, most) for _ in ids]

    def _mint(self) -> None:
        self._do(self.keepers, "mint", self._person(), self._id())

    def _transfer(self) -> None:
        sender = self._person()
        args = (sender, self._person(), self._id())  # to oneself, too
        self.anvil.transact(sender, self.keepers, "transferFrom", *args)

    def _burn(self) -> None:
        self._do(self.keepers, "burn", self._id())

    def _mint_batch(self) -> None:
        self._do(self.forge, "mintBatch", self._person(), *self._batch(9))

    def _send_items(self) -> None:
        sender = self._person()
        args = (sender, self._person(), self._id(), self.random.randint(0, 5), b"")
        self.anvil.transact(sender, self.forge, "safeTransferFrom", *args)

    def _send_batch(self) -> None:
        sender = self._person()
        args = (sender, self._person(), *self._batch(3), b"")
        self.anvil.transact(sender, self.forge, "safeBatchTransferFrom", *args)

    def _burn_items(self) -> None:
        self._do(self.forge, "burnBatch", self._person(), *self._batch(3))

    def _lie(self) -> None:
        self._do(self.liar, "fourTopics", self._party(), self._party(), self._id())

    def _forge(self) -> None:
        amount = self.random.choice((0, 1, 7, MOST))
        self._do(self.forger, "single", self._party(), self._party(), self._id(), amount)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_owners_are_those_of_the_contracts_through_forks(
    postgres: Postgres, template: str, database_url: str, anvil: Anvil, seed: int
) -> None:
    trading = Trading(anvil, seed)
    with Indexing(database_url, anvil.url) as indexing:
        for _ in range(5):
            for _ in range(6):
                trading.block()
            snapshot = anvil.snapshot()
            for _ in range(trading.random.randint(1, DEEPEST)):
                trading.block()
            indexing.wait_for(anvil.head())
            depth = anvil.head()
            anvil.revert(snapshot)
            while anvil.head() <= depth:
                trading.block()
            indexing.wait_for(anvil.head())
            anvil.reorganise(trading.random.randint(1, DEEPEST))
            trading.block()
            indexing.wait_for(anvil.head())
        client = create_app(indexing.settings).test_client()
        truth = read_truth(anvil)
        require_same_items(client, truth.token_transfers, truth.addresses)
    require_contracts_agree(trading, truth.token_transfers)
    assert digest(database_url) == fresh_digest(postgres, template, anvil)


def require_contracts_agree(trading: Trading, transfers: list[dict[str, object]]) -> None:
    """The measure is measured: what events add up to is what honest contracts return."""
    items = items_of(transfers)
    for item in items[trading.keepers.address]:
        try:
            owner = trading.anvil.read(trading.keepers, "ownerOf", int(item.token_id))
        except RpcError:
            owner = None
        assert item.owner == owner
    for item in items[trading.forge.address]:
        for person in trading.people:
            args = (person, int(item.token_id))
            balance = trading.anvil.read(trading.forge, "balanceOf", *args)
            assert item.owners().get(person, 0) == balance
    assert len(items[trading.keepers.address]) > 5 and len(items[trading.forge.address]) > 5
    assert any(much < 0 for i in items[trading.forger.address] for much in i.balances.values())


def test_long_lists_of_an_item_and_of_items_through_forks(
    postgres: Postgres, template: str, database_url: str, anvil: Anvil
) -> None:
    """Longer than the distance of checkpoints, and back below it."""
    sender = anvil.accounts[0]
    forge = anvil.deploy(sender, "Items", "Forge and Field", "FORGE")
    with Indexing(database_url, anvil.url) as indexing:
        for first in (0, 90, 180, 270):
            ids = list(range(first, first + 90))
            anvil.transact(sender, forge, "mintBatch", sender, ids, [1] * 90, gas=12_000_000)
            anvil.transact(sender, forge, "mintBatch", sender, [5] * 90, [2] * 90, gas=12_000_000)
            anvil.mine()
        indexing.wait_for(anvil.head())
        for depth in (1, 2):
            anvil.reorganise(depth)
            anvil.transact(sender, forge, "mint", sender, 5, 1)
            anvil.mine(2)
            indexing.wait_for(anvil.head())
            client = create_app(indexing.settings).test_client()
            truth = read_truth(anvil)
            require_same_items(client, truth.token_transfers, (), deep=False)
            five = f"/api/v1/tokens/{forge.address}/items/5"
            assert client.get(f"{five}/transfers?page=2&limit=100").json["transfers"]
            assert digest(database_url) == fresh_digest(postgres, template, anvil)
