"""The indexer, from a node to the tables: the only writer of chain data.

Input: blocks from a node. Output: rows, derived tables and webhook events, a batch in
one transaction.
Start with follower.py (the loop) and chain_indexer.py (its step), then catch_up.py,
batch_reader.py, prefetch.py, contract_inspection.py (code, tokens, pools), writer.py, derivation.py
(derived tables) and fork_finder.py.
"""
