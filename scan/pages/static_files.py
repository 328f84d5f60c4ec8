"""Styles, scripts and icons, cached by browsers: their URLs contain a content hash."""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from flask import Blueprint, Response

from scan.brand import UNBRANDED, Brand
from scan.errors import NotFound
from scan.http.services import services

FOLDER = Path(__file__).with_name("static")
PREFIX = "/static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
}
ICON = "icon.svg"
FAVICON = "/favicon.ico"  # what browsers request for a response that is no page
BRAND_STYLES = "brand.css"
# An SVG file that is opened by itself is a document: nothing in it runs or is loaded.
DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
FOR_EVER = "public, max-age=31536000, immutable"
# What browsers pass over, but for the groups: of styles comments, spaces and last semicolons, of
# scripts indents and lines that only comment. No string in them has several lines.
IGNORED = {
    ".css": re.compile(rb'("[^"]*")|/\*[^*]*\*/|(?:;\s*)?(})\s*|\s*([{;,])\s*|(?<=:) +'),
    ".js": re.compile(rb"^[ \t]*(?:(?://.*)?\n)?()()()", re.MULTILINE),
}

blueprint = Blueprint("pages_static", __name__)


class StaticFile(NamedTuple):
    content: bytes
    version: str
    content_type: str


@cache
def files(brand: Brand) -> dict[str, StaticFile]:
    """Return the files of this release and of the operator by name."""
    contents = {path.name: _minified(path) for path in FOLDER.iterdir() if path.suffix in TYPES}
    if brand.logo is not None:
        contents[brand.logo.name] = brand.logo.content
    if brand.css:
        contents[BRAND_STYLES] = brand.css.encode()
    return {
        name: StaticFile(
            content, hashlib.sha256(content).hexdigest()[:12], TYPES[Path(name).suffix]
        )
        for name, content in contents.items()
    }


def _minified(path: Path) -> bytes:
    content = path.read_bytes()
    ignored = IGNORED.get(path.suffix)
    return content if ignored is None else ignored.sub(rb"\1\2\3", content)


def icon_of(brand: Brand) -> str:
    return ICON if brand.logo is None else brand.logo.name


def url_of(name: str, brand: Brand = UNBRANDED) -> str:
    return f"{PREFIX}/{files(brand)[name].version}/{name}"


def paths(brand: Brand) -> frozenset[str]:
    """Return the paths of these files."""
    return frozenset({FAVICON, *(url_of(name, brand) for name in files(brand))})


@blueprint.get(f"{PREFIX}/<version>/<name>")
def static_file(version: str, name: str) -> Response:
    """Return a file; with another version it is served but not cached: during an upgrade another
    instance may have rendered the page."""
    file = files(services().settings.brand).get(name)
    if file is None:
        raise NotFound("File not found.")
    return _response(file, FOR_EVER if version == file.version else "no-store")


@blueprint.get(FAVICON)
def favicon() -> Response:
    brand = services().settings.brand
    return _response(files(brand)[icon_of(brand)], "public, max-age=86400")


def _response(file: StaticFile, cache_control: str) -> Response:
    headers = {"Cache-Control": cache_control, "X-Content-Type-Options": "nosniff"}
    if file.content_type == TYPES[".svg"]:
        headers["Content-Security-Policy"] = DRAWING_POLICY
    return Response(file.content, content_type=file.content_type, headers=headers)
