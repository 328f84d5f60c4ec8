"""Items are told from amounts by what contracts answer, whatever the form of their events, in
whatever way the blocks are indexed."""

import pytest

from tests.extensions.test_contract_changes import is_the_same_in_whatever_way
from tests.support.indexing import Indexing

pytestmark = pytest.mark.long
# The letters of an AnyForm, and whether its events are of items.
FORMS = [
    ("sbod4", True),
    ("sbo", True),
    ("sbod", True),
    ("sbod1", True),
    ("sbo1", True),
    ("sbo2", True),
    ("bod", True),
    ("sboD4", True),
    ("sboD", True),
    ("vboD47", True),  # vote-escrowed
    ("sbd4", True),
    ("sbd", False),
    ("sbdA", False),
    ("sbDA", False),
    ("sbcdA", False),
    ("sbcDA", False),
    ("sbA1", False),
    ("sbD4A", False),
]
LARGE = 2**200 + 7


def do(anvil, contract, function, *args):
    receipt = anvil.receipt_of(anvil.transact(anvil.accounts[0], contract, function, *args))
    assert receipt["status"] == "0x1", function


def record(client, path):
    return client.get(f"/api/v1/tokens/{path}").get_json()


def test_who_owns_an_id_says_that_events_are_of_items(
    anvil, database_url, postgres, template, tmp_path
):
    me, you = anvil.accounts[:2]
    contracts = [anvil.deploy(me, "AnyForm", letters.encode()) for letters, _ in FORMS]
    for contract in contracts:
        do(anvil, contract, "mint", me, 500)
        do(anvil, contract, "mint", me, LARGE)
        do(anvil, contract, "transfer", you, 500)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        for contract, (letters, is_item) in zip(contracts, FORMS, strict=True):
            token = contract.address
            assert record(client, token)["type"] == ("BEP721" if is_item else "BEP20"), letters
            item = record(client, f"{token}/items/500")
            assert item.get("owner") == (you if is_item else None), letters
            holders = record(client, f"{token}/holders")["holders"]
            held = {holder["address"]: int(holder["balance"]) for holder in holders}
            expected = {me: 1, you: 1} if is_item else {me: LARGE, you: 500}
            assert held == expected or (letters == "sbd"), letters
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
