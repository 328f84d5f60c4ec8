"""The chain as a whole: statistics, charts, the contracts that were called most, the home page's
lists, the version.

Search: the results for a text, and a redirect for a hash, address, number or label.
"""

from typing import Any

import orjson
from flask import request

from scan import VERSION, parameters, registry
from scan.errors import InvalidParameter
from scan.ethereum import checksums, units
from scan.extensions.blockscout import hooks, paths
from scan.extensions.blockscout.address_and_token_objects import UNRATED, AddressObjects
from scan.extensions.blockscout.blocks import block_objects
from scan.extensions.blockscout.transaction_lists import transaction_objects
from scan.extensions.chain_statistics import gas_prices, statistics
from scan.extensions.search import views as search
from scan.hex import data
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.queries import blocks, filtered_pages, holdings, network, tokens, transactions
from scan.queries.list_pages import Window

SHOWN_BLOCKS, SHOWN_TRANSACTIONS = 4, 6  # on Blockscout's home page
LANGUAGES = ["solidity", "vyper", "yul"]
NO_MARKET_CAP = "0"  # as Blockscout says where it knows none
ANSWERED_VERSION = "12.0.0"
TRANSFER_GAS, WEI_PER_COIN = 21_000, 10**units.COIN_DECIMALS
# The prices of /gas, and within how many blocks a transaction is expected, as Blockscout says where
# it has seen none wait.
GAS_PRICES = {"slow": ("slow", 5), "average": ("standard", 3), "fast": ("fast", 1)}

# What lists of contracts can be sorted by, and the spans of time, in seconds.
SORTS = {"transactions_count": "transactions", "total_gas_used": "gasUsed"}
SPANS_S = {"5m": 300, "1h": 3600, "3h": 10_800, "1d": 86_400, "7d": 604_800, "30d": 2_592_000}

blueprint = paths.Routes("network")


@blueprint.path("/stats")
def get_stats() -> Response:
    """Return statistics; without prices in USD, they and what follows from them are null."""
    totals = network.totals(reader())
    today = totals["today"] or {}
    coin_price = holdings.coin_in_usd(reader())
    gas_prices: Any = _gas_prices(coin_price, totals["blockTimeMs"])
    if gas_prices is not None and request.headers.get(paths.WHOLE_GAS_PRICES) != "true":
        gas_prices = {name: price["price"] for name, price in gas_prices.items()}
    stats = {
        **paths.renamed("stats", totals),
        "coin_price": None if coin_price is None else f"{coin_price.amount:f}",
        "market_cap": NO_MARKET_CAP,
        "total_addresses": str(totals["addresses"] or 0),
        "transactions_today": str(today.get("transactions", 0)),
        "gas_used_today": today.get("gasUsed", "0"),
        "gas_prices": gas_prices,
    }
    return json_value(stats)


def _gas_prices(
    coin_price: holdings.CoinPrice | None, block_time_ms: int
) -> dict[str, paths.Object] | None:
    """Return suggested prices in gwei and wei; `fiat_price` is that of a plain transfer in USD,
    `time` in milliseconds."""
    suggestions = gas_prices.price(reader())["suggestions"]
    if suggestions is None:
        return None
    prices = {}
    for name, (ours, blocks_waited) in GAS_PRICES.items():
        price = int(suggestions[ours]["gasPrice"])
        tip = int(suggestions[ours]["maxPriorityFeePerGas"])
        fiat = coin_price and coin_price.amount * price * TRANSFER_GAS / WEI_PER_COIN
        prices[name] = {
            "price": _gwei(price),
            "fiat_price": None if fiat is None else f"{fiat:.2f}",
            "time": round(float(block_time_ms * blocks_waited), 1) or None,
            "base_fee": _gwei(price - tip),
            "priority_fee": _gwei(tip),
            "wei": str(price),
            "priority_fee_wei": str(tip),
        }
    return prices


def _gwei(wei: int) -> float:
    return float(units.in_units(wei, units.GWEI_DECIMALS))


@blueprint.path("/stats/charts/transactions")
def get_transactions_chart() -> Response:
    """Return the transactions of the newest days, the newest first."""
    days = orjson.loads(statistics.days(reader()).data)
    chart = [
        {"date": day["date"], "transactions_count": day["transactions"]} for day in reversed(days)
    ]
    return json_value({"chart_data": chart})


@blueprint.path("/stats/charts/market")
def get_market_chart() -> Response:
    return json_value({"chart_data": [], "available_supply": 0})  # as where no prices are known


@blueprint.path("/stats/hot-smart-contracts")
def list_most_called() -> Response:
    """Return contracts by how often transactions called them in the `scale` before the newest
    block. Their balances are null: they are those of another time."""
    scale = paths.one_of("scale", [*SPANS_S])
    if scale is None:
        raise InvalidParameter(f"scale is missing: {', '.join(SPANS_S)}.", field="scale")
    sort = paths.one_of("sort", [*SORTS]) or "transactions_count"
    order = statistics.Order(
        by_gas=SORTS[sort] == "gasUsed",
        is_ascending=paths.one_of("order", ("asc", "desc")) == "asc",
    )
    place: Any = paths.together(
        **dict.fromkeys(SORTS, paths.number), contract_address_hash=paths.address
    )
    after = None if place is None else (place[[*SORTS].index(sort)], place[-1])
    most = paths.row_count()
    records = statistics.contracts(reader(), SPANS_S[scale], order, after, most)
    objects = AddressObjects(record["address"] for record in records)
    items = [
        {
            "contract_address": objects.of(record["address"]),
            "transactions_count": record["transactions"],
            "total_gas_used": record["gasUsed"],
            "balance": None,
        }
        for record in records
    ]
    following = None
    if len(items) == most:  # the next page may be empty
        last_item = items[-1]
        following = {name: last_item[name] for name in SORTS}
        following["contract_address_hash"] = last_item["contract_address"]["hash"]
    return paths.list_response(items, following)


@blueprint.path("/main-page/blocks")
def list_newest_blocks() -> Response:
    page = blocks.page(reader(), Window(SHOWN_BLOCKS, 0))
    return json_value(block_objects(orjson.loads(page.data)))


@blueprint.path("/main-page/transactions")
def list_newest_transactions() -> Response:
    page = filtered_pages.filtered_page(reader(), "transactions", {}, Window(SHOWN_TRANSACTIONS, 0))
    return json_value(transaction_objects(orjson.loads(page.data)))


@blueprint.path("/main-page/indexing-status")
def get_indexing_status() -> Response:
    return json_value(paths.renamed("indexing", network.indexed_share(reader())._asdict()))


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
    return json_value(paths.renamed("indexer", {"traces": reader().sources.traces != "off"}))


@blueprint.path("/config/public-metrics")
def get_public_metrics() -> Response:
    """Return 0: statistics are of the newest block."""
    return json_value({"update_period_hours": 0})


@blueprint.path("/config/smart-contracts/languages")
def list_languages() -> Response:
    return json_value({"languages": LANGUAGES})


LEAST_LENGTH = 3  # of what is no block number


@blueprint.path("/search")
def list_results() -> Response:
    """Return the best results, all on one page."""
    return paths.list_response(_results(paths.text("q")), None)


@blueprint.path("/search/quick")
def list_quick_results() -> Response:
    query = paths.text("q")
    is_short = query is None or (len(query) < LEAST_LENGTH and not query.isdecimal())
    return json_value([] if is_short else _results(query))


@blueprint.path("/search/check-redirect")
def check_redirect() -> Response:
    query = paths.text("q")
    result = None if query is None else search.destination_of(query, _matches(query))
    if result is None:
        more = _by_hash(query) or {"type": None}
        kind, value = more["type"], more.get(f"{more['type']}_hash")
    else:
        kind, value = result["type"], result["value"]
        if kind in ("address", "token", "contract"):
            kind, value = "address", checksums.checksummed(value)
        if kind == "block":  # which a reorganisation may have removed meanwhile
            value = orjson.loads(blocks.get(reader(), int(value)) or "{}").get("hash")
            kind = kind if value else None
    return json_value({"redirect": kind is not None, "type": kind, "parameter": value})


def _matches(query: str | None) -> list[paths.Record]:
    if query is None:
        return []
    records: list[paths.Record] = orjson.loads(search.search(reader(), query))
    return records


def _results(query: str | None) -> list[paths.Object]:
    results = _matches(query)
    keys = [data(result["value"]) for result in results if result["type"] == "token"]
    tokens_by_address = tokens.records_of(reader(), keys)
    parties = [result["value"] for result in results if result["type"] in ("address", "contract")]
    objects = AddressObjects(parties)
    more = None if results else _by_hash(query)
    return [
        *filter(None, (_result(result, tokens_by_address, objects) for result in results)),
        *([more] if more else ()),
    ]


def _by_hash(query: str | None) -> paths.Object | None:
    """Return what an extension has by a hash."""
    try:
        key = parameters.hash32((query or "").strip(), "q")
    except InvalidParameter:
        return None
    results = (part.search_result(reader(), key) for part in registry.parts(hooks.Blockscout))
    result = next(filter(None, results), None)
    return None if result is None else {**result, "priority": 0}


def _result(
    result: paths.Record, tokens_by_address: dict[str, paths.Record], objects: AddressObjects
) -> paths.Object | None:
    """Return a result; None where a reorganisation has removed it meanwhile."""
    kind, value = result["type"], result["value"]
    if kind == "block" and (body := blocks.get(reader(), int(value))):
        more = {"value": value, "url": f"/block/{value}"}
        return paths.renamed("found_block", orjson.loads(body) | more)
    if kind == "transaction" and (body := transactions.get(reader(), data(value))):
        more = {"value": value, "url": f"/tx/{value}"}
        return paths.renamed("found_transaction", orjson.loads(body) | more)
    if kind in ("block", "transaction"):
        return None
    fields = {**paths.renamed("found", result), "priority": 0, "reputation": UNRATED}
    if kind != "token":
        is_label = kind == "address" and result["name"] is not None
        party = objects.of(value)
        of_address = {
            "url": f"/address/{checksums.checksummed(value)}",
            "ens_info": None,
            "name": result["name"] or party["name"],
            "is_smart_contract_address": party["is_contract"],
            "is_smart_contract_verified": party["is_verified"],
        }
        return {**fields, **of_address, "type": "label" if is_label else kind}
    token = tokens_by_address.get(value)
    return {
        **fields,
        **paths.renamed("found_token", token or dict.fromkeys(("name", "type", "totalSupply"))),
        "symbol": result["symbol"],
        "token_url": f"/token/{checksums.checksummed(value)}",
        "address_url": f"/address/{checksums.checksummed(value)}",
    }
