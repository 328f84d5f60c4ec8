"""Of two tokens with one symbol the older is the original, whatever anybody makes for gas: events,
holders, an old contract that waits or is renamed; and both are told apart in neutral words."""

import pytest

from scan.indexer import stale_state
from tests.extensions.test_sums_of_events import Chain
from tests.support.database import execute, insert
from tests.support.indexing import Indexing


@pytest.fixture
def chain(anvil, database_url):
    with Indexing(database_url, anvil.url) as indexing:
        yield Chain(anvil, indexing, database_url, indexing.client())


class Tokens:
    """Tokens of Misleading.sol, and what is said of them."""

    def __init__(self, chain):
        self.chain = chain

    def deploy(self, symbol, sender=0):
        return self.chain.anvil.deploy(self.chain.anvil.accounts[sender], "Named", symbol)

    def original(self):
        coin = self.deploy("ACME")
        for holder in self.chain.anvil.accounts[:8]:
            self.chain.do(coin, "mint", holder, 10**9)
        return coin

    def poison(self, coin):
        """Moves a victim's units in a transaction of another."""
        one, two = self.chain.anvil.accounts[1:3]
        self.chain.do(coin, "transferFrom", one, two, 1, sender=3)

    def namesake(self, coin):
        return self.chain.get(f"/api/v1/tokens/{coin.address}")["largerNamesake"]

    def suspicion(self, coin):
        [newest, *_] = self.chain.get(f"/api/v1/tokens/{coin.address}/transfers")["transfers"]
        return newest["suspicious"]

    def order(self):
        return [record["address"] for record in self.chain.get("/api/v1/tokens")["tokens"]]

    def search(self, text="ACME"):
        return [r["value"] for r in self.chain.get(f"/api/v1/search?q={text}")["results"]]


@pytest.fixture
def tokens(chain):
    return Tokens(chain)


READINGS = [
    ((9, "Coin", "CO"), (None, None)),
    ((9, "Other", "CO"), (9, None)),
    ((9, "Coin", "OTHER"), (None, 9)),
    ((9, "Other", "OTHER"), (9, 9)),
    ((5, "Other", "OTHER"), (None, None)),  # in its first block
    ((None, "", ""), (None, None)),  # the supply alone was read
]


@pytest.mark.parametrize(("reading", "since"), READINGS)
def test_a_text_is_as_old_as_its_token_until_another_is_read(
    database, database_url, reading, since
):
    address = b"\1" * 20
    token = {"address": address, "block_number": 5, "type": "BEP20", "name": "Coin", "symbol": "CO"}
    insert(database_url, "tokens", **token)
    read_block, name, symbol = reading
    values = {"supplies": 1, "block_numbers": 9, "read_blocks": read_block, "names": name}
    values |= {"symbols": symbol, "decimals": 18, "inconsistent": None, "contradicted": None}
    with database.transaction() as tx:
        tx.execute(
            "indexer/tokens_refresh", addresses=[address], **{k: [v] for k, v in values.items()}
        )
    stored = "SELECT name_since, symbol_since FROM tokens"
    assert execute(database_url, stored) == [since]


@pytest.mark.thorough
def test_phantom_transfers_make_no_original(tokens):
    chain = tokens.chain
    real, false = tokens.original(), tokens.deploy("ACME", sender=4)
    chain.do(false, "fake", 300, gas=2_000_000, sender=4)
    chain.do(false, "mint", chain.anvil.accounts[1], 5, sender=4)
    tokens.poison(real)
    tokens.poison(false)
    chain.read()
    api = f"/api/v1/tokens/{false.address}"
    assert (tokens.namesake(real), tokens.namesake(false)) == (None, real.address)
    assert (tokens.suspicion(real), tokens.suspicion(false)) == (None, "imitation")
    assert tokens.order() == [real.address, false.address]
    assert tokens.search() == [real.address, false.address]
    records = chain.get("/api/v1/tokens")["tokens"]
    assert [(r["holderCount"], r["address"]) for r in records] == sorted(
        ((r["holderCount"], r["address"]) for r in records), reverse=True
    )
    assert records[1]["holderCount"] == 0 and "inconsistentSince" in records[1]
    assert chain.get(f"{api}")["eventsConsistent"] is False
    assert chain.get(f"{api}/holders/change")["change"] is None
    v2 = [item["address_hash"].lower() for item in chain.get("/api/v2/tokens")["items"]]
    assert v2 == [real.address, false.address]
    rows = execute(chain.url, "SELECT address, holder_count FROM v1.tokens ORDER BY 2 DESC")
    assert rows == [(real.address, 8), (false.address, 0)]
    page = chain.text(f"/token/{false.address}")
    assert "same symbol as <bdi>ACME</bdi>, 8 holders since 20" in page
    assert "same symbol" not in chain.text(f"/token/{real.address}")
    namesake = chain.get(api)["namesake"]
    assert namesake["holderCount"] == 8 and namesake["sharedText"] == "symbol"
    assert namesake["firstSeen"] == chain.get(f"/api/v1/tokens/{real.address}")["firstSeen"]


@pytest.mark.thorough
@pytest.mark.parametrize(("is_to_all", "first"), [(True, 0), (False, 1)])
def test_answers_that_agree_with_phantoms_make_no_original(tokens, is_to_all, first):
    """Who answers the same balance for everybody is found by an address that nobody names; a rule
    that has what events name is consistent, and has its rank by holders, but no name."""
    chain = tokens.chain
    real, false = tokens.original(), tokens.deploy("ACME", sender=4)
    chain.do(false, "pretend", is_to_all, sender=4)
    chain.do(false, "fake", 300, gas=2_000_000, sender=4)
    chain.read()
    assert (tokens.namesake(real), tokens.namesake(false)) == (None, real.address)
    assert tokens.search() == [real.address, false.address]
    assert chain.get(f"/api/v1/tokens/{false.address}")["eventsConsistent"] is not is_to_all
    assert tokens.order()[0] == (real, false)[first].address


@pytest.mark.thorough
def test_real_units_of_many_holders_make_no_original(tokens):
    chain = tokens.chain
    real, false = tokens.original(), tokens.deploy("ACME", sender=4)
    chain.do(false, "mintMany", 60, gas=3_000_000, sender=4)
    tokens.poison(real)
    chain.read()
    assert (tokens.namesake(real), tokens.namesake(false)) == (None, real.address)
    assert (tokens.suspicion(real), tokens.search()[0]) == (None, real.address)


@pytest.mark.thorough
def test_an_older_contract_that_takes_the_name_later_is_no_original(tokens):
    chain = tokens.chain
    waiting, renamed = tokens.deploy("ACME", sender=4), tokens.deploy("OLD", sender=4)
    chain.do(renamed, "mint", chain.anvil.accounts[4], 1, sender=4)
    chain.anvil.mine(20)
    real = tokens.original()
    chain.do(waiting, "mint", chain.anvil.accounts[4], 1, sender=4)
    chain.read()
    chain.do(renamed, "label", "ACME", sender=4)
    chain.anvil.mine(600)
    chain.do(renamed, "mint", chain.anvil.accounts[4], 1, sender=4)
    chain.do(real, "mint", chain.anvil.accounts[4], 1, sender=5)
    tokens.poison(real)
    chain.read()
    assert chain.get(f"/api/v1/tokens/{renamed.address}")["symbol"] == "ACME"
    assert tokens.namesake(real) is None
    assert (tokens.namesake(waiting), tokens.namesake(renamed)) == (real.address, real.address)
    assert tokens.suspicion(real) is None


@pytest.mark.thorough
def test_who_waits_with_a_name_does_not_have_a_used_token_suspected(tokens):
    """A name may be taken in advance: the older one is the original then, but a token that is used
    far more than it is not suspected."""
    chain = tokens.chain
    squatter = tokens.deploy("ACME", sender=4)
    chain.do(squatter, "mint", chain.anvil.accounts[4], 1, sender=4)
    real = tokens.original()
    tokens.poison(real)
    chain.read()
    assert (tokens.namesake(real), tokens.suspicion(real)) == (squatter.address, "imitation")
    for _ in range(101):
        chain.anvil.transact(chain.anvil.accounts[5], real, "mint", chain.anvil.accounts[5], 1)
    chain.anvil.mine()
    tokens.poison(real)
    chain.read()
    assert (tokens.namesake(real), tokens.suspicion(real)) == (squatter.address, None)


def test_a_list_says_which_is_the_original_whatever_contradicts(tokens):
    chain = tokens.chain
    squatter, real = tokens.deploy("ACME", sender=4), tokens.deploy("ACME")
    for coin in (squatter, real):
        chain.do(coin, "mint", chain.anvil.accounts[4], 1)
    insert(
        chain.url,
        "listed_tokens",
        address=bytes.fromhex(real.address[2:]),
        list="Operator's",
        name="Acme",
        symbol="ACME",
        decimals=6,
    )
    chain.read()
    assert (tokens.namesake(real), tokens.namesake(squatter)) == (None, real.address)
    chain.do(real, "fake", 40, gas=1_000_000)
    chain.read()
    assert (tokens.namesake(real), tokens.namesake(squatter)) == (None, real.address)


def test_the_symbol_of_the_coin_is_a_namesake(tokens):
    chain = tokens.chain
    coin = tokens.deploy("\u0415TH")  # of a Cyrillic letter
    chain.do(coin, "mint", chain.anvil.accounts[1], 5)
    tokens.poison(coin)
    chain.read()
    record = chain.get(f"/api/v1/tokens/{coin.address}")
    assert record["largerNamesake"] is None
    assert (record["namesake"]["address"], record["namesake"]["symbol"]) == (None, "ETH")
    assert tokens.suspicion(coin) == "imitation"
    assert "same symbol as the coin" in chain.text(f"/token/{coin.address}")


def test_a_mark_ends_when_its_balance_agrees_and_so_do_others(tokens):
    chain = tokens.chain
    coin = tokens.deploy("ACME")
    phantoms = 20
    chain.do(coin, "fake", phantoms, gas=1_000_000)
    chain.read()
    mark = "SELECT inconsistent_since, contradicted->>0 FROM tokens"
    [(since, holder)] = execute(chain.url, mark)
    assert since == chain.anvil.head()
    chain.do(coin, "makeTrue", f"0x{holder}", 10**9)
    chain.read()
    marks = execute(chain.url, mark)
    assert marks[0][1] != holder  # of another phantom
    while marks[-1] != (None, None) and len(marks) <= phantoms:
        chain.do(coin, "makeTrue", f"0x{marks[-1][1]}", 10**9)
        chain.read()
        marks += execute(chain.url, mark)
    *marked, ended = marks
    assert ended == (None, None)
    assert {later for later, _ in marked} == {since}
    assert chain.get("/api/v1/tokens")["tokens"][0]["holderCount"] == phantoms


def test_few_marks_end_at_once_and_others_when_they_are_read_again(tokens, monkeypatch):
    """Whoever makes many marks may not have the node read all holders of each in every block."""
    monkeypatch.setattr(stale_state, "MOST_ENDED", 1)
    chain = tokens.chain
    coins = [tokens.deploy(symbol) for symbol in ("ONE", "TWO")]
    for coin in coins:
        chain.do(coin, "fake", 1)
    chain.read()
    marked = "SELECT address, contradicted->>0 FROM tokens WHERE contradicted IS NOT NULL"
    assert len(execute(chain.url, marked)) == 2
    for left in (1, 0):
        for address, holder in execute(chain.url, marked):
            [coin] = [c for c in coins if c.address[2:] == bytes(address).hex()]
            me = chain.anvil.accounts[0]
            chain.anvil.transact(me, coin, "makeTrue", f"0x{holder}", 10**9)
        chain.anvil.mine()  # all in one block
        chain.read()
        assert len(execute(chain.url, marked)) == left
