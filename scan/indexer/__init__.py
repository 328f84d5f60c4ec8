"""From a node to the tables: the only writer of chain data.

Enters: blocks from a node. Leaves: rows, derived tables and webhook events, a batch in
one transaction.
Start with follower.py (the loop), then prefetch.py (fetching ahead), block_rows.py (a block as COPY
text), contract_inspection.py (code, tokens, pools), writer.py (the transaction, and forks).
"""
