"""The text of server-sent events: a stream's beginning, events, heartbeats and end."""

import orjson

from scan.errors import ScanError
from scan.extensions.streams.block_events import BlockEvent, Position

RECONNECT_AFTER_MS = 2000
KEEP_ALIVE = b":\n\n"


def opening(position: Position) -> bytes:
    """Return a stream's first lines, with the position that a client resumes from."""
    return f"retry: {RECONNECT_AFTER_MS}\nid: {position}\n\n".encode()


def event_text(event: BlockEvent) -> bytes:
    head = f"id: {event.position}\nevent: {event.type}\ndata: ".encode()
    return head + event.json + b"\n\n"


def heartbeat(position: Position | None) -> bytes:
    """Return a comment with the position, which moves also with blocks that match no filter."""
    return f":\nid: {position}\n\n".encode()


def ending(error: ScanError) -> bytes:
    return b"event: end\ndata: " + orjson.dumps(error.body()) + b"\n\n"
