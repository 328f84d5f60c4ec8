"""The modules of pages, each with its blueprint."""

from scan.pages import (
    accounts,
    addresses,
    blocks,
    contract_tabs,
    contracts,
    home,
    items,
    pools,
    search,
    static_files,
    statistics,
    tokens,
    transactions,
    user_operations,
)

PAGES = (
    home,
    static_files,
    blocks,
    transactions,
    addresses,
    tokens,
    items,
    pools,
    user_operations,
    statistics,
    contracts,
    contract_tabs,
    search,
    accounts,
)
