"""Server-sent events: the chain's new blocks and their records, sent to clients of open streams.

Input: new blocks and forks, read from the database; clients, each with a filter and a position.
Output: bytes for their connections, which the server's loop sends.
Start with broadcaster.py (one thread that reads each block once, and others for clients that are
behind it), then block_events.py and open_response.py (the text that clients are sent).
"""

from scan.registry import Extension

EXTENSION = Extension("the chain's new records as server-sent events", "comfort", needs=("logs",))
