# ruff: noqa: E501, RUF009 (a setting is one line)
"""The setting of the operator's brand."""

from dataclasses import dataclass

from scan.environment import Kind, absolute_path, setting
from scan.extensions.brand.brand_file import brand_file
from scan.settings import UNBRANDED, Brand, OwnSettings

brand_kind = Kind(
    "brand", "a TOML file with the site's name, colours and contacts", brand_file, absolute_path
)


@dataclass(frozen=True)
class Settings:
    # fmt: off
    brand: Brand = setting("SCAN_BRAND", brand_kind, "none", "a TOML file with [the site's name, colours and contacts](pages.md#your-own-brand)", unset=UNBRANDED)
    # fmt: on


HOOKS = OwnSettings(declared=Settings)
