"""module=block, transaction, token and gastracker."""

from collections.abc import Mapping
from typing import Any

import orjson

from scan.errors import NotFound
from scan.ethereum.units import in_units
from scan.extensions.chain_statistics import daily_stats, gas
from scan.extensions.etherscan.account import NO_DATA
from scan.extensions.etherscan.objects import gwei, renamed
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply, rows_reply
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.hex import data
from scan.http.requests import reader
from scan.queries import addresses, blocks, tokens, transactions
from scan.queries.network import token_standard
from scan.queries.pages import Window

MOST_TOP_HOLDERS = 1_000
# Of tokeninfo: what the publishers of tokens say of them, which nobody gives here.
OF_PUBLISHERS = (
    "blueCheckmark", "description", "website", "email", "blog", "reddit", "slack", "facebook",
    "twitter", "bitcointalk", "github", "telegram", "wechat", "linkedin", "discord", "whitepaper",
    "tokenPriceUSD", "image",
)  # fmt: skip
LATEST_S = 9_000_000_000_000  # the maximum of PostgreSQL's timestamptz
NO_SUCH_BLOCK = "Error! No closest block found"


def block_by_time(parameters: Parameters) -> Reply:
    parameters.required("timestamp")
    closest = parameters.text("closest", "before").lower()
    if closest not in ("before", "after"):
        raise Failure("Error! Invalid closest: before or after")
    time_s = min(parameters.integer("timestamp", 0), LATEST_S)
    before, after = blocks.nearest(reader(), time_s)
    number = before if closest == "before" else after
    if number is None:
        raise Failure(NO_SUCH_BLOCK)
    return Reply(str(number))


def fees_of_day(parameters: Parameters) -> Reply:
    """Return the fees of a day (UTC) in wei."""
    day = parameters.day("date")
    [row] = orjson.loads(daily_stats.days(reader(), day, day).data) or [None]
    if row is None:
        raise Failure("Error! No blocks of this day are indexed")
    return Reply({"total_fees": row["fees"]})


def receipt_status(parameters: Parameters) -> Reply:
    """Return a receipt's status, which is empty if the transaction is not indexed."""
    status = transactions.status(reader(), parameters.hash32("txhash"))
    return Reply({"status": "" if status is None else str(int(status))})


def execution_status(parameters: Parameters) -> Reply:
    body = transactions.get(reader(), parameters.hash32("txhash"))
    if body is None:
        raise Failure("Error! The transaction is not indexed")
    failure = explanations.failure(reader(), orjson.loads(body))
    if failure is None:
        return Reply({"isError": "0", "errDescription": ""})
    return Reply({"isError": "1", "errDescription": failure.reason.sentence})


def token(parameters: Parameters) -> Reply:
    try:
        record = orjson.loads(tokens.get(reader(), parameters.address("contractaddress")))
    except NotFound:
        return rows_reply([], NO_DATA)
    row = {
        **renamed("token", record),
        "tokenType": token_standard(record["type"]).replace("-", ""),
        **dict.fromkeys(OF_PUBLISHERS, ""),
    }
    return rows_reply([row], NO_DATA)


def token_holder_count(parameters: Parameters) -> Reply:
    try:
        record = orjson.loads(tokens.get(reader(), parameters.address("contractaddress")))
    except NotFound:
        return Reply("0")
    return Reply(str(record["holderCount"]))


def token_holders(parameters: Parameters) -> Reply:
    limit, offset = parameters.limit_and_offset()
    address = parameters.address("contractaddress")
    try:
        page = tokens.holders(reader(), address, Window(limit, offset))
    except NotFound:
        return rows_reply([], NO_DATA, 0)
    rows = [renamed("holder", holder) for holder in orjson.loads(page.data)]
    return rows_reply(rows, NO_DATA, page.total)


def top_holders(parameters: Parameters) -> Reply:
    """Return the largest holders, with balances in units of the token; addresses with code are of
    the type C, others of E."""
    address = parameters.address("contractaddress")
    limit, _ = parameters.limit_and_offset(MOST_TOP_HOLDERS)
    try:
        decimals = orjson.loads(tokens.get(reader(), address))["decimals"] or 0
        holders = orjson.loads(tokens.holders(reader(), address, Window(limit, 0)).data)
    except NotFound:
        return rows_reply([], NO_DATA)
    parties = addresses.parties(reader(), [data(holder["address"]) for holder in holders])
    rows = [
        {
            "TokenHolderAddress": holder["address"],
            "TokenHolderQuantity": in_units(int(holder["balance"]), decimals),
            "TokenHolderAddressType": "C" if _has_code(parties, holder["address"]) else "E",
        }
        for holder in holders
    ]
    return rows_reply(rows, NO_DATA)


def _has_code(parties: Mapping[str, Mapping[str, Any]], address: str) -> bool:
    return bool(parties.get(address, {}).get("isContract"))


def gas_oracle(_parameters: Parameters) -> Reply:
    """Return prices in gwei, with the base fee; the ratios are of the newest five blocks."""
    prices = gas.price(reader())
    suggestions = prices["suggestions"]
    if suggestions is None:
        raise Failure("Error! No transactions in the newest blocks")
    base_fee = prices["nextBaseFeePerGas"] or prices["baseFeePerGas"] or "0"
    return Reply(
        {
            "LastBlock": str(prices["blockNumber"]),
            "SafeGasPrice": gwei(suggestions["slow"]["gasPrice"]),
            "ProposeGasPrice": gwei(suggestions["standard"]["gasPrice"]),
            "FastGasPrice": gwei(suggestions["fast"]["gasPrice"]),
            "suggestBaseFee": gwei(base_fee),
            "gasUsedRatio": ",".join(str(block["gasUsedRatio"]) for block in prices["blocks"][:5]),
        }
    )
