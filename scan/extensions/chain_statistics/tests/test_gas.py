"""GET /gas and Etherscan's gasoracle: from the newest blocks, by EIP-1559."""

import re
import statistics
from collections import Counter
from datetime import datetime, timedelta

import pytest

from scan.extensions.chain_statistics.gas_prices import BlockGas, next_base_fee
from scan.extensions.chain_statistics.statistics import CountedBounds, LargestByGas
from tests.support import database, indexing
from tests.support.made_blocks import Move, address


def test_prices_are_those_of_the_newest_blocks(client, scenario):
    body = client.get("/api/v1/gas").json
    blocks = scenario.truth.blocks[:20]
    assert [b["number"] for b in body["blocks"]] == [b["number"] for b in blocks]
    expected = round(int(blocks[0]["gasUsed"]) / int(blocks[0]["gasLimit"]), 4)
    assert body["blocks"][0]["gasUsedRatio"] == expected
    base_fees = {b["number"]: int(b["baseFeePerGas"]) for b in blocks}
    tips = sorted(
        int(t["gasPrice"]) - base_fees[t["blockNumber"]]
        for t in scenario.truth.transactions
        if t["blockNumber"] in base_fees
    )
    assert body["transactions"] == len(tips) > 0
    base = int(body["nextBaseFeePerGas"] or body["baseFeePerGas"])
    for suggestion in body["suggestions"].values():
        # The first in order that so many per cent of all are not above.
        tip = tips[max(0, -(-len(tips) * suggestion["percentile"] // 100) - 1)]
        assert suggestion["maxPriorityFeePerGas"] == str(tip)
        assert suggestion["maxFeePerGas"] == str(2 * base + tip)
        assert suggestion["gasPrice"] == str(base + tip)
    costs = {cost["action"]: cost for cost in body["costs"]}
    assert costs["transfer"]["gas"] == "21000"
    standard = int(body["suggestions"]["standard"]["gasPrice"])
    for cost in costs.values():
        assert cost["cost"] == str(int(cost["gas"]) * standard), cost
    swaps = {
        t["transactionHash"] for t in client.get("/api/v1/dex-trades?limit=100").json["trades"]
    }
    used = [int(t["gasUsed"]) for t in scenario.truth.transactions if t["hash"] in swaps]
    assert int(costs["swap"]["gas"]) == statistics.median_low(used)


def test_contracts_are_listed_by_the_gas_that_their_calls_took(client, scenario):
    body = client.get("/api/v1/gas").json
    seconds = body["contractsSeconds"]
    truth, calls, gas = scenario.truth, Counter(), Counter()
    since = datetime.fromisoformat(truth.blocks[0]["timestamp"]) - timedelta(seconds=seconds)
    for sent in truth.transactions:
        is_newer = datetime.fromisoformat(sent["timestamp"]) >= since
        calls[sent["toAddress"]] += is_newer
        gas[sent["toAddress"]] += is_newer * int(sent["gasUsed"])
    del calls[None]
    codes = {to: scenario.anvil.call("eth_getCode", to, "latest") for to in +calls}
    expected = {
        to: (calls[to], gas[to])
        for to, code in codes.items()
        if code != "0x" and not code.startswith("0xef0100")  # a delegating account (EIP-7702)
    }
    listed = [(c["address"], c["transactions"], int(c["gasUsed"])) for c in body["contracts"]]
    assert seconds == 86_400 and len(listed) == min(len(expected), 25) > 3
    assert [gas for _, _, gas in listed] == sorted(
        (gas for _, gas in expected.values()), reverse=True
    )[:25]
    assert all(expected[address] == (count, gas) for address, count, gas in listed)
    html = client.get("/gas").text
    assert "Contracts by gas" in html and f"/address/{listed[0][0]}" in html.lower()


def test_a_busy_chain_lists_the_contracts_of_a_shorter_time(indexed, scenario):
    for most in (len(scenario.truth.transactions) - 1, 0):
        client = indexed.client()
        indexing.sources(client).get(CountedBounds).transactions = most
        body = client.get("/api/v1/gas").json
        assert body["contractsSeconds"] == 300
        assert bool(body["contracts"]) == bool(most)
    assert "Contracts by gas" not in client.get("/gas").text


def test_contracts_by_gas_are_counted_once_a_minute(chain, database_url):
    """Each count reads up to 50,000 transactions, and each new block makes /gas anew."""
    called, largest = address("called"), LargestByGas()
    database.insert(database_url, "contracts", address=called, block_number=0, code_hash=bytes(32))

    def calls(second):
        chain.append([Move(address("caller"), called)], timestamp_s=10**9 + second)
        client = indexing.client_over(database_url)
        indexing.sources(client).of_extensions[LargestByGas] = largest
        return [row["transactions"] for row in client.get("/api/v1/gas").json["contracts"]]

    # A newest block that is older than that of the count is another fork's.
    assert [calls(second) for second in (100, 101, 159, 160, 90, 149)] == [
        *([1], [1], [1], [4]),
        *([5], [5]),
    ]


def test_the_next_base_fee_is_the_nodes(client, scenario):
    """Also on the home page, where every transaction has its fee."""
    history = scenario.anvil.call("eth_feeHistory", "0x1", "latest", [])
    following = client.get("/api/v1/gas").json["nextBaseFeePerGas"]
    assert int(following) == int(history["baseFeePerGas"][-1], 16)
    sent = client.get("/api/v1/transactions?limit=8").json["transactions"]
    for path in ("/", "/live"):
        page = client.get(path).text
        assert f'<a href="/gas"><data value="{following}">' in page
        fees = re.findall(r'fee <data class="amount" value="(\d+)"', page)
        assert fees == [transaction["fee"] for transaction in sent]


@pytest.mark.check
@pytest.mark.parametrize(
    ("newest", "following"),
    [
        ([], None),
        ([BlockGas(None, 5, 10)] * 2, None),  # before EIP-1559
        ([BlockGas(1000, 5, 10)], None),  # of one block the rules do not show
        ([BlockGas(1000, 5, 10)] * 2, 1000),
        ([BlockGas(1000, 10, 10), BlockGas(1142, 0, 10)], 1125),
        ([BlockGas(1, 6, 10), BlockGas(1, 5, 10)], 2),  # it grows by 1 at least
        ([BlockGas(7, 0, 0)] * 2, None),
        ([BlockGas(1125, 5, 10), BlockGas(1000, 10, 10)], 1125),
        ([BlockGas(1000, 5, 10), BlockGas(1000, 10, 10)], None),  # other rules
        ([BlockGas(0, 0, 10), BlockGas(0, 10, 10)], None),
        ([BlockGas(9 * 2**253, 10, 10), BlockGas(2**256, 10, 10)], 81 * 2**250),
        ([BlockGas(1_004_000, 20, 60), BlockGas(1_000_000, 20, 60)], 1_008_016),  # OP Stack
        ([BlockGas(998_437_500, 40, 40), BlockGas(10**9, 18, 40)], 1_014_038_085),  # Polygon
        # Both those of Ethereum and of Polygon explain it, and differ in what follows.
        ([BlockGas(1000, 6, 10), BlockGas(1000, 5, 10)], None),
        ([BlockGas(8, 6, 10), BlockGas(8, 5, 10)], 9),
    ],
)
def test_the_next_base_fee(newest, following):
    assert next_base_fee(newest) == following


def test_without_blocks_transactions_or_base_fees(chain, database_url):
    body = indexing.client_over(database_url).get("/api/v1/gas").json
    assert body["blocks"] == [] and body["suggestions"] is None
    assert {cost["gas"] for cost in body["costs"]} == {None}
    for _ in range(2):
        chain.append(base_fee=7)
    client = indexing.client_over(database_url)
    assert client.get("/api/v1/gas").json["suggestions"] is None
    oracle = client.get("/api?module=gastracker&action=gasoracle").json
    assert oracle["status"] == "0" and "No transactions" in oracle["result"]


def test_a_chain_without_base_fees_has_gas_prices(chain, database_url):
    chain.append([Move(address("a"), address("b"))])
    body = indexing.client_over(database_url).get("/api/v1/gas").json
    assert body["nextBaseFeePerGas"] is None
    assert body["suggestions"]["fast"]["gasPrice"] == "1"
    assert body["blocks"][0]["gasUsedRatio"] == 0.0  # of a block without a limit
