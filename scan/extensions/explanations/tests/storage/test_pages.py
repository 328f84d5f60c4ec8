"""The tab with a contract's variables, and the names beside the slots of a transaction."""

import re

import pytest

from scan.extensions.explanations.tests.storage.conftest import KEPT, PATH, deploy
from tests.support.anvil import calldata

WHO = "0x" + 18 * "5e" + "0abc"


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.text))


def tab(of, **query):
    query = {"tab": "storage", **query}
    return of.explorer.client.get(f"/address/{of.address}", query_string=query)


@pytest.fixture(scope="module")
def sent(kept):
    kept.explorer.send(kept.address, calldata("write(string,bytes)", "words " * 20, b"\x01"))
    return kept.explorer.send(
        kept.address, calldata("set(address,uint256)", WHO, 1234567), gas=5_000_000
    )


def test_the_tab_of_a_contract(kept, sent):
    page = tab(kept)
    assert page.status_code == 200 and "Storage" in page.text
    text = text_of(page)
    for shown in ("total uint256 1,234,567", "packed.flag bool true", "words words", "by key"):
        assert shown in text, shown
    page = tab(kept, variable=f"balances[{WHO}]")
    assert f"balances[{WHO}] uint256 1,234,567" in text_of(page)


def test_contracts_in_variables_have_their_names(kept):
    holding = deploy(kept.explorer, {PATH: KEPT}, PATH, "Kept")
    data = calldata("set(address,uint256)", kept.address, 5)
    kept.explorer.send(holding.address, data, gas=5_000_000)
    text = text_of(tab(holding, variable="other"))
    assert f"other contract kept kept {kept.address[:6]}" in text.lower()


def test_a_contract_without_a_layout(kept):
    address = kept.explorer.place("0x5f3560015500")
    page = kept.explorer.client.get(f"/address/{address}?tab=storage")
    assert page.status_code == 200
    assert "No storage layout of this contract" in page.text


def test_names_beside_the_slots_of_a_transaction(kept, sent):
    page = kept.explorer.client.get(f"/tx/{sent}?tab=state")
    assert page.status_code == 200
    text = text_of(page)
    assert f"balances[{WHO}] uint256" in text
    assert "packed.below int40 0 → -5" in text
    assert "0x12d687" in page.text  # the slot's own word
