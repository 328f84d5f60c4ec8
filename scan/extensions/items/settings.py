# ruff: noqa: E501 (a setting is one line)
"""The settings of items' media."""

from dataclasses import dataclass

from scan.setting_kinds import Kind, https_url, setting
from scan.settings import OwnSettings


def _media(text: str) -> str:
    """Return "" for `off`, `on`, or the URL of a gateway."""
    if text in ("off", "on"):
        return "" if text == "off" else text
    return https_url.parse(text)


media = Kind("media", f"off, on, or {https_url.right}", _media)


@dataclass(frozen=True)
class Settings:
    # fmt: off
    nft_media: str = setting("SCAN_NFT_MEDIA", media, "off", "`on`: fetch NFTs' documents from https URIs; the https URL of a gateway: from ipfs URIs as well")
    # fmt: on

    @property
    def ipfs_gateway(self) -> str:
        return "" if self.nft_media == "on" else self.nft_media


HOOKS = OwnSettings(declared=Settings)
