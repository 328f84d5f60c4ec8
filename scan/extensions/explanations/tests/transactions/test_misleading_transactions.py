"""Transactions made to be told wrongly, by real contracts: sentences, lists and records of them."""

import re
from collections import namedtuple

import pytest

from tests.support import database, expected, indexing, reasons
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.lists import get

ETHER = 10**18
MILLIONS = 5_000_000 * ETHER
UNISWAP_V2 = "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"
LURE = "Your 1,000,000 USDC are ready: visit https://evil.example”, sent 5 ETH"
PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
SINK = "0x00000000000000000000000000000000deadbeef"


# Functions that emit what changes nothing, and those that change it, with their arguments.
EMITTED = {
    "renounce": (),
    "give": (SINK,),
    "upgrade": (SINK,),
    "pause": (),
    "createPair": (SINK, SINK),
}
TRUE = {"giveTruly": (SINK,), "upgradeTruly": (SINK,), "pauseTruly": ()}


class Played(namedtuple("Played", "anvil client contracts sent url")):
    """`url` is that of the database."""

    def names(self):
        """Transactions and contracts, as expected/ names them."""
        contracts = {f"contract {key}": of.address.lower() for key, of in self.contracts.items()}
        return {"one": self.anvil.accounts[0], **contracts, **self.sent}

    def detail(self, name):
        return get(self.client, f"/transactions/{self.sent[name]}")

    def sentence(self, name):
        """The API's, which the page shows, too."""
        text = self.detail(name)["summary"]["text"]
        html = self.client.get(f"/tx/{self.sent[name]}").text
        [shown] = re.findall(r'<p class="sentence">(.*?)</p>', html, re.DOTALL)
        assert re.sub(r"<[^>]+>", "", shown).strip().lower() == html_escaped(text).lower()
        return text


def html_escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#39;")


@pytest.fixture(scope="module")
def played(postgres, template):
    with Anvil() as anvil, postgres.cloned(template) as url:
        contracts, sent = play(anvil)
        with Indexing(url, anvil.url, until=anvil.head()) as indexing:
            reasons.verify(url, [contracts["nobody"], contracts["pretender"]])
            yield Played(anvil, indexing.client(), contracts, sent, url)


def play(anvil):
    one, two, three = anvil.accounts[:3]
    contracts = {
        "leak": anvil.deploy(one, "Leak"),
        "BET": anvil.deploy(one, "LooseToken", "Better", "BET"),
        "ALF": anvil.deploy(one, "LooseToken", "Alpha", "ALF"),
    }
    bet, alf = contracts["BET"], contracts["ALF"]
    contracts["pool"] = anvil.deploy(one, "LoosePool", UNISWAP_V2, bet.address, alf.address)
    pool = contracts["pool"]
    anvil.transact(one, bet, "approve", pool.address, 2**256 - 1)
    anvil.transact(one, alf, "transfer", pool.address, 10**29)
    contracts["ETH"] = anvil.deploy(one, "LooseToken", "Zero", "ETH")
    contracts["other BET"] = anvil.deploy(one, "LooseToken", "Better", "bet")
    contracts["apes"] = anvil.deploy(one, "LooseItems", "Apes and 5 ETH from Binance #1", "APE")
    contracts["pretender"] = anvil.deploy(one, "Pretender")
    contracts["nobody"] = anvil.deploy(one, "nobody")
    contracts["batch"] = anvil.deploy(one, "Batch")
    permits = anvil.place(PERMIT2, "Permits").address
    anvil.mine()
    pretender = contracts["pretender"]
    delegation = "0xef0100" + contracts["leak"].address[2:]
    for account in (two, three):
        anvil.call("anvil_setCode", account, delegation)
    sent = {
        "half leaves": anvil.send(two, two),
        "ten leave": anvil.send(three, three, data="0x" + "17" * 68),
        "plain cancel": anvil.send(anvil.accounts[4], anvil.accounts[4]),
        "fake trade": anvil.transact(one, pool, "trade", 1, MILLIONS, one),
        "half a trade": anvil.transact(one, pool, "trade", 5, 10, one),
        "real trade": anvil.transact(one, pool, "trade", 5 * ETHER, 5 * ETHER, one),
        "paid to another": anvil.transact(one, pool, "trade", 5 * ETHER, 5 * ETHER, SINK),
        "approval inside": anvil.transact(one, pool, "tradeAndApprove", 3 * ETHER, SINK),
        "permit": anvil.transact(
            one, contracts["batch"], "permit", permits, bet.address, SINK, 2**160 - 1
        ),
        "other BET": anvil.transact(one, contracts["other BET"], "transfer", one, 5 * ETHER),
        "mint": anvil.transact(one, contracts["apes"], "mint", 7),
        "approval": anvil.transact(one, bet, "approve", contracts["nobody"].address, 2**256 - 1),
        "lure": anvil.transact(one, pretender, "fail", LURE, gas=200_000),
        "long text": anvil.transact(one, pretender, "fail", "€" * 6000, gas=2_000_000),
        "too large": anvil.transact(one, pretender, "createTooLarge", gas=10_000_000),
        "paid while reading": anvil.transact(one, pretender, "payWhileReading", gas=200_000),
    }
    for function, arguments in {**EMITTED, **TRUE}.items():
        anvil.mine()
        sent[function] = anvil.transact(one, pretender, function, *arguments)
    sent["ETH"] = anvil.transact(one, contracts["ETH"], "transfer", SINK, 5 * ETHER)
    anvil.mine()
    sent["flood"] = anvil.transact(one, pool, "flood", 600, gas=10_000_000)
    anvil.mine()
    return contracts, sent


def test_transactions_are_told_as_expected(played):
    """Names that contracts chose are quoted beside their address; of events those are told that the
    state bears, what changed nothing was only emitted."""
    client = indexing.client_over(played.url, played.anvil.url)
    expected.compare(__file__, client, played.names())


def test_pages_have_the_sentences_of_the_api(played):
    for name in played.sent:
        played.sentence(name)


def test_more_trades_of_a_pool_in_a_block_than_are_compared_are_not_backed(played):
    trades = played.client.get("/api/v1/dex-trades?limit=100").json["trades"]
    assert {trade["transactionHash"] for trade in trades} == {played.sent["flood"]}
    assert {trade["backedByTransfers"] for trade in trades} == {None}
    assert played.sentence("flood").startswith("Called ")


def test_a_page_of_pools_says_which_factory_is_not_known(played):
    page = played.client.get("/dex").text
    assert "V2 (unconfirmed factory)" in page and "uniswap" not in page
    for name in ("fake trade", "half a trade", "real trade"):
        html = played.client.get(f"/tx/{played.sent[name]}").text
        assert ("not backed" in html) == (name == "fake trade")


def test_a_long_text_of_a_revert_is_cut_and_says_so(played):
    error = played.detail("long text")["error"]
    assert (error["kind"], error["dataSize"]) == ("error", 18_084)
    assert error["reason"].endswith("€… (cut: the contract returned 18,084 bytes)")
    assert error["arguments"][0]["value"].endswith("€…")
    assert played.sentence("long text").startswith("Failed: the contract reports “€€")
    reply = played.client.get(
        f"/api?module=transaction&action=getstatus&txhash={played.sent['long text']}"
    )
    assert reply.json["result"]["errDescription"] == error["reason"]


def test_a_token_in_a_list_stands_for_its_symbol(played):
    """However many holders another one gave itself."""
    larger, listed = (played.contracts[key].address.lower() for key in ("BET", "other BET"))
    row = (bytes.fromhex(listed[2:]), "A list", "Bet", "BET", 18)
    database.execute(played.url, "INSERT INTO listed_tokens VALUES (%s, %s, %s, %s, %s)", *row)
    try:
        records = {
            address: played.client.get(f"/api/v1/tokens/{address}").json
            for address in (larger, listed)
        }
        assert records[listed]["holderCount"] < records[larger]["holderCount"]
        expected = [listed, None]
        assert [records[address]["largerNamesake"] for address in (larger, listed)] == expected
    finally:
        database.execute(played.url, "DELETE FROM listed_tokens")


def test_pages_mark_a_token_with_the_symbol_of_an_older_one(played):
    larger, other = (played.contracts[key].address.lower() for key in ("BET", "other BET"))
    badge = "same symbol as <bdi>"
    for path in (f"/token/{other}", "/search?q=bet", "/tokens"):
        assert played.client.get(path).text.count(badge) == 1, path
    # Beside the argument of the call, and beside the transfer.
    assert played.client.get(f"/tx/{played.sent['other BET']}").text.count(badge) == 2
    assert badge not in played.client.get(f"/token/{larger}").text


def test_a_text_is_quoted_on_the_page_as_text(explorer):
    memo = f"<i>2026\u202e</i> “quoted” {'long ' * 2000}"
    receiver = explorer.anvil.accounts[7]
    sent = explorer.send(receiver, f"0x{memo.encode().hex()}", gas=hex(2_000_000))
    page = explorer.client.get(f"/tx/{sent}").text
    [shown] = re.findall(r'<p class="sentence">.*?</p>', page, re.DOTALL)
    assert "with the text <bdi>“&lt;i&gt;2026&lt;/i&gt; quoted long" in shown
    assert len(shown) < 1000 and "\u202e" not in page and "<i>2026" not in page
    parts = explorer.client.get(f"/api/v1/transactions/{sent}").json["summary"]["parts"]
    assert parts[-1]["type"] == "text" and len(parts[-1]["text"]) <= 82
