"""The measure is measured first: what truth.py says of the chain, against balances and by hand."""

import pytest

from tests.conftest import Played
from tests.support.anvil import ZERO, RpcError
from tests.support.scenario import STRANGERS
from tests.support.truth import created_in, direction, text_of

KEEP_THEIR_BOOKS = (
    *("dollar", "harbor", "gold", "keepers", "weth", "dweth"),
    *("NulName", "Bytes32Name", "LongName", "InvalidUtf8Name", "RevertingName", "HugeDecimals"),
    *("RevertingSupply", "GasBurner", "BrokenStrings"),
    *("Kitties", "UnindexedCoin", "Unannounced721"),
)


@pytest.mark.parametrize("key", KEEP_THEIR_BOOKS)
def test_holders_by_transfers_equal_balances(scenario: Played, key: str) -> None:
    contract = scenario.stage.contracts[key]
    addresses = [address for address in scenario.truth.addresses if address != ZERO]
    answers = scenario.anvil.batch(
        ("eth_call", [{"to": contract.address, "data": contract.data("balanceOf", each)}, "latest"])
        for each in addresses
    )
    balances = [contract.decode("balanceOf", answer) for answer in answers]
    holders = {each: n for each, n in zip(addresses, balances, strict=True) if n}
    assert scenario.truth.holders[contract.address] == holders


def test_holders_of_many_ids_equal_the_sum_of_their_balances(scenario: Played) -> None:
    contract = scenario.stage.contracts["forge"]
    transfers = [t for t in scenario.truth.token_transfers if t["tokenAddress"] == contract.address]
    ids = sorted({int(t["tokenId"]) for t in transfers})
    holders = {}
    for address in scenario.truth.addresses.keys() - {ZERO}:
        args = ([address] * len(ids), ids)
        if balance := sum(scenario.anvil.read(contract, "balanceOfBatch", *args)):
            holders[address] = balance
    assert scenario.truth.holders[contract.address] == holders


@pytest.mark.parametrize(
    ("key", "token_type", "transfers"),
    [
        ("raw", None, 0),
        ("raw coin", "BEP20", 1),
        ("staking", None, 0),
        ("dweth", "BEP20", 4),
        ("Kitties", "BEP721", 3),
        ("UnindexedCoin", "BEP20", 2),
        ("claims 721", "BEP721", 3),
        ("claims nothing", "BEP20", 4),
        ("claims all", "BEP721", 2),
        ("claims 1155", "BEP1155", 4),
    ],
)
def test_the_awkward_tokens_are_read_as_they_should(
    scenario: Played, key: str, token_type: str | None, transfers: int
) -> None:
    address = scenario.stage.contracts[key].address
    found = [t for t in scenario.truth.token_transfers if t["tokenAddress"] == address]
    types = [t["type"] for t in scenario.truth.tokens if t["address"] == address]
    assert (types, len(found)) == ([token_type] if token_type else [], transfers)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("claims 721", [("1", "81"), ("1", "71"), ("1", "71")]),
        ("claims nothing", [("3", None), ("6", None), ("2", None), ("72", None)]),
        ("claims 1155", [("4", "1"), ("9", None), ("1", "8"), ("74", "1")]),
    ],
)
def test_an_event_of_another_shape_is_read_by_the_type_of_the_token(
    scenario: Played, key: str, expected: list[tuple[str, str | None]]
) -> None:
    address = scenario.stage.contracts[key].address
    found = [t for t in scenario.truth.token_transfers if t["tokenAddress"] == address]
    assert [(t["value"], t["tokenId"]) for t in found] == expected


def test_the_liar_has_the_holders_its_events_make(scenario: Played) -> None:
    address = scenario.stage.contracts["Liar"].address
    expected = {STRANGERS[5]: 15, STRANGERS[7]: 10, STRANGERS[8]: 12 * (2**256 - 1)}
    assert scenario.truth.holders[address] == expected


def test_every_dex_name_the_scenario_can_make_is_there(scenario: Played) -> None:
    unknown = [scenario.stage.contracts[key].address for key in ("unknown-v2", "unknown-v3")]
    names = {trade["dex"] for trade in scenario.truth.dex_trades}
    assert names >= {
        *("uniswap-v2", "uniswap-v3", "pancakeswap-v2", "pancakeswap-v3"),
        *(f"v2-{unknown[0]}", f"v3-{unknown[1]}"),
        *("v2-unconfirmed", "v3-unconfirmed"),
    }


def test_pools_without_tokens_make_no_trades(scenario: Played) -> None:
    pools = {trade["pairAddress"] for trade in scenario.truth.dex_trades}
    for key in ("pool without tokens", "pool with one token", "raw"):
        assert scenario.stage.contracts[key].address not in pools


@pytest.mark.check
@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        ((10, -9), (True, 10, 9)),
        ((-9, 10), (False, 10, 9)),
        ((10, 0), (True, 10, 0)),
        ((0, 10), (False, 10, 0)),
        ((5, 7), (True, 5, 0)),
        ((-3, -4), (False, 0, 3)),
        ((0, -4), (True, 0, 4)),
        ((0, 0), (True, 0, 0)),
    ],
)
def test_direction(amounts: tuple[int, int], expected: tuple[bool, int, int]) -> None:
    assert direction(*amounts) == expected


@pytest.mark.check
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, ""),
        (b"", ""),
        (b"MKR".ljust(32, b"\0"), "MKR"),
        (bytes(32), ""),
        ((32).to_bytes(32, "big") + (3).to_bytes(32, "big") + b"abc".ljust(32, b"\0"), "abc"),
        ((32).to_bytes(32, "big") + (3).to_bytes(32, "big") + b"a\0c".ljust(32, b"\0"), "ac"),
        ((32).to_bytes(32, "big") + (99).to_bytes(32, "big") + b"abc".ljust(32, b"\0"), ""),
    ],
)
def test_text_of(answer: bytes | None, expected: str) -> None:
    assert text_of(answer, 50) == expected


@pytest.mark.check
def test_creations_that_were_undone_are_none() -> None:
    undone = {"type": "CREATE", "to": "0xaa", "error": "execution reverted", "calls": []}
    frame = {"type": "CALL", "to": "0xbb", "calls": [undone, {"type": "CREATE2", "to": "0xCC"}]}
    assert created_in(frame) == ["0xcc"]


def test_the_chain_holds_every_kind_of_transaction(scenario: Played) -> None:
    blocks = [
        scenario.anvil.call("eth_getBlockByNumber", hex(n), True)
        for n in range(scenario.anvil.head() + 1)
    ]
    assert {t["type"] for b in blocks for t in b["transactions"]} == {f"0x{n}" for n in range(5)}
    assert any(t["gasPrice"] == "0" for t in scenario.truth.transactions)
    assert {t["status"] for t in scenario.truth.transactions} == {True, False}


def test_a_poisoned_name_really_is_poison(scenario: Played) -> None:
    burner = scenario.stage.contracts["GasBurner"]
    with pytest.raises(RpcError):
        scenario.anvil.read(burner, "name")
