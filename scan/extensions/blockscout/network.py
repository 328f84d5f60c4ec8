"""The chain as a whole: statistics, charts, the home page's lists, the version."""

import orjson

from scan import VERSION
from scan.ethereum.units import GWEI_DECIMALS, in_units
from scan.extensions.blockscout.block_objects import block_objects
from scan.extensions.blockscout.objects import renamed
from scan.extensions.blockscout.routing import routes
from scan.extensions.blockscout.transaction_objects import transaction_objects
from scan.extensions.chain_statistics import daily_stats, gas
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.queries import blocks, network
from scan.queries.pages import Window, filtered_page
from scan.queries.prices import coin_in_usd

SHOWN_BLOCKS, SHOWN_TRANSACTIONS = 4, 6  # on Blockscout's home page
LANGUAGES = ["solidity", "vyper", "yul"]
NO_MARKET_CAP = "0"  # as Blockscout says where it knows none
ANSWERED_VERSION = "12.0.0"
GAS_PRICES = {"slow": "slow", "average": "standard", "fast": "fast"}

blueprint = routes("network")


@blueprint.path("/stats")
def get_stats() -> Response:
    """Return statistics; without prices in USD, they and what follows from them are null."""
    totals = network.totals(reader())
    today = totals["today"] or {}
    return json_value(
        {
            **renamed("stats", totals),
            "coin_price": _coin_price(),
            "market_cap": NO_MARKET_CAP,
            "total_addresses": str(totals["addresses"] or 0),
            "transactions_today": str(today.get("transactions", 0)),
            "gas_used_today": today.get("gasUsed", "0"),
            "gas_prices": _gas_prices(),
        }
    )


def _coin_price() -> str | None:
    """Return the price of a coin in USD; None where the operator gives none in this currency."""
    price = coin_in_usd(reader())
    return None if price is None else f"{price.amount:f}"


def _gas_prices() -> dict[str, float] | None:
    """Return prices in gwei as numbers."""
    suggestions = gas.price(reader())["suggestions"]
    if suggestions is None:
        return None
    return {
        name: float(in_units(int(suggestions[ours]["gasPrice"]), GWEI_DECIMALS))
        for name, ours in GAS_PRICES.items()
    }


@blueprint.path("/stats/charts/transactions")
def get_transactions_chart() -> Response:
    """Return the transactions of the newest days, the newest first."""
    days = orjson.loads(daily_stats.days(reader()).data)
    chart = [
        {"date": day["date"], "transactions_count": day["transactions"]} for day in reversed(days)
    ]
    return json_value({"chart_data": chart})


@blueprint.path("/stats/charts/market")
def get_market_chart() -> Response:
    return json_value({"chart_data": [], "available_supply": 0})  # as where no prices are known


@blueprint.path("/main-page/blocks")
def list_newest_blocks() -> Response:
    page = blocks.page(reader(), Window(SHOWN_BLOCKS, 0))
    return json_value(block_objects(orjson.loads(page.data)))


@blueprint.path("/main-page/transactions")
def list_newest_transactions() -> Response:
    page = filtered_page(reader(), "transactions", {}, Window(SHOWN_TRANSACTIONS, 0))
    return json_value(transaction_objects(orjson.loads(page.data)))


@blueprint.path("/main-page/indexing-status")
def get_indexing_status() -> Response:
    progress = network.indexed_share(reader())
    return json_value(
        {
            "finished_indexing": progress.is_complete,
            "finished_indexing_blocks": progress.is_complete,
            "indexed_blocks_ratio": progress.share,
            "indexed_internal_transactions_ratio": None,
        }
    )


@blueprint.path("/config/backend-version")
def get_version() -> Response:
    """Return the version of Blockscout's API that is answered, and whose answer it is."""
    return json_value({"backend_version": f"v{ANSWERED_VERSION}+scan.{VERSION}"})


@blueprint.path("/config/backend")
def get_backend() -> Response:
    """Return the default form: fields of other forms are added where the chain has them."""
    return json_value({"chain_type": "default", "openapi_spec_folder_name": "default"})


@blueprint.path("/config/db-background-migrations")
def list_migrations() -> Response:
    return json_value({"migrations": []})


@blueprint.path("/config/indexer")
def get_indexer() -> Response:
    """Return which data there are, by the tasks that fetch them at Blockscout."""
    return json_value(
        {
            "indexer_enabled": True,
            "internal_transactions_fetcher_enabled": reader().sources.traces != "off",
            "pending_transactions_fetcher_enabled": False,
            "block_reward_fetcher_enabled": True,
            "token_instance_retry_fetcher_enabled": False,
            "token_instance_sanitize_fetcher_enabled": False,
        }
    )


@blueprint.path("/config/public-metrics")
def get_public_metrics() -> Response:
    """Return 0: statistics are of the newest block."""
    return json_value({"update_period_hours": 0})


@blueprint.path("/config/smart-contracts/languages")
def list_languages() -> Response:
    return json_value({"languages": LANGUAGES})
