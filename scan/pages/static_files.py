"""Styles and scripts of this package, cached by browsers: their URLs contain a content hash."""

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from flask import Blueprint, Response

from scan.errors import NotFound

FOLDER = Path(__file__).with_name("static")
PREFIX = "/static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOR_EVER = "public, max-age=31536000, immutable"

blueprint = Blueprint("pages_static", __name__)


class StaticFile(NamedTuple):
    content: bytes
    version: str
    content_type: str


@cache
def files() -> dict[str, StaticFile]:
    return {
        path.name: StaticFile(
            content := path.read_bytes(),
            hashlib.sha256(content).hexdigest()[:12],
            TYPES[path.suffix],
        )
        for path in FOLDER.iterdir()
        if path.suffix in TYPES
    }


def url_of(name: str) -> str:
    return f"{PREFIX}/{files()[name].version}/{name}"


def paths() -> frozenset[str]:
    """Return the paths of this release's files."""
    return frozenset(map(url_of, files()))


@blueprint.get(f"{PREFIX}/<version>/<name>")
def static_file(version: str, name: str) -> Response:
    """Return a file; with another version it is served but not cached: during an upgrade another
    instance may have rendered the page."""
    file = files().get(name)
    if file is None:
        raise NotFound("File not found.")
    headers = {
        "Cache-Control": FOR_EVER if version == file.version else "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(file.content, content_type=file.content_type, headers=headers)
