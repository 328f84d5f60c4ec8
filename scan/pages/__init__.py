"""HTML for people: blocks, transactions, addresses, tokens, contracts, keys and webhooks.

Enters: a browser's request. Leaves: HTML made from the same statements as the API, with a strict
content policy; style and scripts are served from static/, nothing comes from elsewhere.
Start with blocks.py, the shortest; site.py renders templates/, formatting.py makes values readable.
"""
