"""Tokens that nothing uses whose balances change by another contract, by coin or by a beacon, and
holders whom no Transfer names: what a door draws, all show."""

import pytest

from scan.indexer import stale_state
from tests.extensions.world import Chain
from tests.support.anvil import Contract
from tests.support.solidity import of_file

pytestmark = pytest.mark.thorough
FILE = "SilentTokens.sol"
COIN = 10**18


class Silent(Chain):
    def make(self, name, *args):
        return self.deploy(of_file(FILE)[name], *args)

    def idle(self):
        for _ in range(3):
            self.next_day()
        self.read()


@pytest.fixture
def chain(anvil, places):
    with Silent(anvil, places) as chain:
        yield chain


def far(chain, one):
    slot = chain.make("Slot")
    return chain.make("Far", slot.address, one), lambda: chain.do(slot, "set", 3 * COIN)


def shell(chain, one):
    ledger = chain.make("Ledger")
    return chain.make("Shell", ledger.address, one), lambda: chain.do(ledger, "set", 3, 6)


def backed(chain, one):
    coin, payer = chain.make("Coin"), chain.make("Pay")
    chain.do(coin, "join", one, value=1000)
    return coin, lambda: chain.do(payer, "pay", coin.address, value=2000)


def test_idle_tokens_are_read_once_a_day(chain):
    one = chain.accounts[0]
    elsewhere = [far, shell, backed]  # each returns a token, and what changes it otherwise
    changes = [make(chain, one) for make in elsewhere]
    chain.idle()
    for token, change in changes:
        assert chain.since(token) is None
        change()
    chain.read()
    for token, _ in changes:
        record = chain.token(token)
        assert record["supplyBlock"] < chain.head  # what is shown has its block
    chain.next_day()
    chain.read()
    for token, _ in changes:
        assert chain.since(token) == chain.head, token.artifact.name
        record = chain.token(token)
        assert int(record["totalSupply"]) == chain.anvil.read(token, "totalSupply")
        assert record["decimals"] == chain.anvil.read(token, "decimals")
        assert chain.holders(token) == {one: chain.balance(token, one)}
    chain.is_the_same_in_whatever_way()
    chain.fork(1)
    assert [chain.since(token) for token, _ in changes] == [None, None, None]


def test_more_idle_tokens_than_are_read_at_once_have_their_turn(chain, monkeypatch):
    monkeypatch.setattr(stale_state, "BATCH_TOKENS", 2)
    monkeypatch.setattr(stale_state, "IDLE_EVERY_S", 0.05)
    for _ in range(5):
        chain.coin()
    chain.idle()
    chain.next_day()
    chain.read()
    blocks = chain.sql("SELECT DISTINCT supply_block, read_block FROM tokens")
    assert blocks == [(chain.head, chain.head)]


def doors(token, holder):
    """Requests that draw the balance, or the supply, of the newest block."""
    call = token.data("balanceOf", holder)
    shapes = f"contractaddress={token.address}"
    return {
        "tokenbalance": f"/api?module=account&action=tokenbalance&{shapes}&address={holder}",
        "tokensupply": f"/api?module=stats&action=tokensupply&{shapes}",
        "eth_call": f"/api?module=proxy&action=eth_call&to={token.address}&data={call}&tag=latest",
    }


@pytest.mark.parametrize(
    ("door", "make"), [("tokenbalance", far), ("tokensupply", shell), ("eth_call", backed)]
)
def test_what_one_door_draws_all_show(chain, door, make):
    one = chain.accounts[0].lower()
    token, change = make(chain, one)
    chain.idle()
    before = chain.holders(token)
    change()
    chain.read()
    [shown] = chain.token(token, "/holders")["holders"]
    assert int(shown["balance"]) == before[one] != chain.balance(token, one)
    assert chain.get(doors(token, one)[door])["result"]
    assert chain.since(token) == chain.head
    assert chain.holders(token) == {one: held_by(chain, token, one)}
    assert int(chain.token(token)["totalSupply"]) == chain.anvil.read(token, "totalSupply")
    chain.fork(1, mined=2)
    assert (chain.since(token), chain.holders(token)) == (None, before)


def test_an_honest_token_stays_unmarked_by_what_doors_draw(chain):
    one, two = (account.lower() for account in chain.accounts[:2])
    coin = chain.coin()
    chain.do(coin, "transfer", two, 100)
    chain.read()
    path = f"/api?module=account&action=tokenbalancehistory&contractaddress={coin.address}"
    for holder in (one, two, f"0x{7:040x}"):
        for request in doors(coin, holder).values():
            chain.get(request)
        first = chain.head - 1
        assert chain.get(f"{path}&address={holder}&blockno={first}")["status"] == "1"
    assert chain.since(coin) is None
    # The node has a block more than is indexed: what it answers there is no contradiction.
    chain.indexing.stop()
    chain.indexing.wait_for_end()
    chain.do(coin, "transfer", two, 50)
    assert int(chain.get(doors(coin, two)["eth_call"])["result"], 16) == 150
    assert chain.since(coin) is None


def test_an_owner_that_differs_marks_its_token(chain):
    one, two = (account.lower() for account in chain.accounts[:2])
    ledger = chain.make("Ledger")
    deeds = chain.make("Deeds", ledger.address, one)
    chain.idle()
    chain.do(ledger, "give", 1, two)
    chain.read()
    assert chain.token(deeds, "/items/1")["owner"] == one
    call = deeds.data("ownerOf", 1)
    chain.get(f"/api?module=proxy&action=eth_call&to={deeds.address}&data={call}&tag=latest")
    assert chain.since(deeds) == chain.head
    assert chain.token(deeds, "/items/1")["owner"] == two
    assert chain.token(deeds, "/items")["items"][0]["owner"] == two
    assert chain.get(f"/api/v2/tokens/{deeds.address}/instances/1")["owner"]["hash"].lower() == two


def made_unnamed(chain):
    """Tokens, each with who holds most of it though no sum says so, and another holder."""
    one, two, three = (account.lower() for account in chain.accounts[:3])
    aave = chain.make("AToken")
    chain.do(aave, "supply", 100 * COIN)
    chain.anvil.call("evm_increaseTime", 3600)
    chain.do(aave, "transfer", two, 100 * COIN)
    made = [(aave, {one, two})]
    for name, function in (("DS", "mint"), ("Granter", "grant")):
        token = chain.make(name)
        chain.do(token, function, three, 9000)
        chain.do(token, function, one, 1000)
        chain.do(token, "transfer", two, 500)
        made.append((token, {one, two, three}))
    chain.read()
    return made


def held_by(chain, token, holder):
    """The balance of a token on the holder's own page, in its record and in other forms."""
    records = chain.get(f"/api/v1/addresses/{holder}/tokens")["tokens"]
    [record] = [r for r in records if r["tokenAddress"] == token.address.lower()]
    assert f'value="{record["balance"]}"' in chain.get(f"/address/{holder}?tab=tokens")
    items = chain.get(f"/api/v2/addresses/{holder}/token-balances")
    values = {item["token"]["address_hash"].lower(): item["value"] for item in items}
    assert values[token.address.lower()] == record["balance"]
    return int(record["balance"])


def test_holders_whom_no_sum_names_are_listed_and_have_it_on_their_pages(anvil, places):
    """By the rows of all logs."""
    with Silent(anvil, places, logs="all") as chain:
        for token, holders in made_unnamed(chain):
            assert set(chain.holders(token)) == holders, token.artifact.name
            for holder in holders:
                assert held_by(chain, token, holder) == chain.balance(token, holder)
            record = chain.token(token)
            assert record["rankedHolders"] == record["holderCount"] == len(holders)
            assert abs(int(record["rankedSupply"]) - int(record["totalSupply"])) <= 1


def test_which_part_the_listed_holders_have_is_said(chain):
    """Without rows of logs nothing names the largest holder, until a door draws what it has."""
    three = chain.accounts[2].lower()
    _, (token, _), _ = made_unnamed(chain)
    record = chain.token(token)
    assert (record["rankedHolders"], record["rankedSupply"]) == (2, "1000")
    assert record["totalSupply"] == "10000"
    page = " ".join(chain.get(f"/token/{token.address}").split())
    assert "The first 2 listed hold 10.0 % of the supply" in page
    assert chain.get(doors(token, three)["tokenbalance"])["result"] == "9000"
    assert chain.holders(token)[three] == 9000
    assert held_by(chain, token, three) == 9000
    assert chain.token(token)["rankedSupply"] == "10000"


def test_an_upgrade_of_a_beacon_is_read_at_its_block(chain):
    """Of tokens that nothing has used for days, with amounts as of before and after it."""
    one = chain.accounts[0].lower()
    first, second = chain.make("I1"), chain.make("I2")
    beacon = chain.make("Beacon", first.address)
    tokens = [chain.make("BProxy", beacon.address) for _ in range(2)]
    tokens = [Contract(token.address, of_file(FILE)["I1"]) for token in tokens]
    for token in tokens:
        chain.do(token, "mint", one, 5 * 10**6)
    chain.idle()
    in_block = chain.do(beacon, "upgradeTo", second.address)
    chain.read()
    for token in tokens:
        record = chain.token(token)
        assert (record["symbol"], record["decimals"], record["readBlock"]) == ("BCN2", 6, in_block)
        chain.do(token, "mint", one, 10**6)
    chain.read()
    for token in tokens:
        records = chain.token(token, "/transfers")["transfers"]
        moved = [(record["value"], record["tokenDecimals"]) for record in records]
        assert moved == [("1000000", 6), ("5000000", 18)]
        assert chain.since(token) is None
    chain.is_the_same_in_whatever_way()
    chain.fork(3)
    assert chain.token(tokens[0])["decimals"] == 18
