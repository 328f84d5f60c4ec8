# ruff: noqa: E501, RUF009 (a setting is one line)
"""The setting of names."""

from dataclasses import dataclass

from scan import hooks
from scan.environment import setting
from scan.extensions.names.name_services import NameService, name_service


@dataclass(frozen=True)
class Settings:
    # fmt: off
    service: NameService | str = setting("SCAN_NAMES", name_service, "auto", "where [names](contracts.md#names) are: `auto` (by chain id), `universal:0x…` (ENS's universal resolver), `registry:0x…` or `off`")
    # fmt: on


HOOKS = hooks.OwnSettings(declared=Settings)
