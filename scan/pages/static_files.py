"""Styles, scripts and icons, cached by browsers: their URLs contain a content hash. They are
compressed once, at the first request."""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from flask import Blueprint, Response, request

from scan.brand import UNBRANDED, Brand
from scan.errors import NotFound
from scan.http.cache_keys import accepts_gzip
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
PREVIEW = "preview.png"  # the icon for previews of links, which show no SVG
FAVICON = "/favicon.ico"  # which browsers request for a response that is no page
BRAND_STYLES = "brand.css"
# An SVG file that is opened by itself is a document: nothing in it runs or is loaded.
DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
FOR_EVER = "public, max-age=31536000, immutable"

blueprint = Blueprint("pages_static", __name__)


class StaticFile(NamedTuple):
    content: bytes
    gzipped: bytes  # empty where that saves nothing
    version: str
    content_type: str


@cache
def files(brand: Brand) -> dict[str, StaticFile]:
    """Return the files of this release and of the operator by name."""
    contents = {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.suffix in TYPES}
    if brand.logo is not None:
        contents[brand.logo.name] = brand.logo.content
    if brand.css:
        contents[BRAND_STYLES] = brand.css.encode()
    return {name: _static_file(name, content) for name, content in contents.items()}


def _static_file(name: str, content: bytes) -> StaticFile:
    gzipped = gzip.compress(content, mtime=0)
    version = hashlib.sha256(content).hexdigest()[:12]
    is_smaller = len(gzipped) < len(content)
    return StaticFile(content, gzipped if is_smaller else b"", version, TYPES[Path(name).suffix])


def icon_of(brand: Brand) -> str:
    return ICON if brand.logo is None else brand.logo.name


def preview_of(brand: Brand) -> str | None:
    """Return the picture for previews of links; None where the operator's logo is an SVG."""
    name = PREVIEW if brand.logo is None else brand.logo.name
    return None if name.endswith(".svg") else name


def url_of(name: str, brand: Brand = UNBRANDED) -> str:
    return f"{PREFIX}/{files(brand)[name].version}/{name}"


def paths(brand: Brand) -> frozenset[str]:
    """Return the paths of all static files."""
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
    content = file.content
    if file.gzipped:
        headers["Vary"] = "Accept-Encoding"
        if accepts_gzip(request.environ):
            headers["Content-Encoding"] = "gzip"
            content = file.gzipped
    return Response(content, content_type=file.content_type, headers=headers)
