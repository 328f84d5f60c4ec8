"""Functions as a person reads them, `bid(uint256 _id)`, by the first four bytes of a call."""

from collections.abc import Mapping
from typing import Any

from scan.contracts.abi import AbiError, parse_types, selector, signature

MOST_FUNCTIONS = 2000
LONGEST = 1000


def function_names(functions: Any) -> Mapping[str, str]:
    """Of an ABI's entries for functions, by selectors in hex; what cannot be read is left out."""
    names: dict[str, str] = {}
    for entry in (functions if isinstance(functions, list) else [])[:MOST_FUNCTIONS]:
        try:
            name, inputs = entry["name"], entry.get("inputs", [])
            key = "0x" + selector(signature(name, parse_types(inputs))).hex()
        except (AbiError, KeyError, TypeError, AttributeError):
            continue
        parts = (f"{each['type']} {each.get('name') or ''}".strip() for each in inputs)
        shown = f"{name}({', '.join(parts)})"
        if len(shown) <= LONGEST:
            names.setdefault(key, shown)
    return names
