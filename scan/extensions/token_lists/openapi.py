"""GET /logos/{digest}."""

from scan.api.openapi.schemas import (
    LOGO_EXAMPLE,
    Json,
    operation,
    path,
    text,
)

PATHS: Json = {
    "/logos/{digest}": operation(
        "get", "getLogo", "The logo of a token", {"type": "string", "format": "binary"},
        description="A PNG, JPEG, GIF, WebP or SVG of at most 100,000 bytes from a token list that"
        " the operator has imported; the path is `logoUrl` of a token. It never changes. It"
        " counts against the limit of the client address over all keys alone.",
        parameters=(
            path("digest", text("Its SHA-256.", LOGO_EXAMPLE, pattern="^[0-9a-f]{64}$")),
        ),
        # Generators of clients return bytes for this type, and know no type of pictures.
        media_type="application/octet-stream", errors=(404,),
        more_types=("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"),
    ),
}  # fmt: skip
