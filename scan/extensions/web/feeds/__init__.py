"""Atom feeds (RFC 4287) of addresses, tokens, contracts' events and verified contracts.

Start with pages.py. An extension adds a feed by the `feed` of a tab of an address.
"""
