"""An item's metadata and picture, read from hostile bytes: data: URIs, JSON, images. Pure.

The fields are those of ERC-721's and ERC-1155's metadata schemas, and `attributes` as marketplaces
read them.
"""

import base64
import binascii
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, unquote_to_bytes

import orjson

from scan.extensions.items import picture_cost
from scan.outbound.picture_types import SVG, picture_type

MAX_DOCUMENT_BYTES = 256 * 1024
MAX_PICTURE_BYTES = 2 * 1024 * 1024
MAX_PIXELS = 64_000_000  # of a picture, of which a few bytes can claim many
MAX_NAME = 200
MAX_DESCRIPTION = 2000
MAX_ATTRIBUTES = 50
MAX_ATTRIBUTE = 100
MAX_LINK = 2048

_DATA = re.compile(r"data:([^,]{0,200}),", re.IGNORECASE)
_CONTENT_ID = re.compile(r"[A-Za-z0-9]{46,100}\Z")


class BadContent(Exception):
    """The content cannot be read. The message is the reason, without anything of the content."""


class Attribute(NamedTuple):
    trait: str
    value: str


class Metadata(NamedTuple):
    """An item's metadata. `image` is a URI, or an SVG where the JSON contains one; None without a
    picture."""

    name: str
    description: str
    image: str | None
    external_url: str | None
    attributes: Sequence[Attribute]

    @property
    def image_link(self) -> str | None:
        return link(self.image, "https:", "ipfs:")


class Picture(NamedTuple):
    """An image. `content_type` is the type of the bytes themselves."""

    content_type: str
    content: bytes

    @property
    def data_uri(self) -> str:
        return f"data:{self.content_type};base64,{base64.b64encode(self.content).decode()}"


def link(text: str | None, *schemes: str) -> str | None:
    """Return a text where it is a link of these schemes, and not a picture or a script itself."""
    is_link = text is not None and text.lower().startswith(schemes) and len(text) <= MAX_LINK
    return text if is_link else None


class _Number(str):
    """A number as it is written in JSON: uint256 has more digits than a float."""

    __slots__ = ()


def from_data_uri(uri: str, most_bytes: int) -> bytes | None:
    """Return the content of a data: URI; None for any other URI. Raises BadContent."""
    match = _DATA.match(uri)
    if match is None:
        return None
    if len(uri) > 3 * most_bytes + 250:  # before anything is decoded: %xx has three characters
        raise BadContent("The data: URI is too large.")
    body = uri[match.end() :]
    if match[1].lower().replace(" ", "").endswith(";base64"):
        try:
            content = base64.b64decode(unquote(body).translate(_FROM_URL_SAFE), validate=False)
        except (binascii.Error, ValueError):
            raise BadContent("The data: URI is not valid base64.") from None
    else:  # many contracts leave characters as they are that should be escaped
        content = unquote_to_bytes(body.encode("utf-8", "replace"))
    if len(content) > most_bytes:
        raise BadContent("The data: URI is too large.")
    return content


_FROM_URL_SAFE = str.maketrans("-_", "+/")


class RemoteUrl(NamedTuple):
    """A URL to fetch. `is_of_gateway`: it was made of an ipfs: URI, so the operator chose the host,
    and we made the path."""

    url: str
    is_of_gateway: bool


def remote_url(uri: str, ipfs_gateway: str) -> RemoteUrl:
    """Return the URL that an https: or ipfs: URI is fetched from. Raises BadContent for others."""
    scheme, _, rest = uri.partition("://")
    if scheme.lower() == "https":
        return RemoteUrl(uri, is_of_gateway=False)
    if scheme.lower() != "ipfs":
        raise BadContent("Only data:, https: and ipfs: URIs are read.")
    if not ipfs_gateway:
        raise BadContent("ipfs: URIs are not fetched here: no gateway is configured.")
    content_id, *path = unquote(rest.removeprefix("ipfs/")).split("/")
    if not _CONTENT_ID.match(content_id) or any(part in (".", "..") for part in path):
        raise BadContent("The ipfs: URI is malformed.")
    whole = "/".join([content_id, *path])
    if "\\" in whole or not whole.isprintable():
        raise BadContent("The ipfs: URI is malformed.")
    return RemoteUrl(f"{ipfs_gateway.rstrip('/')}/ipfs/{quote(whole)}", is_of_gateway=True)


def item_uri(uri: str, token_id: int) -> str:
    """Return the URI with `{id}` replaced as ERC-1155 says."""
    return uri.replace("{id}", f"{token_id:064x}")


def parse(document: bytes) -> Metadata:
    """Return the metadata in a document. Text is cut here, and cleaned where it is shown. Raises
    BadContent."""
    if len(document) > MAX_DOCUMENT_BYTES:
        raise BadContent("The metadata is too large.")
    try:
        orjson.loads(document)  # refuses deep nesting, NaN, and text that is not Unicode
        fields = json.loads(document, parse_int=_Number, parse_float=_Number)
    except (ValueError, RecursionError):
        raise BadContent("The metadata is not JSON.") from None
    if not isinstance(fields, dict):
        raise BadContent("The metadata is not a JSON object.")
    images = (fields.get(key) for key in ("image", "image_url", "image_data"))
    image = next((image for image in images if type(image) is str and image), None)
    listed = fields.get("attributes")
    attributes = listed[:MAX_ATTRIBUTES] if isinstance(listed, list) else []
    return Metadata(
        _text(fields.get("name"), MAX_NAME),
        _text(fields.get("description"), MAX_DESCRIPTION),
        image,
        _text(fields.get("external_url"), MAX_LINK) or None,
        [attribute for attribute in map(_attribute, attributes) if attribute is not None],
    )


def _attribute(fields: Any) -> Attribute | None:
    if not isinstance(fields, dict):
        return None
    trait = _text(fields.get("trait_type"), MAX_ATTRIBUTE)
    value = _text(fields.get("value"), MAX_ATTRIBUTE)
    return Attribute(trait, value) if value else None


def _text(value: Any, most: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, _Number):  # a cut number would be another number
        return str(value) if len(value) <= most else ""
    return value[:most] if isinstance(value, str) else ""


def picture(content: bytes) -> Picture:
    """Return the picture. Raises BadContent unless it is of a type that browsers show, and not too
    large or costly."""
    if len(content) > MAX_PICTURE_BYTES:
        raise BadContent("The picture is too large.")
    content_type = picture_type(content)
    if content_type is None:
        raise BadContent("The picture is not a PNG, JPEG, GIF, WebP or SVG.")
    if content_type == SVG:
        try:
            picture_cost.check(content, lambda uri: from_data_uri(uri, MAX_PICTURE_BYTES))
        except (picture_cost.TooComplex, RecursionError):
            reason = "The picture is an SVG that draws too much, or is malformed."
            raise BadContent(reason) from None
    elif picture_cost.pixels(content, content_type) > MAX_PIXELS:
        raise BadContent("The picture has too many pixels.")
    return Picture(content_type, content)
