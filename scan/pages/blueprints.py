"""The modules of pages, each with its blueprint."""

from scan.pages import (
    addresses,
    blocks,
    bytecode,
    contracts,
    home,
    keys_and_webhooks,
    search,
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
    bytecode,
    search,
    keys_and_webhooks,
)
