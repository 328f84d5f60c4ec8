"""A node over JSON-RPC, and its JSON decoded into checked values.

Input: JSON from a node, which may be malformed or lie. Output: ints and bytes, or an error.
Start with client.py (retry, batches), then transport.py (HTTP with a deadline and a bound),
node_errors.py, request_node.py (the node for requests of clients), transaction_reader.py (one
transaction and its receipt), blocks.py (blocks and receipts), events.py (transfers and trades in
logs), token_metadata.py, block_encoding.py (consensus encodings, a table by type) and
block_hashing.py (hashes, roots).
"""
