"""GET /api/v1/stream: the chain's new records as server-sent events."""

from flask import Blueprint, Response, request

from scan.api.hooks import Api
from scan.errors import InvalidParameter
from scan.extensions.logs.queries import stored_selection
from scan.extensions.streams.block_events import FILTER_KEYS, Position, parse_position, read_filter
from scan.extensions.streams.broadcaster import Streams
from scan.extensions.streams.open_response import keep_open, opening
from scan.http.hooks import Service
from scan.http.requests import api_key, client_address, query_arguments, reader

blueprint = Blueprint("stream", __name__)

NO_LOGS = "No logs are sent: this index does not store them (SCAN_LOGS)."
# nginx passes events on without buffering, and no cache keeps them.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@blueprint.get("/stream")
def open_stream() -> Response:
    arguments = query_arguments(*FILTER_KEYS, "lastEventId")
    stream_filter = read_filter(arguments)
    position = _position(arguments.get("lastEventId"))
    reader().do_not_cache()
    lacks_logs = "logs" in stream_filter.types and stored_selection(reader()) == "none"
    if lacks_logs and len(stream_filter.types) == 1:  # it would be empty for ever
        raise InvalidParameter(NO_LOGS, field="types")
    key = api_key()
    address = client_address()
    stream = (
        reader()
        .sources.get(Streams)
        .open(address if key is None else key.id, stream_filter, position, address)
    )
    comment = f": {NO_LOGS}\n\n".encode() if lacks_logs else b""
    response = Response(
        iter((comment + opening(stream.position),)), mimetype="text/event-stream", headers=HEADERS
    )
    if request.method == "HEAD":
        stream.close()
    else:
        response.call_on_close(stream.close_unless_attached)
        keep_open(request.environ, stream)
    return response


def _position(parameter: str | None) -> Position | None:
    """Return the position in the header, which browsers send when they reconnect, else the
    parameter's."""
    header = request.headers.get("Last-Event-ID", "")
    if header:
        return parse_position(header, "Last-Event-ID")
    if parameter is not None:
        return parse_position(parameter, "lastEventId")
    return None


HOOKS = (
    Api(blueprints=(blueprint,)),
    Service(make=lambda core: Streams(core.reads, core.version_listener())),
)
