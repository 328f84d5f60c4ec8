"""Signatures of functions for display, such as `bid(uint256 _id)`, by selector."""

from collections.abc import Mapping
from typing import Any

from scan.contracts.abi import AbiError, parse_types, selector, signature

MOST_FUNCTIONS = 2000
LONGEST = 1000


def function_names(functions: Any) -> Mapping[str, str]:
    """Of an ABI's function entries, by selector in hex; malformed entries are skipped."""
    names: dict[str, str] = {}
    for entry in (functions if isinstance(functions, list) else [])[:MOST_FUNCTIONS]:
        try:
            name, inputs = entry["name"], entry.get("inputs", [])
            key = "0x" + selector(signature(name, parse_types(inputs))).hex()
        except (AbiError, KeyError, TypeError, AttributeError):
            continue
        arguments = (f"{item['type']} {item.get('name') or ''}".strip() for item in inputs)
        text = f"{name}({', '.join(arguments)})"
        if len(text) <= LONGEST:
            names.setdefault(key, text)
    return names
