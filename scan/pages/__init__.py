"""HTML pages: blocks, transactions, addresses, tokens, contracts, keys and webhooks.

Input: a browser's request. Output: HTML from the same queries as the API, with a strict content
security policy; styles and scripts are served from static/, nothing from other hosts.
Start with blocks_and_transactions.py; site.py renders templates/, formatting.py formats values.
"""
