"""GET /stats/daily, /gas and /stats/largest-transfers."""

from scan.api.openapi.schemas import (
    Json,
    amount,
    array,
    flag,
    nullable,
    number,
    one_of,
    operation,
    or_null,
    query,
    record,
    ref,
    shared,
    text,
)
from scan.extensions.chain_statistics import gas
from scan.extensions.chain_statistics.api import DAILY_FORMATS
from scan.extensions.chain_statistics.daily_stats import DEFAULT_DAYS, MAX_DAYS
from scan.extensions.chain_statistics.largest_transfers import LARGEST, MAX_SAMPLE
from scan.http.list_format import TYPES, Format


def _date(description: str) -> Json:
    return text(description, "2026-01-31", format="date")


PATHS: Json = {
    "/stats/daily": operation(
        "get", "listDays", "What happened on each day (UTC)", ref("DailyStats"),
        description="Oldest first; a day without blocks counts nothing.",
        parameters=(
            query("from", _date(f"First day; by default {DEFAULT_DAYS} days.")),
            query("to", _date(f"Last day, at most {MAX_DAYS} in all; by default the newest.")),
            query("format", {"type": "string", "enum": [*DAILY_FORMATS], "default": "json",
                             "description": "csv: the same as a file."}),
        ),
        more_types=(TYPES[Format.CSV],),
    ),
    "/stats/largest-transfers": operation(
        "get", "listLargestTransfers", "The largest transfers of a day", ref("Largest"),
        description="Coin that transactions moved, or transfers of a token. With date: among"
        f" all of the day, or where it has more than {MAX_SAMPLE:,} (total) among the newest so"
        " many (of), of coin only where fewer than 10 moved 10 coins. Without: of the newest"
        " 10,000 transactions, or a token's newest 2,000 transfers.",
        parameters=(
            shared("filter-tokenAddress"), query("date", _date("A day of blocks' times (UTC)."))
        ),
    ),
    "/gas": operation(
        "get", "getGas", "Gas prices, and what common actions cost", ref("Gas"),
        description="Of the newest blocks and at most 5,000 transactions in them. A suggestion"
        " adds a percentile of their tips to the next base fee.",
    ),
}  # fmt: skip

_COUNTS = (
    *("blocks", "transactions", "failedTransactions", "newAddresses", "tokenTransfers"),
    "dexTrades",
)
_DESCRIBED_COUNTS = {
    "activeAddresses": "Distinct addresses seen, in any part.",
    "contractsCreated": "By transactions and, where traced, contracts.",
}
_AMOUNTS = ("gasUsed", "fees", "burntFees")  # in wei
SCHEMAS: Json = {
    "DailyStats": record(
        "Days within those that the chain has.",
        {
            "from": nullable(_date("First day asked for; null before the first block.")),
            "to": nullable(_date("Last day.")),
            "complete": flag("Always true."),
            "days": array(ref("Day"), "Oldest first.", maxItems=MAX_DAYS),
        },
    ),
    "Day": record(
        "A day, amounts in wei.",
        {
            "date": _date("The day (UTC)."),
            **{name: ref("Count") for name in _COUNTS},
            **{
                name: {**ref("Count"), "description": description}
                for name, description in _DESCRIBED_COUNTS.items()
            },
            **{name: ref("Amount") for name in _AMOUNTS},
        },
    ),
    "Largest": record(
        "Transactions, or transfers of a token, largest first.",
        {
            "of": number("How many were looked through.", 10_000),
            "blockFrom": nullable(number("The block of the oldest.", 17)),
            "date": _date("As requested."),
            "total": number("How many that day has.", 10_000),
            "transactions": array(ref("Transaction"), "Without tokenAddress.", maxItems=LARGEST),
            "transfers": array(ref("TokenTransfer"), "With tokenAddress.", maxItems=LARGEST),
        },
        optional=("date", "total", "transactions", "transfers"),
    ),
    "Gas": record(
        "Prices in wei; null where the newest blocks do not tell.",
        {
            "blockNumber": ref("CountOrNull"),
            "baseFeePerGas": ref("AmountOrNull"),
            "nextBaseFeePerGas": nullable(amount("By EIP-1559; null on chains of other rules.")),
            "transactions": number("Transactions the tips are of.", 3_000),
            "suggestions": or_null(ref("GasSuggestions"), "Null without transactions."),
            "costs": array(ref("GasCost"), "At the standard price."),
            "blocks": array(ref("BlockGas"), "Newest first.", maxItems=gas.BLOCKS),
        },
    ),
    "GasSuggestions": record("By speed.", {name: ref("GasSuggestion") for name in gas.PERCENTILES}),
    "GasSuggestion": record(
        "A price.",
        {
            "percentile": number("Of the tips.", 50),
            "maxPriorityFeePerGas": amount("The tip."),
            "maxFeePerGas": amount("Twice the base fee, and the tip."),
            "gasPrice": amount("The next base fee, and the tip."),
        },
    ),
    "GasCost": record(
        "An action.",
        {
            "action": one_of("What is done.", gas.ACTIONS),
            "gas": nullable(amount("The median of the newest ones.")),
            "cost": nullable(amount("In wei.")),
        },
    ),
    "BlockGas": record(
        "A block.",
        {
            "number": ref("Count"),
            "timestamp": ref("Moment"),
            "baseFeePerGas": ref("AmountOrNull"),
            "gasUsedRatio": {"type": "number", "description": "Of its limit.", "examples": [0.5]},
        },
    ),
}
