"""Of two tokens with one symbol the older is the original, whatever anybody makes for gas: events,
holders, an old contract that waits or is renamed; and both are told apart in neutral words."""

import pytest

from scan.indexer import stale_state, text_ages
from tests.extensions.test_contract_changes import is_the_same_in_whatever_way, next_day
from tests.extensions.test_sums_of_events import Chain
from tests.support.anvil import Contract, creation_code
from tests.support.database import execute, insert
from tests.support.faulty_node import WORDS_OF_PRUNED_STATE, FaultyNode, without_old_state
from tests.support.indexing import Indexing
from tests.support.solidity import artifact
from tests.support.table_digest import digest, fresh_digest


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

    def is_imitated(self, real, false):
        """By every door: the one has a namesake, and not the other, which comes first."""
        chain = self.chain
        assert (self.namesake(real), self.namesake(false)) == (None, real.address)
        listed = chain.get("/api/v1/tokens?limit=100")["tokens"]
        asked = chain.client.post("/api/v1/query", json={"entity": "tokens"}).json["data"]
        found = chain.get("/api/v1/search?q=ACME")["results"]
        assert found[0]["value"] == real.address
        for records, key in ((listed, "address"), (asked, "address"), (found, "value")):
            namesakes = {record[key]: record["largerNamesake"] for record in records}
            assert (namesakes[real.address], namesakes[false.address]) == (None, real.address)
        assert "same symbol" not in chain.text(f"/token/{real.address}")
        assert "same symbol" in chain.text(f"/token/{false.address}")

    def made(self, code):
        """A contract that a factory makes, and before it is there ten accounts pay its address."""
        anvil = self.chain.anvil
        maker = anvil.deploy(anvil.accounts[4], "AddressMaker")
        at = anvil.read(maker, "at", bytes.fromhex(code[2:]), 1)
        for sender in anvil.accounts:
            anvil.send(sender, at, value=1)
        anvil.mine(300)

        def make():
            self.chain.do(maker, "make", bytes.fromhex(code[2:]), 1, sender=4, gas=6_000_000)
            return Contract(at, artifact("Named"))

        return make


@pytest.fixture
def tokens(chain):
    return Tokens(chain)


READINGS = [
    ((9, "Coin", "CO"), (None, None, True)),
    ((9, "Other", "CO"), (-1, None, None)),
    ((9, "Coin", "OTHER"), (None, -1, None)),
    ((9, "C0in", "CO"), (None, None, True)),  # which looks the same
    ((None, "", ""), (None, None, True)),  # the supply alone was read
]


@pytest.mark.parametrize(("reading", "since"), READINGS)
def test_since_when_a_text_is_had_is_not_known_once_another_is_read(
    database, database_url, reading, since
):
    address = b"\1" * 20
    token = {"address": address, "block_number": 5, "type": "BEP20", "name": "Coin", "symbol": "CO"}
    insert(database_url, "tokens", **token, dated=True)
    read_block, name, symbol = reading
    values = {"supplies": 1, "block_numbers": 9, "read_blocks": read_block, "names": name}
    values |= {"symbols": symbol, "decimals": 18, "inconsistent": None, "contradicted": None}
    values |= {"asked": None, "drawn": None}
    with database.transaction() as tx:
        of_token = {"addresses": [address], **{k: [v] for k, v in values.items()}}
        tx.execute("indexer/tokens_refresh", **of_token, are_reported=False)
    stored = "SELECT name_since, symbol_since, dated FROM tokens"
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
    assert (records[1]["holderCount"], records[1]["holdersAsked"]) == (2, 300)
    assert "inconsistentSince" in records[1]
    assert chain.get(f"{api}")["eventsConsistent"] is False
    assert chain.get(f"{api}/holders/change")["change"] is None
    v2 = [item["address_hash"].lower() for item in chain.get("/api/v2/tokens")["items"]]
    assert v2 == [real.address, false.address]
    rows = execute(chain.url, "SELECT address, holder_count FROM v1.tokens ORDER BY 2 DESC")
    assert rows == [(real.address, 8), (false.address, 2)]
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
    """A name may be taken in advance: the older one is the original then, but a token that more
    use more is not suspected."""
    chain = tokens.chain
    squatter = tokens.deploy("ACME", sender=4)
    chain.do(squatter, "mint", chain.anvil.accounts[4], 1, sender=4)
    real = tokens.original()
    tokens.poison(real)
    chain.read()
    assert (tokens.namesake(real), tokens.suspicion(real)) == (squatter.address, None)
    for n in (5, 6):
        chain.do(squatter, "mint", chain.anvil.accounts[n], 1, sender=n)
    chain.read()
    assert (tokens.namesake(real), tokens.suspicion(real)) == (squatter.address, "imitation")


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


@pytest.mark.thorough
@pytest.mark.parametrize("traces", ["auto", "off"])
def test_age_and_callers_that_are_made_in_advance_make_no_original(
    anvil, database_url, postgres, template, traces
):
    """What anybody pays to an address before its contract is there says nothing of the contract."""
    with Indexing(database_url, anvil.url, traces=traces) as indexing:
        chain = Chain(anvil, indexing, database_url, indexing.client())
        tokens = Tokens(chain)
        make = tokens.made(creation_code(artifact("Named"), "ACME"))
        real = tokens.original()
        for sender in range(1, 7):
            chain.do(real, "transferFrom", anvil.accounts[sender], anvil.accounts[0], 1)
        false = make()
        in_block = anvil.head()
        chain.do(false, "mint", anvil.accounts[4], 5, sender=4)
        tokens.poison(real)
        chain.read()
        tokens.is_imitated(real, false)
        assert tokens.suspicion(real) is None
        block = chain.get(f"/api/v1/blocks?blockFrom={in_block}&blockTo={in_block}")["blocks"][0]
        seen = chain.get(f"/api/v1/tokens/{false.address}")["firstSeen"]
        assert seen >= block["timestamp"]
        anvil.reorganise(2)
        anvil.mine(3)
        indexing.wait_for(anvil.head())
        assert digest(database_url) == fresh_digest(postgres, template, anvil, traces=traces)


SINCE = "SELECT name_since, symbol_since FROM tokens WHERE address = %s"


@pytest.mark.thorough
def test_a_renamed_token_is_dated_by_the_block_of_its_name(
    anvil, database_url, postgres, template, tmp_path
):
    """An index that is made days later knows it as well as one that followed the head."""
    with Indexing(database_url, anvil.url) as indexing:
        chain = Chain(anvil, indexing, database_url, indexing.client())
        tokens = Tokens(chain)
        shelf = tokens.deploy("SHELF", sender=4)  # of which nobody has heard yet
        old = tokens.deploy("OLD")
        for holder in anvil.accounts[:8]:
            chain.do(old, "mint", holder, 10**9)
        chain.read()
        in_block = chain.do(old, "label", "ACME")
        anvil.mine(3)
        later = chain.do(shelf, "label", "ACME", sender=4)
        chain.do(shelf, "mint", anvil.accounts[4], 1, sender=4)
        next_day(anvil)
        false = tokens.deploy("ACME", sender=5)
        chain.do(false, "mint", anvil.accounts[4], 1, sender=5)
        next_day(anvil)
        for coin in (old, shelf, false):
            chain.do(coin, "mint", anvil.accounts[6], 1)
        next_day(anvil)
        chain.read()
        tokens.is_imitated(old, false)
        assert tokens.namesake(shelf) == old.address
        for coin, since in ((old, in_block), (shelf, later)):
            address = bytes.fromhex(coin.address[2:])
            assert execute(database_url, SINCE, address) == [(since, since)]
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        anvil.reorganise(anvil.head() - in_block + 1)
        anvil.mine(2)
        indexing.wait_for(anvil.head())
        assert chain.get(f"/api/v1/tokens/{old.address}")["symbol"] == "OLD"
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


@pytest.mark.thorough
def test_of_a_name_whose_age_is_unknown_nobody_is_accused(anvil, database_url):
    """A node without old state does not tell when a token was renamed."""
    pruned = without_old_state(4, *WORDS_OF_PRUNED_STATE["geth"])
    with FaultyNode(anvil.url, pruned) as node, Indexing(database_url, node.url) as indexing:
        chain = Chain(anvil, indexing, database_url, indexing.client())
        tokens = Tokens(chain)
        old = tokens.deploy("OLD")
        chain.do(old, "mint", anvil.accounts[1], 1)
        chain.read()
        chain.do(old, "label", "ACME")
        false = tokens.deploy("ACME", sender=5)
        chain.do(false, "mint", anvil.accounts[4], 1, sender=5)
        next_day(anvil)
        chain.do(old, "mint", anvil.accounts[1], 1)
        chain.read()
        assert chain.get(f"/api/v1/tokens/{old.address}")["symbol"] == "ACME"
        assert (tokens.namesake(old), tokens.namesake(false)) == (None, None)


@pytest.mark.thorough
def test_many_renamed_tokens_are_dated_in_small_steps(tokens, monkeypatch):
    monkeypatch.setattr(text_ages, "MOST_DATED", 1)
    chain = tokens.chain
    coins = [tokens.deploy("OLD") for _ in range(4)]
    for coin in coins:
        chain.do(coin, "mint", chain.anvil.accounts[1], 1)
    chain.read()
    blocks = [chain.do(coin, "label", f"NEW{n}") for n, coin in enumerate(coins)]
    next_day(chain.anvil)
    for coin in coins:
        chain.do(coin, "mint", chain.anvil.accounts[1], 1)
    chain.read()
    rows = execute(chain.url, "SELECT symbol_since FROM tokens ORDER BY symbol")
    assert [since for (since,) in rows] == blocks


@pytest.mark.thorough
def test_an_honest_token_that_is_marked_keeps_its_name_and_its_holders(
    chain, tokens, postgres, template, tmp_path
):
    anvil = chain.anvil
    real = anvil.deploy(anvil.accounts[0], "Presold", "ACME", 1000)
    for to in anvil.accounts[1:8]:
        chain.do(real, "transfer", to, 10)
    chain.do(real, "issue", 50)
    chain.read()
    false = anvil.deploy(anvil.accounts[9], "Clean", "ACME", anvil.accounts[:3])
    next_day(anvil)
    chain.do(real, "transfer", anvil.accounts[1], 10)
    chain.read()
    record = chain.get(f"/api/v1/tokens/{real.address}")
    assert (record["eventsConsistent"], record["holderCount"]) == (False, 8)
    [listed, other] = chain.get("/api/v1/tokens")["tokens"]
    assert (listed["address"], listed["holderCount"]) == (real.address, 7)  # without the presale's
    assert (listed["holdersAsked"], other["holderCount"]) == (7, 3)
    assert "holdersAsked" not in other
    tokens.is_imitated(real, false)
    is_the_same_in_whatever_way(postgres, template, anvil, chain.url, tmp_path)


@pytest.mark.thorough
def test_what_mints_from_itself_is_not_marked(chain):
    anvil = chain.anvil
    coin = anvil.deploy(anvil.accounts[0], "Presold", "cTHG", 0)
    chain.do(coin, "mint", 1000)
    chain.do(coin, "transfer", anvil.accounts[1], 10)
    chain.read()
    assert chain.since(coin) is None
    assert chain.holders(coin) == {anvil.accounts[0]: 990, anvil.accounts[1]: 10}
    chain.do(coin, "issue", 1)  # without an event
    chain.read()
    assert chain.since(coin) is not None
