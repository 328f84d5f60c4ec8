"""GET /api/v1/stream: the chain's new records as server-sent events."""

from flask import Blueprint, Response, request

from scan.api.hooks import Api
from scan.errors import InvalidParameter
from scan.extensions.streams import block_events, broadcaster
from scan.extensions.streams.open_response import keep_open, opening
from scan.http import hooks
from scan.http.current_request import client_address, query_arguments, reader
from scan.server.responses import Kept

blueprint = Blueprint("streams", __name__)

NO_LOGS = "No logs are sent: this index does not store them (SCAN_LOGS)."
SOME_LOGS = "Logs of followed contracts alone are sent: this index stores no others (SCAN_LOGS)."
# nginx passes events on without buffering, and no cache keeps them.
HEADERS = {"Cache-Control": Kept.NEVER, "X-Accel-Buffering": "no"}


@blueprint.get("/stream")
def open_stream() -> Response:
    arguments = query_arguments(*block_events.FILTER_KEYS, "lastEventId")
    stream_filter = block_events.read_filter(arguments)
    position = _position(arguments.get("lastEventId"))
    reader().do_not_cache()
    comment = b""
    if "logs" in stream_filter.types:
        stored, are_added = reader().row("queries/sent_logs_get")
        if stored == "none" and not are_added and len(stream_filter.types) == 1:
            raise InvalidParameter(NO_LOGS, field="types")  # it would be empty for ever
        if stored == "none":
            comment = f": {SOME_LOGS if are_added else NO_LOGS}\n\n".encode()
    streams = reader().sources.get(broadcaster.Streams)
    stream = streams.open(client_address(), stream_filter, position)
    body = iter((comment + opening(stream.position),))
    response = Response(body, mimetype="text/event-stream", headers=HEADERS)
    if request.method == "HEAD":
        stream.close()
    else:
        response.call_on_close(stream.close_unless_attached)
        keep_open(request.environ, stream)
    return response


def _position(parameter: str | None) -> block_events.Position | None:
    """Return the position in the header, which browsers send when they reconnect, else the
    parameter's."""
    header = request.headers.get("Last-Event-ID", "")
    if header:
        return block_events.parse_position(header, "Last-Event-ID")
    if parameter is not None:
        return block_events.parse_position(parameter, "lastEventId")
    return None


HOOKS = (
    Api(blueprints=(blueprint,)),
    hooks.Service(make=lambda core: broadcaster.Streams(core.reads, core.version_listener())),
)
