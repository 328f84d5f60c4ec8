"""Responses as Blockscout publishes them: published.json.gz says where, and under which licence."""

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tests.extensions.blockscout.other_responses import OTHER_RESPONSES

Json = dict[str, Any]

FILE = Path(__file__).with_name("published.json.gz")
DOCUMENT: Json = json.loads(gzip.decompress(FILE.read_bytes()))
# Where Scan says null of what it does not know, and Blockscout always has something.
UNKNOWN = {
    "AddressCounters": ("gas_usage_count", "validations_count"),
    "CoinBalance": ("value",),
    "Counters": ("new_smart_contracts_24h",),
    "InternalTransaction": ("to",),
    "StatsResponse": ("market_cap",),
    "Transaction": ("raw_input", "to"),
    "TransactionResponse": ("raw_input", "to"),
    "UserOperation": (
        *("block_hash", "bundle_index", "index", "gas", "gas_price", "raw", "user_logs_count"),
        *("call_data", "signature", "user_logs_start_index"),
    ),
}


def _converted(value: Any) -> Any:
    """OpenAPI 3.0's `nullable` in JSON Schema's words."""
    if isinstance(value, list):
        return [_converted(each) for each in value]
    if not isinstance(value, dict):
        return value
    rest = {name: _converted(each) for name, each in value.items() if name != "nullable"}
    return {"anyOf": [rest, {"type": "null"}]} if value.get("nullable") is True else rest


def _schemas() -> Json:
    schemas = _converted(DOCUMENT["components"]["schemas"])
    for name, fields in UNKNOWN.items():
        properties = schemas[name]["properties"]
        for field in fields:
            properties[field] = {"anyOf": [properties[field], {"type": "null"}]}
    # A call that failed has no result, and Blockscout passes the node's error on.
    schemas["RawTrace"]["items"]["properties"]["error"] = {"type": "string"}
    return {"schemas": schemas}


COMPONENTS = _schemas()
RESPONSES: Mapping[str, Draft202012Validator] = {
    **{
        path: Draft202012Validator({**_converted(entry["response"]), "components": COMPONENTS})
        for path, entry in DOCUMENT["paths"].items()
    },
    **{
        path: Draft202012Validator({**response, "components": COMPONENTS})
        for path, response in OTHER_RESPONSES.items()
    },
}
ERRORS = Draft202012Validator(
    {"$ref": "#/components/schemas/JsonErrorResponse", "components": COMPONENTS}
)


MARKET = "/api/v2/stats/charts/market"  # of which Scan has nothing


def route_of(rule: str) -> str:
    return re.sub(r"<\w+>", "{}", rule)


def faults(route: str, body: Any) -> list[str]:
    """What of a response is not as published."""
    return [
        f"{route} {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        for error in RESPONSES[route].iter_errors(body)
    ]
