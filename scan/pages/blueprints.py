"""The modules of pages, each with its blueprint."""

from scan.pages import (
    accounts,
    addresses,
    blocks,
    bytecode,
    contracts,
    home,
    items,
    keys_and_webhooks,
    redirects,
    search,
    static_files,
    statistics,
    tokens,
    transactions,
)

PAGES = (
    home,
    static_files,
    blocks,
    transactions,
    addresses,
    accounts,
    tokens,
    items,
    statistics,
    contracts,
    bytecode,
    search,
    keys_and_webhooks,
    redirects,
)
