"""Messages of rollups to L1: their rows, list, and those of a transaction and of an address.

Start with rows.py of the folder above (messages in a block's logs, by the event that the chain's
form names).
"""
