"""Of two tokens with one symbol the older is the original, whatever anybody makes for gas: events,
holders, an old contract that waits or is renamed; and both are told apart in neutral words."""

import pytest

from scan.indexer import stale_state, text_ages
from tests.extensions.world import Chain
from tests.support.anvil import Contract, creation_code
from tests.support.database import insert
from tests.support.faulty_node import WORDS_OF_PRUNED_STATE, without_old_state
from tests.support.solidity import artifact


class Tokens(Chain):
    """Tokens of Misleading.sol, and what is said of them."""

    def named(self, symbol, sender=0):
        return self.deploy("Named", symbol, sender=sender)

    def original(self, symbol="ACME"):
        coin = self.named(symbol)
        for holder in self.accounts[:8]:
            self.do(coin, "mint", holder, 10**9)
        return coin

    def poison(self, coin):
        """Moves a victim's units in a transaction of another."""
        self.do(coin, "transferFrom", self.accounts[1], self.accounts[2], 1, sender=3)

    def namesakes(self, *coins):
        return tuple(self.token(coin)["largerNamesake"] for coin in coins)

    def suspicion(self, coin):
        [newest, *_] = self.token(coin, "/transfers")["transfers"]
        return newest["suspicious"]


@pytest.fixture
def tokens(anvil, places):
    with Tokens(anvil, places) as tokens:
        yield tokens


def test_neither_events_nor_answers_nor_holders_make_an_original(tokens):
    """Phantom transfers; balances that are the same for everybody, found by an address that nobody
    names; those of whom events name, which have their rank by holders; and units of many holders.
    All doors say so."""
    real = tokens.original()
    phantom, for_all, agreeing, many = (tokens.named("ACME", sender=4) for _ in range(4))
    tokens.do(for_all, "pretend", True, sender=4)
    tokens.do(agreeing, "pretend", False, sender=4)
    for false in (phantom, for_all, agreeing):
        tokens.do(false, "fake", 300, sender=4)
    tokens.do(phantom, "mint", tokens.accounts[1], 5, sender=4)
    tokens.do(many, "mintMany", 60, sender=4)
    tokens.poison(real)
    tokens.poison(phantom)
    tokens.read()
    addresses = [coin.address for coin in (agreeing, many, real, phantom, for_all)]
    original = dict.fromkeys(addresses, real.address) | {real.address: None}
    assert (tokens.suspicion(real), tokens.suspicion(phantom)) == (None, "imitation")
    listed = tokens.get("/api/v1/tokens")["tokens"]
    assert [record["address"] for record in listed[:4]] == addresses[:4]
    assert [record.get("holdersAsked") for record in listed[:4]] == [None, None, None, 300]
    queried = tokens.client.post("/api/v1/query", json={"entity": "tokens"}).json["data"]
    results = tokens.get("/api/v1/search?q=ACME")["results"]
    assert results[0]["value"] == real.address
    for records, key in ((listed, "address"), (queried, "address"), (results, "value")):
        assert {record[key]: record["largerNamesake"] for record in records} == original
    ranked = [item["address_hash"].lower() for item in tokens.get("/api/v2/tokens")["items"]]
    assert ranked[:4] == addresses[:4]
    counts = dict(tokens.sql("SELECT address, holder_count FROM v1.tokens"))
    assert (counts[real.address], counts[phantom.address]) == (8, 2)
    consistent = [tokens.token(coin)["eventsConsistent"] for coin in (phantom, for_all, agreeing)]
    assert consistent == [False, False, True]
    assert tokens.token(phantom, "/holders/change")["change"] is None
    namesake = tokens.token(phantom)["namesake"]
    assert (namesake["holderCount"], namesake["sharedText"]) == (8, "symbol")
    assert namesake["firstSeen"] == tokens.token(real)["firstSeen"]
    page = tokens.get(f"/token/{phantom.address}")
    assert "same symbol as <bdi>ACME</bdi>, 8 holders since 20" in page
    assert "same symbol" not in tokens.get(f"/token/{real.address}")


@pytest.mark.thorough
def test_an_older_contract_that_takes_the_name_later_is_no_original(tokens):
    waiting, renamed = tokens.named("ACME", sender=4), tokens.named("OLD", sender=4)
    tokens.do(renamed, "mint", tokens.accounts[4], 1, sender=4)
    tokens.anvil.mine(20)
    real = tokens.original()
    tokens.do(waiting, "mint", tokens.accounts[4], 1, sender=4)
    tokens.read()
    tokens.do(renamed, "label", "ACME", sender=4)
    tokens.anvil.mine(600)
    tokens.do(renamed, "mint", tokens.accounts[4], 1, sender=4)
    tokens.do(real, "mint", tokens.accounts[4], 1, sender=5)
    tokens.poison(real)
    tokens.read()
    assert tokens.token(renamed)["symbol"] == "ACME"
    assert tokens.namesakes(real) == (None,)
    assert tokens.namesakes(waiting, renamed) == (real.address, real.address)
    assert tokens.suspicion(real) is None


@pytest.mark.thorough
def test_who_waits_with_a_name_does_not_have_a_used_token_suspected(tokens):
    """A name may be taken in advance: the older one is the original then, but a token that more
    use more is not suspected."""
    squatter = tokens.named("ACME", sender=4)
    tokens.do(squatter, "mint", tokens.accounts[4], 1, sender=4)
    real = tokens.original()
    tokens.poison(real)
    tokens.read()
    assert (*tokens.namesakes(real), tokens.suspicion(real)) == (squatter.address, None)
    for n in (5, 6):
        tokens.do(squatter, "mint", tokens.accounts[n], 1, sender=n)
    tokens.read()
    assert (*tokens.namesakes(real), tokens.suspicion(real)) == (squatter.address, "imitation")


def test_a_list_says_which_is_the_original_whatever_contradicts(tokens):
    squatter, real = tokens.named("ACME", sender=4), tokens.named("ACME")
    for coin in (squatter, real):
        tokens.do(coin, "mint", tokens.accounts[4], 1)
    entry = {"address": bytes.fromhex(real.address[2:]), "name": "Acme", "symbol": "ACME"}
    insert(tokens.url, "listed_tokens", **entry, list="Operator's", decimals=6)
    tokens.read()
    assert tokens.namesakes(real, squatter) == (None, real.address)
    tokens.do(real, "fake", 40)
    tokens.read()
    assert tokens.namesakes(real, squatter) == (None, real.address)


def test_the_symbol_of_the_coin_is_a_namesake(tokens):
    coin = tokens.named("\u0415TH")  # of a Cyrillic letter
    tokens.do(coin, "mint", tokens.accounts[1], 5)
    tokens.poison(coin)
    tokens.read()
    record = tokens.token(coin)
    assert record["largerNamesake"] is None
    assert (record["namesake"]["address"], record["namesake"]["symbol"]) == (None, "ETH")
    assert tokens.suspicion(coin) == "imitation"
    assert "same symbol as the coin" in tokens.get(f"/token/{coin.address}")


def test_a_mark_ends_when_its_balance_agrees_and_so_do_others(tokens):
    coin, phantoms = tokens.named("ACME"), 20
    tokens.do(coin, "fake", phantoms)
    tokens.read()
    since, marked = tokens.head, []
    stored = "SELECT inconsistent_since, contradicted->>0 FROM tokens"
    while (mark := tokens.sql(stored)[0]) != (None, None):
        assert mark[0] == since and mark not in marked[-1:]  # of another phantom each time
        marked.append(mark)
        tokens.do(coin, "makeTrue", f"0x{mark[1]}", 10**9)
        tokens.read()
    assert 1 < len(marked) <= phantoms
    assert tokens.token(coin)["holderCount"] == phantoms


def test_few_marks_end_at_once_and_others_when_they_are_read_again(tokens, monkeypatch):
    """Whoever makes many marks may not have the node read all holders of each in every block."""
    monkeypatch.setattr(stale_state, "MOST_ENDED", 1)  # of a step
    monkeypatch.setattr(stale_state, "STEP_S", 60)
    coins = {coin.address: coin for coin in map(tokens.named, ("ONE", "TWO"))}
    for coin in coins.values():
        tokens.do(coin, "fake", 1)
    tokens.read()
    stored = "SELECT '0x' || encode(address, 'hex'), '0x' || (contradicted->>0) FROM tokens"
    marks = f"{stored} WHERE contradicted IS NOT NULL"
    assert len(tokens.sql(marks)) == 2
    for left in (1, 0):
        for address, holder in tokens.sql(marks):
            tokens.queue(coins[address], "makeTrue", holder, 10**9)
        tokens.anvil.mine()  # all in one block
        tokens.read()
        assert len(tokens.sql(marks)) == left


def test_all_that_are_marked_at_once_have_their_holders_drawn(tokens):
    count = 2 * stale_state.MOST_ENDED + 1
    for n in range(count):
        coin = tokens.deploy("Presold", f"COIN{n}", 1000)
        for to in tokens.accounts[1:3]:
            tokens.do(coin, "transfer", to, 10)
    tokens.read()
    listed = tokens.get("/api/v1/tokens")["tokens"]
    counts = [(record["holderCount"], record["holdersAsked"]) for record in listed]
    assert counts == [(2, 2)] * count


@pytest.mark.thorough
@pytest.mark.parametrize("traces", ["auto", "off"])
def test_age_and_callers_that_are_made_in_advance_make_no_original(anvil, places, traces):
    """What anybody pays to an address before its contract is there says nothing of the contract."""
    with Tokens(anvil, places, traces=traces) as tokens:
        code = bytes.fromhex(creation_code(artifact("Named"), "ACME")[2:])
        maker = tokens.deploy("AddressMaker", sender=4)
        at = anvil.read(maker, "at", code, 1)
        for sender in tokens.accounts:
            anvil.send(sender, at, value=1)
        tokens.anvil.mine(300)
        real = tokens.original()
        for sender in range(1, 7):
            tokens.do(real, "transferFrom", tokens.accounts[sender], tokens.accounts[0], 1)
        in_block = tokens.do(maker, "make", code, 1, sender=4)
        false = Contract(at, artifact("Named"))
        tokens.do(false, "mint", tokens.accounts[4], 5, sender=4)
        tokens.poison(real)
        tokens.read()
        assert (*tokens.namesakes(real, false), tokens.suspicion(real)) == (
            None,
            real.address,
            None,
        )
        made = tokens.get(f"/api/v1/blocks/{in_block}")["timestamp"]
        assert tokens.token(false)["firstSeen"] >= made
        tokens.fork(2, mined=3)


@pytest.mark.thorough
def test_a_renamed_token_is_dated_by_the_block_of_its_name(tokens):
    """An index that is made days later knows it as well as one that followed the head."""
    shelf = tokens.named("SHELF", sender=4)  # of which nobody has heard yet
    old = tokens.original("OLD")
    tokens.read()
    in_block = tokens.do(old, "label", "ACME")
    tokens.anvil.mine(3)
    later = tokens.do(shelf, "label", "ACME", sender=4)
    tokens.do(shelf, "mint", tokens.accounts[4], 1, sender=4)
    tokens.next_day()
    false = tokens.named("ACME", sender=5)
    tokens.do(false, "mint", tokens.accounts[4], 1, sender=5)
    tokens.next_day()
    for coin in (old, shelf, false):
        tokens.do(coin, "mint", tokens.accounts[6], 1)
    tokens.next_day()
    tokens.read()
    assert tokens.namesakes(old, shelf, false) == (None, old.address, old.address)
    named = "SELECT name_since, symbol_since FROM tokens WHERE address = %s"
    for coin, block in ((old, in_block), (shelf, later)):
        assert tokens.sql(named, bytes.fromhex(coin.address[2:])) == [(block, block)]
    tokens.is_the_same_in_whatever_way()
    tokens.fork(tokens.head - in_block + 1, mined=2)
    assert tokens.token(old)["symbol"] == "OLD"


@pytest.mark.thorough
def test_of_a_name_whose_age_is_unknown_nobody_is_accused(anvil, node, places):
    """A node without old state does not tell when a token was renamed."""
    node.fault = without_old_state(4, *WORDS_OF_PRUNED_STATE["geth"])
    with Tokens(anvil, places, node.url) as tokens:
        old = tokens.named("OLD")
        tokens.do(old, "mint", tokens.accounts[1], 1)
        tokens.read()
        tokens.do(old, "label", "ACME")
        false = tokens.named("ACME", sender=5)
        tokens.do(false, "mint", tokens.accounts[4], 1, sender=5)
        tokens.next_day()
        tokens.do(old, "mint", tokens.accounts[1], 1)
        tokens.read()
        assert tokens.token(old)["symbol"] == "ACME"
        assert tokens.namesakes(old, false) == (None, None)


@pytest.mark.thorough
def test_many_renamed_tokens_are_dated_in_small_steps(tokens, monkeypatch):
    monkeypatch.setattr(text_ages, "MOST_DATED", 1)
    coins = [tokens.named("OLD") for _ in range(4)]
    for coin in coins:
        tokens.do(coin, "mint", tokens.accounts[1], 1)
    tokens.read()
    blocks = [tokens.do(coin, "label", f"NEW{n}") for n, coin in enumerate(coins)]
    tokens.next_day()
    for coin in coins:
        tokens.do(coin, "mint", tokens.accounts[1], 1)
    tokens.read()
    rows = tokens.sql("SELECT symbol_since FROM tokens ORDER BY symbol")
    assert [since for (since,) in rows] == blocks


@pytest.mark.thorough
def test_an_honest_token_that_is_marked_keeps_its_name_and_its_holders(tokens):
    real = tokens.deploy("Presold", "ACME", 1000)
    for to in tokens.accounts[1:8]:
        tokens.do(real, "transfer", to, 10)
    tokens.do(real, "issue", 50)
    tokens.read()
    false = tokens.deploy("Clean", "ACME", tokens.accounts[:3], sender=9)
    tokens.next_day()
    tokens.do(real, "transfer", tokens.accounts[1], 10)
    tokens.read()
    record = tokens.token(real)
    assert (record["eventsConsistent"], record["holderCount"]) == (False, 8)
    [listed, other] = tokens.get("/api/v1/tokens")["tokens"]
    assert (listed["address"], listed["holderCount"]) == (real.address, 7)  # without the presale's
    assert (listed["holdersAsked"], other["holderCount"]) == (7, 3)
    assert "holdersAsked" not in other
    assert tokens.namesakes(real, false) == (None, real.address)
    tokens.is_the_same_in_whatever_way()
