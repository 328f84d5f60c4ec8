"""GET /stream."""

from scan.api.openapi.schemas import TOKEN_EXAMPLE, Json, any_case_hash, operation, query, text
from scan.streams.filters import FILTER_KEYS

_SCHEMAS: Json = {
    "types": text(
        "Of heads, transactions, token_transfers, internal_transfers, dex_trades, logs; joined by"
        " commas.",
        "heads",
    ),
    "address": text("Parties, up to 100.", TOKEN_EXAMPLE),
    "token": text("Of transfers and trades, up to 100.", TOKEN_EXAMPLE),
}

STREAM_PATHS: Json = {
    "/stream": {
        "get": operation(
            "openStream", "Chain", "What happens, as it happens", {"type": "string"},
            description="Server-sent events: `event` is a type, `data` its record, `id` the"
            " position after it. What a fork takes back comes again with `removed: true`, newest"
            " first. Last-Event-ID resumes without loss; 409 where that is not possible.",
            parameters=(
                *(query(n, _SCHEMAS.get(n) or any_case_hash("Of logs.")) for n in FILTER_KEYS),
                query("lastEventId", text("As the header.", "")),
            ),
            errors=(409,),
            media_type="text/event-stream",
        ),
    },
}  # fmt: skip
