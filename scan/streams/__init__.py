"""Server-sent events: what happens in the chain, sent to whoever keeps a stream open.

Input: new blocks and forks, read from the database; clients, each with a filter and a position.
Output: bytes for their connections, which the server's loop sends.
Start with broadcaster.py (one thread that reads each block once, and others for clients that are
behind it), then filters.py and sse_format.py (what clients are sent).
"""
