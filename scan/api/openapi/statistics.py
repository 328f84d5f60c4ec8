"""GET /stats/daily."""

from scan.api.network import DAILY_FORMATS
from scan.api.openapi.schemas import (
    Json,
    array,
    flag,
    nullable,
    operation,
    query,
    record,
    ref,
    text,
)
from scan.queries.daily_stats import DEFAULT_DAYS, MAX_DAYS

_TAG = "Chain"


def _date(description: str) -> Json:
    return text(description, "2026-01-31", format="date")


STATISTICS_PATHS: Json = {
    "/stats/daily": {
        "get": operation(
            "listDays", _TAG, "What happened on each day (UTC)", ref("DailyStats"),
            description="Oldest first; null: indexed by an older version, not counted yet.",
            parameters=(
                query("from", _date(f"First day; by default {DEFAULT_DAYS} days.")),
                query("to", _date(f"Last day, at most {MAX_DAYS} in all; by default the newest.")),
                query("format", {"type": "string", "enum": [*DAILY_FORMATS], "default": "json",
                                 "description": "csv: the same as a file."}),
            ),
        ),
    },
}  # fmt: skip

_COUNTS = (
    "blocks",
    "transactions",
    "failedTransactions",
    "newAddresses",
    "tokenTransfers",
    "dexTrades",
)
_DESCRIBED_COUNTS = {
    "activeAddresses": "Distinct addresses seen, in any part.",
    "contractsCreated": "By transactions and, where traced, contracts.",
}
_AMOUNTS = ("gasUsed", "fees", "burntFees")  # in wei
STATISTICS_SCHEMAS: Json = {
    "DailyStats": record(
        "Days within those that the chain has.",
        {
            "from": nullable(_date("First day asked for; null before the first block.")),
            "to": nullable(_date("Last day.")),
            "complete": flag("Whether all these days are counted."),
            "days": array(ref("Day"), "Oldest first.", maxItems=MAX_DAYS),
        },
    ),
    "Day": record(
        "A day, amounts in wei; null where it is not counted yet.",
        {
            "date": _date("The day (UTC)."),
            **{name: ref("CountOrNull") for name in _COUNTS},
            **{
                name: {**ref("CountOrNull"), "description": description}
                for name, description in _DESCRIBED_COUNTS.items()
            },
            **{name: ref("AmountOrNull") for name in _AMOUNTS},
        },
    ),
}
