"""GET /stream."""

from scan.api.openapi.schemas import Json, any_case_hash, operation, query
from scan.extensions.streams.filters import FILTER_KEYS


def _list(description: str) -> Json:
    return {"type": "string", "description": f"{description}, separated by commas."}


_SCHEMAS: Json = {
    "types": _list("Of heads (the default), transactions, token_transfers, internal_transfers,"
                   " dex_trades, logs"),
    "address": _list("Parties, or emitters of logs; up to 100"),
    "token": _list("Tokens of transfers and trades; up to 100"),
}  # fmt: skip
PATHS: Json = {
    "/stream": operation(
        "get", "openStream", "Stream events", {"type": "string"},
        description="Server-sent events: `event` is a type, `data` its record, `id` the"
        " position after it. A fork's events come again, newest first, with `removed: true`."
        " Last-Event-ID resumes without loss; 409 if that is impossible.",
        parameters=(
            *(query(n, _SCHEMAS.get(n) or any_case_hash("Of logs.")) for n in FILTER_KEYS),
            query("lastEventId", {"type": "string", "description": "As the header."}),
        ),
        errors=(409,),
        media_type="text/event-stream",
    ),
}  # fmt: skip
