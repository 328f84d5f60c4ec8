"""What a contract is changes within a block, and with the code that an account delegates to."""

import pytest

from scan.commands import audit
from tests.extensions.test_contract_changes import is_the_same_in_whatever_way
from tests.extensions.test_contract_lives import EVM, Forms, mortals
from tests.support import auditing, authorizations, solidity
from tests.support.anvil import Contract
from tests.support.indexing import Indexing
from tests.support.table_digest import digest, fresh_digest

__all__ = ["mortals"]
pytestmark = pytest.mark.thorough


def in_one_block(anvil, *calls):
    """Make calls, each (contract, function, arguments), in one block, in their order."""
    me = anvil.accounts[0]
    sent = [anvil.transact(me, contract, *call, gas=4_000_000) for contract, *call in calls]
    receipts = [anvil.receipt_of(hash_) for hash_ in sent]
    assert {(receipt["status"], receipt["blockNumber"]) for receipt in receipts} == {
        ("0x1", hex(anvil.head()))
    }


def test_an_implementation_may_change_between_the_transfers_of_a_block(
    anvil, database_url, postgres, template, tmp_path
):
    me, you = anvil.accounts[:2]
    coin, second, items = (
        anvil.deploy(me, name) for name in ("MortalCoin", "SecondCoin", "MortalItems")
    )
    proxies = first, middle, last = [
        anvil.deploy(me, "Replaceable", coin.address) for _ in range(3)
    ]

    def of(proxy, implementation):
        return Contract(proxy.address, implementation.artifact)

    for proxy in proxies:
        in_one_block(anvil, (of(proxy, coin), "mint", you, 5))
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        forms = [Forms(indexing.settings, proxy.address) for proxy in proxies]
        in_one_block(
            anvil,
            (of(first, coin), "mint", you, 7),
            (first, "replace", second.address),
            (of(first, second), "mint", you, 8),
            (middle, "replace", items.address),
            (of(middle, items), "mint", you, 9),
            (of(last, coin), "mint", you, 6),
            (last, "replace", items.address),
            (of(last, items), "mint", you, 9),
        )
        anvil.mine(2)  # which a bulk backfill leaves to the indexer
        indexing.wait_for(anvil.head())
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        assert [form.token() for form in forms] == [
            ("Second", 6, "BEP20", 1, {(you, "20")}),
            ("Items", 0, "BEP721", 1, {(you, "1")}),
            ("Items", 0, "BEP721", 1, {(you, "1")}),
        ]
        assert auditing.run(indexing.settings, node=True) == audit.EXACT
        anvil.reorganise(3)
        anvil.mine(2)
        indexing.wait_for(anvil.head())
        assert [form.token() for form in forms] == [("First", 18, "BEP20", 1, {(you, "5")})] * 3
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_another_contract_may_begin_in_the_block_in_which_one_ends(
    mortals, database_url, postgres, template, tmp_path
):
    anvil = mortals.anvil
    you = anvil.accounts[1]
    mortal = mortals.bear("MortalCoin")
    mortals.do(mortal, "mint", you, 5)
    made = solidity.artifact("MortalItems", EVM)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        forms = Forms(indexing.settings, mortals.address)
        in_one_block(
            anvil,
            (mortal, "mint", you, 4),
            (mortal, "end"),
            (mortals.cradle, "bear", made.runtime),
            (Contract(mortals.address, made), "mint", you, 3),
        )
        anvil.mine(2)
        indexing.wait_for(anvil.head())
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        assert forms.token() == ("Items", 0, "BEP721", 1, {(you, "1")})
        anvil.reorganise(3)
        anvil.mine(2)
        indexing.wait_for(anvil.head())
        assert forms.token() == ("First", 18, "BEP20", 1, {(you, "5")})
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_an_account_may_delegate_to_a_token_of_another_type(
    anvil, database_url, postgres, template, tmp_path
):
    """From one to another and back, and to another contract of the same type, with transfers in the
    same blocks."""
    you = anvil.accounts[1]
    coin, second, items = (
        anvil.deploy(anvil.accounts[0], name)
        for name in ("MortalCoin", "SecondCoin", "MortalItems")
    )
    account = authorizations.new_account(9)
    address = account.address.lower()

    def delegate(contract, amount):
        signed = authorizations.authorize(
            account, contract.address, authorizations.nonce_of(anvil, account)
        )
        mint = contract.data("mint", you, amount)
        sent = authorizations.send(anvil, [signed], to=account.address, data=mint)
        assert anvil.receipt_of(sent)["status"] == "0x1"

    delegate(coin, 5)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        forms = Forms(indexing.settings, address)
        for contract, amount, token in (
            (second, 6, ("Second", 6, "BEP20", 1, {(you, "11")})),
            (items, 7, ("Items", 0, "BEP721", 1, {(you, "1")})),
            (coin, 8, ("First", 18, "BEP20", 1, {(you, "19")})),  # the account keeps its storage
        ):
            delegate(contract, amount)
            indexing.wait_for(anvil.head())
            assert forms.token() == token
        anvil.mine(2)
        indexing.wait_for(anvil.head())
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        anvil.reorganise(4)
        anvil.mine()
        indexing.wait_for(anvil.head())
        assert forms.token() == ("Second", 6, "BEP20", 1, {(you, "11")})
        assert digest(database_url) == fresh_digest(postgres, template, anvil)
