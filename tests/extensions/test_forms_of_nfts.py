"""Items are told from amounts by what contracts answer, whatever the form of their events, in
whatever way the blocks are indexed."""

import pytest

from scan.ethereum.events import TRANSFER, TRANSFER_SINGLE
from tests.extensions.test_contract_changes import is_the_same_in_whatever_way
from tests.support import auditing
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode, refuse
from tests.support.indexing import Indexing
from tests.support.scenario.stage import data, topic
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough
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


def is_an_item_in_every_door(client, database_url, token, owner, letters):
    file = client.get(f"/api/v1/tokens/{token}/transfers?format=csv").text
    assert file.count("ERC-721") == 3 and file.count("#500") == 2, letters
    moved = f"/api?module=account&action=tokennfttx&contractaddress={token}&address={owner}"
    [row] = client.get(moved).get_json()["result"]
    assert (row["tokenID"], row["to"]) == ("500", owner), letters
    held = f"/api?module=account&action=addresstokennftinventory&address={owner}"
    inventory = client.get(f"{held}&contractaddress={token}").get_json()["result"]
    assert [entry["TokenId"] for entry in inventory] == ["500"], letters
    instance = client.get(f"/api/v2/tokens/{token}/instances/500").get_json()
    assert instance["owner"]["hash"].lower() == owner, letters
    assert client.get(f"/api/v2/tokens/{token}").get_json()["type"] == "ERC-721", letters
    moved = "SELECT token_type, token_id, token_address, to_address FROM v1.token_transfers"
    rows = execute(database_url, moved)
    assert ("BEP721", 500, token, owner) in rows, letters
    assert owner in client.get(f"/nft/{token}/500").text
    assert "500" in client.get(f"/token/{token}?tab=items").text


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
        forms = zip(contracts, FORMS, strict=True)
        items = [(contract, letters) for contract, (letters, is_item) in forms if is_item]
        assert items
        for contract, letters in items:
            is_an_item_in_every_door(client, database_url, contract.address, you, letters)
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        assert auditing.run(indexing.settings, node=True) == auditing.EXACT


def test_owners_that_change_without_an_event_are_the_contracts(anvil, database_url):
    me, you = anvil.accounts[:2]
    swapped, honest = (anvil.deploy(me, "AnyForm", b"sbod4") for _ in range(2))
    for contract in (swapped, honest):
        do(anvil, contract, "mint", me, 3)
        do(anvil, contract, "mint", you, 4)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        assert record(client, swapped.address)["eventsConsistent"]
        do(anvil, swapped, "swap", 3, 4)
        indexing.wait_for(anvil.head())
        assert not record(client, swapped.address)["eventsConsistent"]
        assert record(client, honest.address)["eventsConsistent"]
        item = record(client, f"{swapped.address}/items/3")
        assert (item["owner"], item["ownerBlock"]) == (you, anvil.head())
        assert [owner["address"] for owner in item["owners"]] == [you]
        items = record(client, f"{swapped.address}/items")["items"]
        assert {item["tokenId"]: item["owner"] for item in items} == {"3": you, "4": me}
        assert you in client.get(f"/nft/{swapped.address}/3").text
        instance = client.get(f"/api/v2/tokens/{swapped.address}/instances/3").get_json()
        assert instance["owner"]["hash"].lower() == you.lower()


def test_items_of_a_range_too_large_to_be_read_are_there(anvil, database_url):
    me, you = anvil.accounts[:2]
    contract = anvil.deploy(me, "AnyForm", b"sbo47")
    do(anvil, contract, "mintRange", me, 1, 60_000)
    do(anvil, contract, "transfer", you, 7)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client, token = indexing.client(), contract.address
        for id_, owner, transfers in ((60_000, me, 0), (7, you, 1)):
            item = record(client, f"{token}/items/{id_}")
            assert (item["owner"], item["transferCount"]) == (owner, transfers)
            assert [holder["address"] for holder in item["owners"]] == [owner]
            listed = record(client, f"{token}/items/{id_}/transfers")
            assert listed["total"] == len(listed["transfers"]) == transfers
            assert owner in client.get(f"/nft/{token}/{id_}").text
            form = f"/api/v2/tokens/{token}/instances/{id_}"
            assert client.get(form).get_json()["owner"]["hash"].lower() == owner.lower()
            assert client.get(f"{form}/transfers").get_json()["items"][transfers:] == []
        assert record(client, f"{token}/items/60000")["ownerBlock"] == anvil.head()
        assert client.get(f"/api/v1/tokens/{token}/items/60001").status_code == 404
        assert client.get(f"/nft/{token}/60001").status_code == 404


def test_a_type_that_changes_without_an_event_is_read_at_one_of_another_type(
    anvil, database_url, postgres, template, tmp_path
):
    me, you = anvil.accounts[:2]
    contract, open_, packed = (
        anvil.deploy(me, "AnyForm", letters) for letters in (b"sbDA", b"sbo", b"sbA1")
    )
    do(anvil, contract, "mint", me, 900)
    do(anvil, open_, "mintAndBurn", 500)
    do(anvil, packed, "mint", me, 900)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        types = [record(client, c.address)["type"] for c in (contract, open_, packed)]
        assert types == ["BEP20", "BEP20", "BEP20"]
        do(anvil, contract, "change", b"sbo47")
        do(anvil, packed, "change", b"sbo1")
        for changed in (contract, open_, packed):
            do(anvil, changed, "mintAndPass", you, 501)
        indexing.wait_for(anvil.head())
        for changed in (contract, open_, packed):
            assert record(client, changed.address)["type"] == "BEP721"
            assert record(client, f"{changed.address}/items/501")["owner"] == you
        moved = record(client, f"{contract.address}/transfers")["transfers"]
        assert [(t["value"], t["tokenType"]) for t in moved] == [
            ("1", "BEP721"),
            ("1", "BEP721"),
            ("900", "BEP20"),
        ]
        do(anvil, contract, "change", b"sbDA")
        for count in range(9):  # once more at 8 times the distance
            do(anvil, contract, "mint", you, 10 + count)
        indexing.wait_for(anvil.head())
        assert record(client, contract.address)["type"] == "BEP20"
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        anvil.reorganise(12)
        anvil.mine(2)
        indexing.wait_for(anvil.head())
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_nobody_holds_what_a_contract_without_functions_says(
    anvil, database_url, postgres, template, tmp_path
):
    me, you = anvil.accounts[:2]
    bare = [anvil.deploy(me, "RawLogs") for _ in range(3)]
    late = anvil.deploy(me, "AnyForm", b"A")
    parties = [topic(me), topic(you)]
    logs = (
        ([TRANSFER, *parties], data(1_000_000)),
        ([TRANSFER, *parties, data(500)], b""),
        ([TRANSFER_SINGLE, topic(me), *parties], data(7, 1_000_000)),
    )
    for contract, log in zip(bare, logs, strict=True):
        do(anvil, contract, "log", *log)
        do(anvil, contract, "log", *log)
    do(anvil, late, "mint", you, 900)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        for contract in (*bare, late):
            assert record(client, contract.address)["holderCount"] == 0
            assert record(client, f"{contract.address}/holders")["holders"] == []
            assert record(client, f"{contract.address}/transfers")["total"] > 0
        listed = client.get("/api/v1/tokens").get_json()
        assert (listed["tokens"], listed["total"]) == ([], 0)
        assert client.get("/api/v1/stats").get_json()["totalTokens"] == 0
        account = client.get(f"/api/v1/addresses/{you}").get_json()
        assert not account.get("tokens")
        for path in (
            f"/api/v1/addresses/{you}/tokens",
            f"/api/v1/addresses/{you}/tokens?blockNumber={anvil.head()}",
            f"/api/v1/addresses/{you}/items",
            f"/api/v2/addresses/{you}/tokens",
            f"/api/v2/addresses/{you}/nft",
            f"/api/v2/addresses/{you}/nft/collections",
            f"/api?module=account&action=tokenlist&address={you}",
            f"/address/{you}?tab=tokens",
            f"/address/{you}?tab=items",
        ):
            text = client.get(path).text
            assert not any(contract.address in text.lower() for contract in (*bare, late)), path
        do(anvil, late, "change", b"sbDA")
        do(anvil, late, "mint", you, 100)
        indexing.wait_for(anvil.head())
        held = record(client, f"{late.address}/holders")["holders"]
        assert {holder["address"] for holder in held} == {you}
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        anvil.reorganise(2)
        anvil.mine()
        indexing.wait_for(anvil.head())
        assert record(client, late.address)["holderCount"] == 0
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_an_item_without_an_owner_in_its_first_block_is_decided_by_the_next(
    anvil, database_url, postgres, template, tmp_path
):
    me, you = anvil.accounts[:2]
    items, hybrid = anvil.deploy(me, "AnyForm", b"sb"), anvil.deploy(me, "LateItems")
    with Indexing(database_url, anvil.url) as indexing:
        client = indexing.client()
        for contract in (items, hybrid):
            do(anvil, contract, "mint", me, 500)
        do(anvil, items, "change", b"sbo")
        do(anvil, hybrid, "open")
        for contract in (items, hybrid):
            do(anvil, contract, "mint", me, 501)
        do(anvil, items, "transfer", you, 500)
        indexing.wait_for(anvil.head())
        assert record(client, items.address)["type"] == "BEP721"
        assert record(client, f"{items.address}/items/500")["owner"] == you
        assert record(client, hybrid.address)["type"] == "BEP20"
        assert record(client, f"{hybrid.address}/items/501")["owner"] == me
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)


def test_an_item_that_is_burnt_at_first_had_an_owner_before(anvil, database_url):
    me, you = anvil.accounts[:2]
    contract = anvil.deploy(me, "AnyForm", b"sbo")
    do(anvil, contract, "mint", me, 500)
    do(anvil, contract, "mint", me, 501)
    start = anvil.head() + 1
    do(anvil, contract, "burn", 500)
    do(anvil, contract, "transfer", you, 501)
    with Indexing(database_url, anvil.url, until=anvil.head(), start_block=start) as indexing:
        client = indexing.client()
        assert record(client, contract.address)["type"] == "BEP721"
        assert record(client, f"{contract.address}/items/501")["owner"] == you


def test_of_a_pruned_state_a_later_owner_confirms_items(anvil, database_url):
    me, you = anvil.accounts[:2]
    items, coin = (anvil.deploy(me, "AnyForm", letters) for letters in (b"sbo", b"sbcA"))
    for contract in (items, coin):
        do(anvil, contract, "mint", me, 500)
        do(anvil, contract, "transfer", you, 500)
    with FaultyNode(anvil.url) as node:

        def is_of_the_past(call):
            is_state = call["method"] in ("eth_call", "eth_getCode")
            return is_state and call["params"][1] != "latest"

        node.fault = refuse(is_of_the_past, -32000, "missing trie node")
        with Indexing(database_url, node.url, until=anvil.head()) as indexing:
            client = indexing.client()
            types = [record(client, contract.address)["type"] for contract in (items, coin)]
            assert types == ["BEP721", "BEP20"]


# Which begin as what clients say where the EVM ends a call.
PASSING = [
    "static state provider is unavailable",
    "insufficient balance, please top up your account",
    "execution failed: context canceled",
    "Transaction processing could not be completed due to an exception: timeout",
    "revert to block 5 failed",
]


@pytest.mark.parametrize("words", PASSING)
def test_a_failure_in_the_words_of_a_refusal_takes_nothing_away(anvil, database_url, words):
    me, you = anvil.accounts[:2]
    items = anvil.deploy(me, "Items", "Goods", "GDS")
    do(anvil, items, "mint", you, 7, 5)
    left = iter(range(6))

    def fails(call):
        return call["method"] == "eth_call" and next(left, None) is not None

    with (
        FaultyNode(anvil.url, refuse(fails, -32000, words)) as node,
        Indexing(database_url, node.url, until=anvil.head()) as indexing,
    ):
        client = indexing.client()
        token = record(client, items.address)
        assert (token["type"], token["symbol"], token["totalSupply"]) == ("BEP1155", "GDS", "5")
        holders = record(client, f"{items.address}/holders")["holders"]
        assert [(h["address"], h["balance"]) for h in holders] == [(you, "5")]
    assert next(left, None) is None
