"""GET /prices."""

from scan.api.openapi.schemas import (
    Json,
    moment,
    nullable,
    operation,
    record,
    ref,
    text,
)
from scan.extensions.unit_prices.price_document import MAX_TOKENS

PATHS: Json = {
    "/prices": operation(
        "get", "getPrices", "Unit prices that the operator gives", ref("Prices"),
        description="Read at times from a file, a URL or a pool (SCAN_PRICES): what its source"
        " says, as of time. No other value of the API depends on them.",
    ),
}  # fmt: skip
SCHEMAS: Json = {
    "Prices": record(
        "Of one whole coin or token, in currency; null and empty where there are none.",
        {
            "currency": nullable(text("A currency, or the symbol of the token.", "USD")),
            "source": nullable(text("A host, the operator, or the pool.", "prices.example")),
            "time": nullable(moment("As of when; of a pool, its last trade.")),
            "coin": ref("Price"),
            "tokens": {
                "type": "object",
                "description": "By address.",
                "propertyNames": ref("HexAddress"),
                "additionalProperties": ref("Price"),
                "maxProperties": MAX_TOKENS,
            },
            "problem": nullable(
                text("Why there are none, or no newer ones.", "No unit prices are configured.")
            ),
        },
    ),
}
