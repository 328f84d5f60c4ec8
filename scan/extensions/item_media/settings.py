# ruff: noqa: E501 (a setting is one line)
"""The settings of items' media."""

from dataclasses import dataclass

from scan.environment import https_url, setting, switch


@dataclass(frozen=True)
class Settings:
    # fmt: off
    fetches_nft_media: bool = setting("SCAN_NFT_MEDIA", switch("on", "off"), "off", "`on`: fetch NFTs' documents from https and, by the gateway, ipfs URIs")
    ipfs_gateway: str = setting("SCAN_IPFS_GATEWAY", https_url, "none", "the https URL of a gateway for ipfs URIs", unset="")
    # fmt: on
