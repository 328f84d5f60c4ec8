"""Unit prices of a file, a URL and a pool: in the API, on pages, and what a bad source can do."""

import ipaddress
import json
import re
from decimal import Decimal
from statistics import median_low

import pytest

from scan.extensions.markets.tests.unit_prices.pricing import (
    document,
    priced_by,
    priced_by_file,
    read,
)
from scan.extensions.markets.unit_prices.settings import Settings as PriceSettings
from scan.extensions.markets.views import CHART_INTERVAL
from scan.pages.formatting import short_price, worth
from scan.queries.holdings import exact_worth
from scan.settings import Settings
from tests.support.receiver import Answer
from tests.support.serving import no_thread_starts


def pages_of(scenario):
    moved = next(t for t in scenario.truth.token_transfers if t["tokenId"] is None)
    return (
        f"/tx/{moved['transactionHash']}",
        f"/address/{moved['toAddress']}?tab=tokens",
        f"/token/{moved['tokenAddress']}",
    )


def test_without_the_setting_nothing_is_priced(client, scenario):
    prices = client.get("/api/v1/prices").json
    assert (prices["coin"], prices["tokens"]) == (None, {})
    assert prices["problem"] == "No unit prices are configured."
    for path in pages_of(scenario):
        assert "≈" not in client.get(path).text


def test_a_reading_whose_thread_cannot_start_is_begun_by_the_next_request(
    indexed, scenario, tmp_path
):
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(document(scenario)))
    client = priced_by(indexed, file)
    client.get("/api/v1/blocks?limit=1")  # what a first request starts
    with no_thread_starts():
        unread = client.get("/api/v1/prices").json
    assert "not been read yet" in unread["problem"]
    assert read(client)["coin"] == document(scenario)["coin"]


def test_prices_of_a_file_stand_beside_amounts(indexed, scenario, tmp_path):
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(document(scenario)))
    client = priced_by(indexed, file)
    transaction, address, token = pages_of(scenario)
    client.get(transaction)  # before the file is read, so that the cache must not keep it
    by_operator = {"source": "this site's operator", "problem": None, "history": None}
    assert read(client) == {**document(scenario), **by_operator, "pools": {}, "unused": {}}
    moved = next(t for t in scenario.truth.token_transfers if t["tokenId"] is None)
    sent = next(t for t in scenario.truth.transactions if t["hash"] == moved["transactionHash"])
    html = client.get(transaction).text
    for value, decimals, price in (
        (sent["fee"], 18, "3000"),
        (moved["value"], moved["tokenDecimals"] or 0, "2.5"),
    ):
        expected = worth(exact_worth(value, decimals, Decimal(price))).replace("<", "&lt;")
        assert f"≈ {expected} <bdi>&lt;b&gt;U</bdi>" in html
    for path in (transaction, address, token):
        html = client.get(path).text
        assert "2026-01-31 23:59:59 UTC" in html and "operator" in html
        assert "<b>U" not in html
    assert "≈" in client.get(address).text and "2.5 <bdi>" in client.get(token).text
    rows = (f"/address/{sent['fromAddress']}?tab=history", "/accounts", "/token-transfers")
    for path in (*rows, "/gas"):  # heads and notes of lists have prices anyway
        assert "≈" in client.get(path).text.partition("<tbody>")[2], path


@pytest.mark.parametrize("type_", ["BEP721", "BEP1155"])
def test_tokens_of_nfts_have_no_worth_in_rows_as_in_totals(indexed, scenario, tmp_path, type_):
    client = priced_by_file(indexed, tmp_path, document(scenario, currency="USD"))
    token = next(t["address"] for t in scenario.truth.tokens if t["type"] == type_)
    holder = client.get(f"/api/v1/tokens/{token}/holders").json["holders"][0]["address"]
    html = client.get(f"/address/{holder}?tab=tokens").text
    row = html.partition(f'id="token-{token}"')[2].partition("</tr>")[0]
    assert 'data-label="Value"' in row and "≈" not in row and "2.5" not in row
    head = html.partition('class="holdings"')[2].partition("</dd>")[0]
    shown = [part for part in head.split("</span> <span>") if f'"/token/{token}"' in part]
    assert all("≈" not in part for part in shown)


def test_prices_of_a_url_are_read_within_bounds(indexed, scenario, authority, receiver):
    """A bad source has a reason, and no page waits for it or fails by it."""

    def prices_of(answer, networks):
        receiver.behaviour = lambda *_: answer
        settings = {"ca_bundle": str(authority.bundle), "webhook_allow_networks": networks}
        client = priced_by(indexed, receiver.url("/prices.json"), **settings)
        prices = read(client)
        assert client.get(pages_of(scenario)[0]).status_code == 200
        return prices

    inside = (ipaddress.ip_network("127.0.0.0/8"),)
    good = json.dumps(document(scenario)).encode()
    to_inside = (("Location", receiver.url("/in")),)
    prices = prices_of(Answer(200, (), good), inside)
    assert prices["problem"] is None and prices["source"] in receiver.url("")
    for answer, networks, problem in (
        (Answer(200, (), good), (), "not allowed"),
        (Answer(302, to_inside), inside, "not allowed"),
        (Answer(200, (), b" " * 300_000), inside, "too large"),
        (Answer(500), inside, "status 500"),
        (Answer(200, (), b"<html>"), inside, "not JSON"),
    ):
        prices = prices_of(answer, networks)
        assert problem in prices["problem"] and prices["tokens"] == {}
    assert {request.path for request in receiver.received} == {"/prices.json"}


def test_prices_of_a_pool_are_the_median_of_its_hours(indexed, client):
    pool = client.get("/api/v1/pools").json["pools"][0]
    candles = client.get(f"/api/v1/pools/{pool['address']}/candles?limit=24").json["candles"]
    median = median_low(Decimal(c["close"]) for c in candles if c["close"] is not None)
    for currency, other, price in (("1", "0", median), ("0", "1", 1 / median)):
        source = f"{pool['address']}/{pool[f'token{currency}']}"
        priced = priced_by(indexed, source)
        prices = priced.get("/api/v1/prices").json
        assert Decimal(prices["coin"]) == price == Decimal(prices["tokens"][pool[f"token{other}"]])
        assert prices["tokens"][pool[f"token{currency}"]] == "1"
        assert prices["currency"] in (pool[f"token{currency}Symbol"], pool[f"token{currency}"])
        assert (prices["source"], prices["time"]) == (pool["address"], pool["lastTradeAt"])
        assert "this pool" in priced.get(f"/token/{pool['token0']}").text
    for source in (f"0x{'9' * 40}/{pool['token0']}", f"{pool['address']}/0x{'9' * 40}"):
        priced = priced_by(indexed, source)
        assert priced.get("/api/v1/prices").json["problem"].startswith("The pool is not indexed")
        assert priced.get(f"/token/{pool['token0']}").status_code == 200


def test_lists_have_the_worth_of_values_and_fees(indexed, scenario, client, tmp_path):
    sent = next(t for t in scenario.truth.transactions if t["value"] != "0")
    trade = scenario.truth.dex_trades[-1]
    of_coin = [(sent["value"], 18, "3000"), (sent["fee"], 18, "3000")]
    of_tokens = [
        (trade[f"amount{way}"], trade[f"token{way}Decimals"], "2.5") for way in ("In", "Out")
    ]
    priced = priced_by_file(indexed, tmp_path, document(scenario, currency="USD"))
    for path, amounts in (
        (f"/txs?blockFrom={sent['blockNumber']}", of_coin),
        (f"/block/{sent['blockNumber']}", of_coin),
        ("/trades", of_tokens),
        (f"/pool/{trade['pairAddress']}", of_tokens),
    ):
        assert "≈" not in client.get(path).text
        html = priced.get(path).text
        assert "are estimates at prices of" in html
        for amount, decimals, price in amounts:
            total = worth(exact_worth(amount, decimals, Decimal(price))).replace("<", "&lt;")
            assert f'<span class="below"> <span class="quiet">≈ {total} <bdi>USD</bdi>' in html


@pytest.mark.check
def test_a_pool_may_be_given_in_any_case():
    given = {"SCAN_PRICES": f"0x{'AB' * 20}/0x{'ab' * 20}"}
    prices = Settings.from_environment(given).of(PriceSettings).prices
    assert prices == f"0x{'ab' * 20}/0x{'ab' * 20}"


def test_other_forms_have_the_price_in_usd_and_none_in_another_currency(
    indexed, scenario, tmp_path
):
    """Those of Blockscout's API and of two of Etherscan's actions."""

    def answers(currency):
        prices = document(scenario, currency=currency, coin="3000.5")
        client = priced_by_file(indexed, tmp_path, prices)
        action = "/api?module=stats&action="
        bodies = [client.get(f"{action}{name}").json for name in ("ethprice", "coinprice")]
        return client.get("/api/v2/stats").json["coin_price"], *bodies

    price, body, of_blockscout = answers("USD")
    assert price == of_blockscout["result"]["coin_usd"] == "3000.5"
    in_usd = {"ethusd": price, "ethusd_timestamp": "1769903999"}
    assert body["result"] == {"ethbtc": "", "ethbtc_timestamp": "", **in_usd}
    price, body, of_blockscout = answers("EUR")
    assert (price, body["status"], of_blockscout["status"]) == (None, "0", "0")
    assert "/api/v1/prices" in body["result"]


def test_the_candles_of_a_pools_second_token_are_the_other_way_round(indexed, scenario, tmp_path):
    """The highest price of one token in the other is the lowest of that one."""
    reading = r"open ([^ ]+), high ([^ ]+), low ([^ ]+), close ([^<\" ]+)"
    trade = scenario.truth.dex_trades[-1]
    first = indexed.client().get(f"/api/v1/pools/{trade['pairAddress']}").json["token0"]
    prices = document(scenario, tokens={first: "2"}, minDepth="0")
    client = priced_by_file(indexed, tmp_path, prices)
    pools = {
        token: client.get(f"/api/v1/pools/{price['pool']}").json
        for token, price in read(client)["pools"].items()
    }
    second = {token: pool["address"] for token, pool in pools.items() if token == pool["token1"]}
    assert second
    for token, address in second.items():
        path = f"/api/v1/pools/{address}/candles?interval={CHART_INTERVAL}"
        candles = [c for c in client.get(path).json["candles"] if c["open"] is not None]
        expected = [
            tuple(short_price(1 / Decimal(candle[n])) for n in ("open", "low", "high", "close"))
            for candle in candles
        ]
        readings = re.findall(reading, client.get(f"/token/{token}").text)
        assert readings == expected != []
