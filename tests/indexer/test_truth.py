"""The measure is measured first: what tests.support.truth says, against balances and by hand."""

import pytest

from tests.support.anvil import ZERO
from tests.support.scenario.stage import STRANGERS
from tests.support.truth.tokens import holders_by_transfers

KEEP_THEIR_BOOKS = """
    dollar harbor gold keepers weth dweth
    NulName Bytes32Name LongName InvalidUtf8Name RevertingName HugeDecimals
    RevertingSupply GasBurner BrokenStrings
    Kitties UnindexedCoin Unannounced721
""".split()


@pytest.mark.parametrize("key", KEEP_THEIR_BOOKS)
def test_holders_by_transfers_equal_balances(scenario, key):
    contract = scenario.stage.contracts[key]
    addresses = [address for address in scenario.truth.addresses if address != ZERO]
    answers = scenario.anvil.batch(
        ("eth_call", [{"to": contract.address, "data": contract.data("balanceOf", a)}, "latest"])
        for a in addresses
    )
    balances = [contract.decode("balanceOf", answer) for answer in answers]
    holders = {a: n for a, n in zip(addresses, balances, strict=True) if n}
    assert scenario.truth.holders[contract.address] == holders


def test_holders_of_many_ids_equal_the_sum_of_their_balances(scenario):
    contract = scenario.stage.contracts["forge"]
    transfers = [t for t in scenario.truth.token_transfers if t["tokenAddress"] == contract.address]
    ids = sorted({int(t["tokenId"]) for t in transfers})
    balances = {
        address: sum(scenario.anvil.read(contract, "balanceOfBatch", [address] * len(ids), ids))
        for address in scenario.truth.addresses.keys() - {ZERO}
    }
    holders = {address: balance for address, balance in balances.items() if balance}
    assert scenario.truth.holders[contract.address] == holders != {}


AWKWARD = [
    ("raw", None, 0),
    ("raw coin", None, 1),
    ("staking", None, 0),
    ("dweth", "BEP20", 3),
    ("Kitties", "BEP721", 3),
    ("UnindexedCoin", "BEP20", 2),
    ("claims 721", "BEP721", 2),
    ("claims nothing", "BEP20", 3),
    ("claims all", "BEP20", 2),
    ("claims 1155", "BEP1155", 2),
]


@pytest.mark.parametrize(("key", "token_type", "transfers"), AWKWARD)
def test_the_awkward_tokens_are_read_as_they_should(scenario, key, token_type, transfers):
    address = scenario.stage.contracts[key].address
    rows = [t for t in scenario.truth.token_transfers if t["tokenAddress"] == address]
    types = [t["type"] for t in scenario.truth.tokens if t["address"] == address]
    assert (types, len(rows)) == ([token_type] if token_type else [], transfers)


OTHER_STANDARDS = [
    ("claims 721", [("1", "71"), ("1", "71")]),
    ("claims nothing", [("3", None), ("2", None), ("72", None)]),
    ("claims 1155", [("4", "1"), ("74", "1")]),
]


@pytest.mark.parametrize(("key", "expected"), OTHER_STANDARDS)
def test_an_event_of_another_standard_moves_nothing(scenario, key, expected):
    address = scenario.stage.contracts[key].address
    rows = [t for t in scenario.truth.token_transfers if t["tokenAddress"] == address]
    assert [(t["value"], t["tokenId"]) for t in rows] == expected


def test_the_liar_has_the_holders_its_events_make(scenario):
    address = scenario.stage.contracts["Liar"].address
    expected = {STRANGERS[5]: 15, STRANGERS[7]: 10, STRANGERS[8]: 12 * (2**256 - 1)}
    assert holders_by_transfers(scenario.truth.token_transfers)[address] == expected
    assert set(scenario.truth.holders[address].values()) == {10**24}  # as it answers
