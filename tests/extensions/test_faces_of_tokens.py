"""The shape of an event says what moved, and a contract's functions which faces it has, in whatever
way the blocks are indexed."""

import pytest

from scan.ethereum.events import ERC20_TRANSFER, ERC721_TRANSFER, TRANSFER, TRANSFER_BATCH
from tests.extensions.test_contract_changes import is_the_same_in_whatever_way
from tests.support.anvil import ZERO
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.scenario.stage import data, topic
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough
UNIT = 10**18


@pytest.fixture
def index(anvil, database_url, postgres, template, tmp_path):
    """Return a function that indexes what is mined, and gives a function of a path's JSON."""

    def read():
        with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
            client = indexing.client()
            is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)

            def get(path):
                """Of a path of a token, whose page is there, too, or of another one."""
                token = path.partition("/")[0]
                if token:
                    assert client.get(f"/token/{token}").status_code in (200, 404)
                    path = f"/api/v1/tokens/{path}"
                answer = client.get(path)
                return answer.get_json() if answer.is_json else answer.text

            return get

    return read


def holders(get, contract):
    records = get(f"{contract.address}/holders")["holders"]
    return {record["address"]: int(record["balance"]) for record in records}


def values(get, contract):
    records = get(f"{contract.address}/transfers")["transfers"]
    return sorted(
        (int(record["value"]), record["tokenId"], record["tokenType"]) for record in records
    )


def do(anvil, contract, function, *args, **fields):
    sender = anvil.accounts[0]
    receipt = anvil.receipt_of(anvil.transact(sender, contract, function, *args, **fields))
    assert receipt["status"] == "0x1", function


def test_a_deposit_of_a_vault_and_of_a_staking_token_moves_nothing_itself(anvil, index):
    me = anvil.accounts[0]
    vault = anvil.deploy(me, "ShareVault")
    staked = anvil.deploy(me, "StakedCoin", 1000 * UNIT)
    do(anvil, vault, "put", 100 * UNIT)
    do(anvil, vault, "put", 100, value=100)  # that much coin moved, and shares were minted for it
    do(anvil, staked, "stake", 400 * UNIT)
    get = index()
    assert holders(get, vault) == {me: 80 * UNIT + 80}
    assert values(get, vault) == [(80, None, "BEP20"), (80 * UNIT, None, "BEP20")]
    assert holders(get, staked) == {me: 600 * UNIT, staked.address: 400 * UNIT}
    assert len(values(get, staked)) == 2


@pytest.mark.parametrize(
    ("items_first", "names"), [(False, 0), (True, 0), (True, 1), (False, 2), (True, 3)]
)
def test_a_token_with_two_faces_has_amounts_and_items(anvil, index, items_first, names):
    me, you = anvil.accounts[:2]
    hybrid = anvil.deploy(me, "WholeUnits", 3, items_first, names)
    do(anvil, hybrid, "pass", you, 2)
    get = index()
    record = get(hybrid.address)
    assert (record["type"], record["itemCount"], record["eventsConsistent"]) == ("BEP20", 3, True)
    assert holders(get, hybrid) == {me: 2 * UNIT, you: UNIT}
    items = get(f"{hybrid.address}/items")["items"]
    assert {item["tokenId"]: item["owner"] for item in items} == {"1": me, "2": you, "3": me}
    assert values(get, hybrid) == [
        *((1, str(id_), "BEP721") for id_ in (1, 2, 2, 3)),
        *((count * UNIT, None, "BEP20") for count in (1, 3)),
    ]
    for type_, count in (("BEP20", 2), ("BEP721", 4), ("BEP1155", 0)):
        rows = get(f"{hybrid.address}/transfers?tokenType={type_}")["transfers"]
        assert [row["tokenType"] for row in rows] == count * [type_]
    item = get(f"{hybrid.address}/items/2")
    assert (item["owner"], item["tokenType"]) == (you, "BEP721")


@pytest.mark.parametrize("names", [1, 2])
def test_an_amount_of_a_face_that_did_not_move_is_marked(anvil, index, names):
    me, you = anvil.accounts[:2]
    hybrid = anvil.deploy(me, "WholeUnits", 3, False, names)
    do(anvil, hybrid, "claim", you, UNIT)
    get = index()
    record = get(hybrid.address)
    assert record["eventsConsistent"] is False
    assert record["inconsistentSince"] == anvil.head()
    assert holders(get, hybrid) == {me: 3 * UNIT}


def test_events_of_faces_are_no_token_where_the_contract_answers_as_none(anvil, index):
    me, you = anvil.accounts[:2]
    parties = [topic(me), topic(you)]
    raw = anvil.deploy(me, "RawLogs")
    for _ in range(2):
        do(anvil, raw, "log", [ERC20_TRANSFER, *parties], data(5))
        do(anvil, raw, "log", [ERC721_TRANSFER, *parties, data(5)], b"")
    coin = anvil.deploy(me, "SilentCoin", 1000, True, False)
    do(anvil, coin, "transfer", you, 100)
    get = index()
    assert "error" in get(raw.address)
    assert get("/api/v1/tokens")["total"] == 1


def test_an_erc1155_that_logs_amounts_too_counts_once(anvil, index):
    me = anvil.accounts[0]
    twice = anvil.deploy(me, "TwiceLogged")
    do(anvil, twice, "mint", me, 7, 100)
    get = index()
    assert get(twice.address)["type"] == "BEP1155"
    assert holders(get, twice) == {me: 100}
    assert values(get, twice) == [(100, "7", "BEP1155")]


AMOUNT, ITEM = (100 * UNIT, None, "BEP20"), (1, "7", "BEP721")
MULTI, OF_ID = (5, "7", "BEP1155"), (5, "7", "BEP6909")
ERC721, ERC1155 = "80ac58cd", "d9b67a26"
# What a contract has (decimals, supply, balances, of ids, approval of all; an EIP-165 interface),
# and its events (amount, item, consecutive, multi, 6909): its type, and transfers.
SOME_FUNCTIONS = [
    ("sbi", "", "a", "BEP20", [AMOUNT]),
    ("sbi", "", "i", "BEP721", [ITEM]),
    ("sbia", "", "i", "BEP721", [ITEM]),
    ("sbia", "", "am", "BEP20", [MULTI, AMOUNT]),
    ("bia", "", "am", "BEP20", [MULTI, AMOUNT]),
    ("b", "", "ma", "BEP20", [AMOUNT]),
    ("dsb", "", "ma", "BEP20", [AMOUNT]),
    ("dsb", "", "6a", "BEP20", [AMOUNT]),
    ("dsb", "", "c", "BEP20", []),
    ("sb", "", "c", "BEP721", [ITEM]),
    ("i", "", "6", "BEP6909", [OF_ID]),
    ("bi", ERC1155, "m", "BEP1155", [MULTI]),
    ("i", ERC1155, "m", "BEP1155", [MULTI]),
    ("i", ERC1155, "a", "BEP1155", []),
    ("i", ERC1155, "i", "BEP1155", []),
    ("ia", "", "a", "BEP1155", []),
    ("sb", ERC721, "m", "BEP721", []),
]


def test_an_event_says_what_moved_whichever_functions_a_contract_has(anvil, index):
    me = anvil.accounts[0]
    contracts = []
    for functions, interface, standards, *_ in SOME_FUNCTIONS:
        interface_ = bytes.fromhex(interface).ljust(4, b"\0")
        contract = anvil.deploy(me, "SomeFunctions", functions.encode(), interface_)
        contracts.append(contract)
        for standard in standards:
            value = {"a": 100 * UNIT, "i": 1, "c": 1}.get(standard, 5)
            do(anvil, contract, "mint", standard.encode(), 7, value)
    get = index()
    for contract, (*case, type_, moved) in zip(contracts, SOME_FUNCTIONS, strict=True):
        record = get(contract.address)
        assert (record["type"], values(get, contract)) == (type_, moved), case
        count = sum(id_ is not None for _, id_, _ in moved)
        assert record["itemCount"] == (None if type_ == "BEP20" and not count else count), case
        held = sum(value for value, _, of in moved if of == type_)
        assert holders(get, contract) == ({me: held} if moved else {}), case
        page = get(f"/api/v1/addresses/{me}/history?token={contract.address}")
        assert (record["eventsConsistent"] and page["complete"]) or not moved, case


def test_a_batch_of_no_ids_says_nothing_of_what_its_contract_is(anvil, index):
    me = anvil.accounts[0]
    empty, coin = (anvil.deploy(me, "RawLogs") for _ in range(2))
    for raw in (empty, coin):
        do(anvil, raw, "log", [TRANSFER_BATCH, *map(topic, (me, ZERO, me))], data(64, 96, 0, 0))
    do(anvil, coin, "log", [TRANSFER, topic(ZERO), topic(me)], data(100))
    get = index()
    assert "error" in get(empty.address)
    assert get(coin.address)["type"] == "BEP20"
    assert values(get, coin) == [(100, None, "BEP20")]
    assert holders(get, coin) == {}  # it has no function that says so


def test_an_indexed_value_of_a_token_with_decimals_is_an_amount(anvil, index):
    me = anvil.accounts[0]
    indexed = anvil.deploy(me, "IndexedValue")
    do(anvil, indexed, "mint", me, 5 * UNIT)
    get = index()
    assert get(indexed.address)["type"] == "BEP20"
    assert holders(get, indexed) == {me: 5 * UNIT}


def test_a_burn_and_a_withdrawal_of_one_amount_are_both_counted(anvil, index):
    me = anvil.accounts[0]
    wrapper = anvil.deploy(me, "BurntWrapper")
    do(anvil, wrapper, "nothing")  # it is known as a token before it wraps
    do(anvil, wrapper, "depositTo", me, value=500)
    do(anvil, wrapper, "burnAndWithdraw", 100)
    get = index()
    assert holders(get, wrapper) == {me: 300}
    assert [value for value, *_ in values(get, wrapper)] == [0, 100, 100, 500]


def test_a_fork_takes_back_that_a_token_wraps(anvil, database_url, postgres, template):
    me = anvil.accounts[0]
    wrapper = anvil.deploy(me, "BurntWrapper")
    do(anvil, wrapper, "nothing")
    do(anvil, wrapper, "depositTo", me, value=500)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        wraps = "SELECT wraps_since IS NOT NULL FROM tokens"
        assert execute(database_url, wraps) == [(True,)]
        anvil.reorganise(1)
        anvil.mine(2)
        indexing.wait_for(anvil.head())
        assert execute(database_url, wraps) == [(False,)]
        assert digest(database_url) == fresh_digest(postgres, template, anvil)
