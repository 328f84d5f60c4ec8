"""An index that begins at block 5 of a chain on which accounts had tokens before."""

from collections import namedtuple

import pytest

from tests.support.anvil import Anvil
from tests.support.indexing import Indexing


class Older(namedtuple("Older", "indexing token items accounts")):
    """An index from block 5 on of a token and an item that are older; accounts of their holders."""


@pytest.fixture(scope="module")
def older(postgres, template):
    """Four accounts had 100 of the token before block 5, after which they move some; one had 100 of
    item 7."""
    with Anvil() as anvil, postgres.cloned(template) as url:
        one, two, three, four, _, six = anvil.accounts[:6]
        token = anvil.deploy(one, "Coin", "Old", "OLD", 18)
        items = anvil.deploy(one, "Items", "Old items", "ITEM")
        for holder in (one, two, three, four):
            anvil.transact(one, token, "mint", holder, 100)
        anvil.transact(one, items, "mint", one, 7, 100)
        anvil.mine(5 - anvil.head())
        anvil.transact(one, token, "transfer", four, 30)
        anvil.transact(two, token, "transfer", six, 99)
        anvil.transact(four, token, "transfer", two, 10)
        anvil.transact(one, items, "safeTransferFrom", one, two, 7, 30, b"")
        anvil.mine()
        with Indexing(url, anvil.url, start_block=5, until=anvil.head()) as indexing:
            accounts = [account.lower() for account in anvil.accounts]
            yield Older(indexing, token.address.lower(), items.address, accounts)
