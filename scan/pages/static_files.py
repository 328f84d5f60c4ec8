"""Styles, scripts and icons, cached by browsers: their URLs contain a content hash."""

from functools import cache
from pathlib import Path

from flask import Blueprint, Response

from scan import registry
from scan.errors import NotFound
from scan.http.application import TYPES, StaticFile, static_file
from scan.http.request_state import services
from scan.settings import UNBRANDED, Brand

FOLDER = Path(__file__).with_name("static")
PREFIX = "/static"
ICON = "icon.svg"
PREVIEW = "preview.png"  # the icon for previews of links, which show no SVG
FAVICON = "/favicon.ico"  # which browsers request for a response that is no page
BRAND_STYLES = "brand.css"
# An SVG file that is opened by itself is a document: nothing in it runs or is loaded.
DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

blueprint = Blueprint("pages_static", __name__)


@cache
def files(brand: Brand) -> dict[str, StaticFile]:
    """Return the files of this release, of extensions and of the operator by name."""
    folders = (FOLDER, *registry.folders("static", of_enabled=True))
    paths = (path for folder in folders for path in folder.iterdir() if path.suffix in TYPES)
    contents = {path.name: path.read_bytes() for path in paths}
    if brand.logo is not None:
        contents[brand.logo.name] = brand.logo.content
    if brand.css:
        contents[BRAND_STYLES] = brand.css.encode()
    return {name: static_file(name, content) for name, content in contents.items()}


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
def file_of_version(version: str, name: str) -> Response:
    file = files(services().settings.brand).get(name)
    if file is None:
        raise NotFound("File not found.")
    return _confined(file.response(version))


@blueprint.get(FAVICON)
def favicon() -> Response:
    brand = services().settings.brand
    return _confined(files(brand)[icon_of(brand)].cached("public, max-age=86400"))


def _confined(response: Response) -> Response:
    if response.content_type == TYPES[".svg"]:
        response.headers["Content-Security-Policy"] = DRAWING_POLICY
    return response
