# ruff: noqa: E501 (a setting is one line)
"""The setting of unit prices."""

import re
from dataclasses import dataclass

from scan.environment import existing_path, https_url, setting


def price_source(text: str) -> str:
    """Return the source of unit prices: a URL, a pool with the token that prices are in, or
    a file."""
    if "://" in text:
        return https_url(text)
    if text.lower().startswith("0x"):
        if not re.fullmatch(r"0x[0-9a-f]{40}/0x[0-9a-f]{40}", text.lower()):
            raise ValueError("must be the address of a pool, / and that of the token prices are in")
        return text.lower()
    return existing_path(text)


@dataclass(frozen=True)
class Settings:
    # fmt: off
    prices: str = setting("SCAN_PRICES", price_source, "none", "a JSON file, an https URL or a pool with [prices](pages.md#prices)", unset="")
    # fmt: on
