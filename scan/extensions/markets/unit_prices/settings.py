# ruff: noqa: E501 (a setting is one line)
"""The setting of unit prices."""

import re
from dataclasses import dataclass

from scan.setting_kinds import Kind, existing_file, https_url, require, setting
from scan.settings import OwnSettings

POOL_AND_TOKEN = re.compile(r"0x[0-9a-f]{40}/0x[0-9a-f]{40}")


def _source(text: str) -> str:
    """Return a URL, a pool with the token that prices are in, or the path of a file."""
    if "://" in text:
        return https_url.parse(text)
    if _is_pool(text):
        require(POOL_AND_TOKEN.fullmatch(text.lower()))
        return text.lower()
    return existing_file.parse(text)


def _is_pool(text: str) -> bool:
    return text.lower().startswith("0x")


def _absolute(text: str) -> str:
    return text if "://" in text or _is_pool(text) else existing_file.absolute(text)


price_source = Kind(
    "prices",
    "a JSON file, an https URL, or a pool's address, / and that of the token that prices are in",
    _source,
    _absolute,
)


@dataclass(frozen=True)
class Settings:
    # fmt: off
    prices: str = setting("SCAN_PRICES", price_source, "none", "a JSON file, an https URL or a pool with [prices](pages.md#prices)", unset="")
    # fmt: on


HOOKS = OwnSettings(declared=Settings)
