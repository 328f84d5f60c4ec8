"""Atom feeds (RFC 4287) of addresses, tokens, contracts' events and verified contracts.

Start with entries.py (what a feed has of each record), then pages.py. An extension adds a feed by
its module feeds.py: FEEDS, the `read` of what is below /address/:address/<name>/feed, by name.
"""
