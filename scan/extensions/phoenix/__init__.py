"""Phoenix channels over a WebSocket, by which Blockscout's frontend learns of new blocks, of the
addresses and tokens that its pages show, and of the results of verifications.

Input: topics that clients join; the chain's new records, as open streams send them, and jobs of
verification that end. Output: messages in the objects of the Blockscout-compatible API.
Start with views.py (the handshake), then channels.py (a client's messages and topics) and
broadcaster.py (one thread a process, which sends what topics are about).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "Blockscout's WebSocket of live updates at /socket/v2",
    "compatible interfaces",
    needs=("blockscout", "history", "streams"),
    paths=("socket/",),
)
