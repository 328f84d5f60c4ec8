"""The modules of pages, each with its blueprint."""

from scan.pages import (
    addresses,
    blocks,
    contracts,
    home,
    keys_and_webhooks,
    static_files,
    tokens,
    transactions,
)

PAGES = (
    home,
    static_files,
    blocks,
    transactions,
    addresses,
    tokens,
    contracts,
    keys_and_webhooks,
)
