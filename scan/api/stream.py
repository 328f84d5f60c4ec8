"""GET /api/v1/stream: what happens in the chain, as server-sent events."""

from typing import cast

from flask import Blueprint, Response, current_app, request

from scan.http.requests import api_key, client_address, query_arguments, reader
from scan.queries.block_events import Position, parse_position
from scan.server.event_stream import EVENT_STREAM
from scan.streams.filters import FILTER_KEYS, read_filter
from scan.streams.streams import Streams

blueprint = Blueprint("stream", __name__)

# nginx passes on what it is sent at once, and nobody keeps it.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@blueprint.get("/stream")
def open_stream() -> Response:
    arguments = query_arguments(*FILTER_KEYS, "lastEventId")
    stream_filter = read_filter(arguments)
    position = _position(arguments.get("lastEventId"))
    reader().do_not_cache()
    key = api_key()
    client = client_address() if key is None else key.id
    streams = cast(Streams, current_app.extensions["scan.streams"])
    stream = streams.open(client, stream_filter, position)
    response = Response(iter((stream.opening,)), mimetype="text/event-stream", headers=HEADERS)
    if request.method == "HEAD":
        stream.close()
    else:
        response.call_on_close(stream.close_unless_attached)
        request.environ[EVENT_STREAM] = stream
    return response


def _position(parameter: str | None) -> Position | None:
    """Of the header, which browsers send when they connect again, or else of the parameter."""
    header = request.headers.get("Last-Event-ID", "")
    if header:
        return parse_position(header, "Last-Event-ID")
    if parameter is not None:
        return parse_position(parameter, "lastEventId")
    return None
