# ruff: noqa: E501, RUF009 (a setting is one line)
"""The settings of names."""

from dataclasses import dataclass

from scan.extensions.names.name_services import Choice, name_service
from scan.setting_kinds import node_urls, setting
from scan.settings import OwnSettings


@dataclass(frozen=True)
class Settings:
    # fmt: off
    choice: Choice = setting("SCAN_NAMES", name_service, "auto", "where [names](names.md#names) are: `auto` (by chain id), `universal:0x…` (ENS's universal resolver), `registry:0x…` or `off`; `auto+gateways` asks other hosts, too (EIP-3668)")
    l1_urls: tuple[str, ...] = setting("SCAN_NAMES_RPC_URL", node_urls, "not set", "a node of Ethereum, for ENS's names on an L2", unset=())
    # fmt: on


HOOKS = OwnSettings(declared=Settings)
