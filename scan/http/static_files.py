"""Files of a release, which browsers cache for ever: their URLs contain a hash of the content."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from flask import Response

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
}
FOR_EVER = "public, max-age=31536000, immutable"


class StaticFile(NamedTuple):
    content: bytes
    version: str
    content_type: str

    def response(self, version: str) -> Response:
        """Return the file; with another version it is not cached: during an upgrade another
        instance may have rendered the page."""
        return self.cached(FOR_EVER if version == self.version else "no-store")

    def cached(self, cache_control: str) -> Response:
        headers = {"Cache-Control": cache_control, "X-Content-Type-Options": "nosniff"}
        return Response(self.content, content_type=self.content_type, headers=headers)


def static_file(name: str, content: bytes) -> StaticFile:
    version = hashlib.sha256(content).hexdigest()[:12]
    return StaticFile(content, version, TYPES[Path(name).suffix])
