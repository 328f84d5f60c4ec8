"""A node over JSON-RPC, and its JSON decoded into checked values.

Input: JSON from a node, which may be malformed or lie. Output: ints and bytes, or an error.
Start with client.py (retry, batches), then transport.py (HTTP with a deadline and a bound),
node_errors.py, request_node.py (the node for requests of clients), transaction_reader.py
(transactions that are not stored), stored_blocks.py (those that are), blocks.py (blocks and
receipts), events.py (transfers and trades in logs), token_metadata.py, text_cleaning.py (names
that strangers chose), block_encoding.py (consensus encodings, a table by type) and block_hashing.py
(hashes, roots).
"""
