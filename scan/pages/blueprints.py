"""The modules of pages, each with its blueprint."""

from scan.pages import (
    accounts,
    addresses,
    blocks,
    bytecode,
    contracts,
    home,
    keys_and_webhooks,
    redirects,
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
    accounts,
    tokens,
    contracts,
    bytecode,
    search,
    keys_and_webhooks,
    redirects,
)
