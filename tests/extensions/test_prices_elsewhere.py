"""Prices beside what other extensions show: scan.extensions.exports, scan.extensions.history and
scan.extensions.traces."""

import csv
import io
from decimal import Decimal

import pytest

from app import create_app
from scan.extensions.markets.tests.unit_prices import pricing
from scan.extensions.markets.unit_prices import pool_prices
from scan.pages import formatting, site
from scan.queries.holdings import UnitPrices, exact_worth
from tests.support import fixed_prices
from tests.support.indexing import settings_for
from tests.support.serving import NOWHERE, no_thread_starts


@pytest.mark.parametrize("path", ["?tab=tokens", "/transfers/sums", "?tab=transfers", ""])
def test_a_page_reads_prices_once(indexed, scenario, path):
    """A second reading may have other prices, so that a total would not be that of its rows."""
    client = indexed.client()
    moved = scenario.truth.token_transfers[-1]
    tokens = {moved["tokenAddress"]: Decimal(2)}
    prices = fixed_prices.price(client, UnitPrices("USD", "us", "", Decimal(1), tokens))
    assert client.get(f"/address/{moved['toAddress']}{path}").status_code == 200
    assert prices.reads == 1


def rows_of(client, path):
    response = client.get(f"{path}{'&' if '?' in path else '?'}format=csv")
    assert response.status_code == 200, response.text
    return [*csv.DictReader(io.StringIO(response.data.decode("utf-8-sig")))]


def test_rows_of_csv_files_have_the_price_of_their_day(indexed, scenario, client, tmp_path):
    """In the document's currency, or in the pool's other token: the median of the day's closes."""
    trade = scenario.truth.dex_trades[-1]
    pool = client.get(f"/api/v1/pools/{trade['pairAddress']}").json
    source, day = f"{pool['address']}/{pool['token1']}", trade["timestamp"][:10]
    candles = client.get(f"/api/v1/pools/{pool['address']}/candles?limit=100").json["candles"]
    of_day = (c["close"] for c in candles if c["time"].startswith(day) and c["close"] is not None)
    closes = sorted(map(Decimal, of_day))
    price = pytest.approx(closes[len(closes) // 2], rel=Decimal("1e-12"))
    prices = pricing.document(scenario, currency="USD", history=source)
    for currency, priced in (
        (pool["token1Symbol"], pricing.priced_by(indexed, source)),
        ("USD", pricing.priced_by_file(indexed, tmp_path, prices)),
    ):
        assert pricing.read(priced)["history"] == source
        sent = rows_of(priced, f"/api/v1/addresses/{trade['maker']}/transactions")
        [row] = [row for row in sent if row["transaction"] == trade["transactionHash"]]
        assert (Decimal(row["price"]), row["price_currency"]) == (price, currency)
        trades = rows_of(priced, f"/api/v1/dex-trades?pool={pool['address']}")
        of_trade = (trade["transactionHash"], str(trade["logIndex"]))
        [row] = [row for row in trades if (row["transaction"], row["log_index"]) == of_trade]
        by_token = {pool["token0"]: price, pool["token1"]: 1}
        for way in ("In", "Out"):
            assert Decimal(row[f"price_{way.lower()}"]) == by_token[trade[f"token{way}"]]
        transfers = rows_of(priced, f"/api/v1/addresses/{trade['maker']}/transfers")
        assert {row["price"] for row in transfers if row["token"] == pool["token1"]} == {"1"}
        assert not [row for row in transfers if row["token_id"] and row["price"]]
        for path in ("history", "history?group=transaction"):
            assert "price" in rows_of(priced, f"/api/v1/addresses/{trade['maker']}/{path}")[0]


def test_without_prices_of_days_files_have_no_column_for_them(indexed, scenario, client, tmp_path):
    without_history = pricing.priced_by_file(indexed, tmp_path, pricing.document(scenario))
    for unpriced in (client, without_history):
        assert not {"price", "price_currency"} & {*rows_of(unpriced, "/api/v1/transactions")[0]}
    trade = scenario.truth.dex_trades[-1]
    absent = f"0x{'9' * 40}"
    for history in (f"{absent}/{trade['tokenIn']}", f"{trade['pairAddress']}/{absent}"):
        priced = pricing.priced_by_file(
            indexed, tmp_path, pricing.document(scenario, history=history)
        )
        assert pricing.read(priced)["history"] == history
        assert "price" not in rows_of(priced, "/api/v1/transactions")[0]


def test_a_file_before_prices_are_read_is_refused_rather_than_short(indexed, scenario, client):
    trade = scenario.truth.dex_trades[-1]
    pool = client.get(f"/api/v1/pools/{trade['pairAddress']}").json
    sources = {
        "https://prices.example/": "The prices have not been read yet.",
        f"{pool['address']}/{pool['token1']}": pool_prices.UNREAD,
    }
    for source, problem in sources.items():
        priced = pricing.priced_by(indexed, source)
        priced.get("/api/v1/blocks?limit=1")  # what a first request starts
        with no_thread_starts():  # so that none is read
            refused = priced.get("/api/v1/transactions?format=csv")
            assert (refused.status_code, refused.json["error"]) == (503, problem)
            assert priced.get("/api/v1/transactions?format=ndjson").status_code == 200


def test_internal_transfers_have_the_worth_of_their_value(indexed, scenario, client, tmp_path):
    moved = client.get("/api/v1/internal-transfers?limit=1").json["internalTransfers"][0]
    assert "≈" not in client.get("/internal-transfers").text
    priced = pricing.priced_by_file(indexed, tmp_path, pricing.document(scenario, currency="USD"))
    total = formatting.worth(exact_worth(moved["value"], 18, Decimal(3000))).replace("<", "&lt;")
    assert f"≈ {total} <bdi>USD</bdi>" in priced.get("/internal-transfers").text


@pytest.mark.check
@pytest.mark.parametrize("is_backed", [True, False, None])
def test_only_a_trade_that_transfers_bear_has_a_worth(is_backed):
    """A pool of anybody's says that any amount of a token was traded."""
    token, other, pool = (f"0x{digit * 40}" for digit in "123")
    prices = UnitPrices("USD", "us", "2026-01-31T00:00:00Z", None, {token: Decimal(2)})
    trade = {
        **{"pairAddress": pool, "poolId": None, "dex": "uniswap-v2", "maker": pool},
        "logIndex": 1,
        **{"transactionHash": f"0x{64 * '9'}", "timestamp": "2026-01-31T00:00:00Z"},
        **{"tokenIn": token, "amountIn": str(10**60), "tokenInDecimals": 6},
        **{"tokenOut": other, "amountOut": "1", "tokenOutDecimals": 6},
        "backedByTransfers": is_backed,
    }
    create_app(settings_for(NOWHERE, NOWHERE))
    tables = site.templates().get_template("tables.html").make_module()
    assert ("≈" in tables.trades_table([trade], {}, prices=prices)) == (is_backed is True)
