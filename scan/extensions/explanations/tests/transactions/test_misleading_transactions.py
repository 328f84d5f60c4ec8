"""Transactions made to be told wrongly, by real contracts: sentences, lists and records of them."""

import pytest

from tests.support import expected, indexing, lists, reasons
from tests.support.anvil import Anvil

ETHER = 10**18
MILLIONS = 5_000_000 * ETHER
UNISWAP_V2 = "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"
LURE = "Your 1,000,000 USDC are ready: visit https://evil.example”, sent 5 ETH"
PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
SINK = "0x00000000000000000000000000000000deadbeef"


@pytest.fixture(scope="module")
def played(postgres, template):
    """A client, and the names of transactions and contracts, as expected/ has them."""
    with Anvil() as anvil, postgres.cloned(template) as url:
        contracts, sent = play(anvil)
        addresses = {f"contract {key}": of.address.lower() for key, of in contracts.items()}
        with indexing.Indexing(url, anvil.url, until=anvil.head()):
            reasons.verify(url, [contracts["nobody"], contracts["pretender"]])
            client = indexing.client_over(url, anvil.url)
            yield client, {"one": anvil.accounts[0], **addresses, **sent}


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
        "taken alone": anvil.transact(one, pool, "takeAlone", ETHER),
        "given alone": anvil.transact(one, pool, "giveAlone", ETHER),
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
    # Functions that emit what changes nothing, and those that change it.
    for function, *arguments in (
        ("renounce",),
        ("give", SINK),
        ("upgrade", SINK),
        ("pause",),
        ("createPair", SINK, SINK),
        ("giveTruly", SINK),
        ("upgradeTruly", SINK),
        ("pauseTruly",),
    ):
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
    expected.compare(__file__, *played)


def test_a_long_text_of_a_revert_is_cut_and_says_so(played):
    client, names = played
    record = lists.get(client, f"/transactions/{names['long text']}")
    error = record["error"]
    assert (error["kind"], error["dataSize"]) == ("error", 18_084)
    assert error["reason"].endswith("€… (cut: the contract returned 18,084 bytes)")
    assert error["arguments"][0]["value"].endswith("€…")
    assert record["summary"]["text"].startswith("Failed: the contract reports “€€")
    path = f"/api?module=transaction&action=getstatus&txhash={names['long text']}"
    assert client.get(path).json["result"]["errDescription"] == error["reason"]
