"""The indexer, from a node to the tables: the only writer of chain data.

Input: blocks from a node. Output: rows, derived tables and webhook events, a batch in
one transaction.
Start with chain_indexer.py (the loop and its step), then block_source.py, prefetch.py,
contract_inspection.py (code, tokens, pools), writer.py, derivation.py (derived tables) and
fork_finder.py.
"""
