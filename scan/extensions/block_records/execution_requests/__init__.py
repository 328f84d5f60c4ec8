"""Requests to the consensus layer (EIP-7685): their rows, lists, and those that a block has taken.

Start with rows.py of the folder above (requests in a block's logs), then views.py there (which of
them a block took).
"""
