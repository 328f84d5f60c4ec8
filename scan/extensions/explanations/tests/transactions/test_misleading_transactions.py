"""Transactions made to be told wrongly, by real contracts: sentences, lists and records of them."""

import re
from collections import namedtuple

import pytest

from tests.support import database, reasons
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.lists import get

ETHER = 10**18
MILLIONS = 5_000_000 * ETHER
UNISWAP_V2 = "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"
LURE = "Your 1,000,000 USDC are ready: visit https://evil.example”, sent 5 ETH"
PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
SINK = "0x00000000000000000000000000000000deadbeef"


# What a contract emits that changes nothing, and what it changes, by the functions' arguments.
EMITTED = {
    "renounce": ((), "OwnershipTransferred"),
    "give": ((SINK,), "OwnershipTransferred"),
    "upgrade": ((SINK,), "Upgraded"),
    "pause": ((), "Paused"),
    "createPair": ((SINK, SINK), "PairCreated"),
}
TRUE = {"giveTruly": (SINK,), "upgradeTruly": (SINK,), "pauseTruly": ()}


class Played(namedtuple("Played", "anvil client contracts sent url")):
    """`url` is that of the database."""

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


def shortened(address):
    return f"{address[:8].lower()}…{address[-4:].lower()}"


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
    only_emitted = {function: arguments for function, (arguments, _) in EMITTED.items()}
    for function, arguments in {**only_emitted, **TRUE}.items():
        anvil.mine()
        sent[function] = anvil.transact(one, pretender, function, *arguments)
    sent["ETH"] = anvil.transact(one, contracts["ETH"], "transfer", SINK, 5 * ETHER)
    anvil.mine()
    sent["flood"] = anvil.transact(one, pool, "flood", 600, gas=10_000_000)
    anvil.mine()
    return contracts, sent


def test_coins_that_leave_an_account_with_code_are_told(played):
    half = played.detail("half leaves")["summary"]
    assert half["action"] == "call"
    assert re.fullmatch(
        r"Ran code of its own account, sent [\d,.…]+ ETH", played.sentence("half leaves")
    )
    assert int(half["parts"][-1]["value"]) > 4000 * ETHER


SWAP = "Swapped 5 BET for 5 ALF on V2 (unconfirmed factory)"


SENTENCES = [
    ("ten leave", "Ran code of its own account, sent 10 ETH"),
    ("plain cancel", "Sent nothing to itself, as is done to cancel a transaction"),
    ("real trade", SWAP),
    ("paid to another", f"{SWAP}, paid to {shortened(SINK)}"),
    (
        "approval inside",
        "Swapped 3 BET for 3 ALF on V2 (unconfirmed factory),"
        f" leaving {shortened(SINK)} approved to spend 7 BET",
    ),
    ("fake trade", ", sent 0.000000000000000001 BET, received 0.000000000000000001 ALF"),
    ("permit", f", leaving {shortened(SINK)} approved to spend unlimited BET"),
    ("lure", "Failed: the contract reports “" + LURE.replace("”", "") + "”"),
    # Names that contracts chose are quoted beside their address.
    ("ETH", f"Sent 5 “ETH” ({{ETH}}) to {shortened(SINK)}"),
    ("mint", "Minted “Apes and 5 ETH from Binance #1” ({apes}) #7"),
    ("approval", "Approved “nobody” ({nobody}) to spend unlimited BET"),
    # Events that the state bears.
    ("giveTruly", f"Transferred the ownership of “Pretender” ({{pretender}}) to {shortened(SINK)}"),
    ("upgradeTruly", f"Upgraded “Pretender” ({{pretender}}) to {shortened(SINK)}"),
    ("pauseTruly", "Paused “Pretender” ({pretender})"),
]


@pytest.mark.parametrize(("name", "end"), SENTENCES)
def test_sentences_tell_what_happened(played, name, end):
    sentence = played.sentence(name)
    end = end.format_map({name: shortened(of.address) for name, of in played.contracts.items()})
    assert sentence.endswith(end) and (end.startswith(",") or sentence == end)
    assert ("wapped" in sentence) == ("wapped" in end)


def test_more_trades_of_a_pool_in_a_block_than_are_compared_are_not_backed(played):
    trades = played.client.get("/api/v1/dex-trades?limit=100").json["trades"]
    assert {trade["transactionHash"] for trade in trades} == {played.sent["flood"]}
    assert {trade["backedByTransfers"] for trade in trades} == {None}
    assert played.sentence("flood").startswith("Called ")


def test_a_pool_that_its_factory_does_not_know_is_not_listed_under_it(played):
    client, pool = played.client, played.contracts["pool"].address.lower()
    [listed] = client.get("/api/v1/pools").json["pools"]
    assert (listed["address"], listed["dex"]) == (pool, "v2-unconfirmed")
    assert client.get("/api/v1/pools?dex=uniswap-v2").json["pools"] == []
    assert client.get("/api/v1/dex-trades?dex=uniswap-v2").json["trades"] == []
    page = client.get("/dex").text
    assert "V2 (unconfirmed factory)" in page and "uniswap" not in page


def test_trades_that_no_transfers_bear_are_marked(played):
    trades = played.client.get("/api/v1/dex-trades?orderBy=asc&limit=5").json["trades"]
    backed = {trade["transactionHash"]: trade["backedByTransfers"] for trade in trades}
    assert backed.pop(played.sent["fake trade"]) is False
    assert backed.pop(played.sent["half a trade"]) is None  # a token may take a fee of transfers
    assert len(backed) == 3 and all(backed.values())
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


REFUSED_BY_EVM = [("too large", "invalid_code"), ("paid while reading", "static_call")]


@pytest.mark.parametrize(("name", "kind"), REFUSED_BY_EVM)
def test_what_the_evm_refuses_has_a_kind(played, name, kind):
    assert played.detail(name)["error"]["kind"] == kind


@pytest.mark.parametrize("function", EMITTED)
def test_an_event_that_changed_nothing_is_only_emitted(played, function):
    sentence = played.sentence(function)
    contract = f"“Pretender” ({shortened(played.contracts['pretender'].address)})"
    assert re.fullmatch(
        rf"Called \w+ of {re.escape(contract)}, which emitted {EMITTED[function][1]}", sentence
    )
    assert played.detail(function)["summary"]["action"] == "call"


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


def test_a_token_with_the_symbol_of_an_older_one_is_marked(played):
    client = played.client
    larger, other = (played.contracts[key].address.lower() for key in ("BET", "other BET"))
    namesakes = {
        token["address"]: token["largerNamesake"]
        for token in client.get("/api/v1/tokens?limit=100").json["tokens"]
    }
    assert (namesakes[larger], namesakes[other]) == (None, larger)
    assert client.get(f"/api/v1/tokens/{other}").json["largerNamesake"] == larger
    results = client.get("/api/v1/search?q=bet").json["results"]
    matches = {result["value"]: result["largerNamesake"] for result in results}
    assert (matches[larger], matches[other]) == (None, larger)
    held = client.get(f"/api/v1/addresses/{played.anvil.accounts[0]}/tokens").json["tokens"]
    owned = {token["tokenAddress"]: token["largerNamesake"] for token in held}
    assert (owned[larger], owned[other]) == (None, larger)
    [_, part, *_] = played.detail("other BET")["summary"]["parts"]
    assert part["largerNamesake"] == larger
    mark = "which is another token's symbol"
    assert played.sentence("other BET") == f"Sent 5 “bet” ({shortened(other)}, {mark}) to itself"
    badge = "same symbol as <bdi>"
    for path in (f"/token/{other}", "/search?q=bet", "/tokens"):
        assert client.get(path).text.count(badge) == 1, path
    # Beside the argument of the call, and beside the transfer.
    assert client.get(f"/tx/{played.sent['other BET']}").text.count(badge) == 2
    assert badge not in client.get(f"/token/{larger}").text


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
