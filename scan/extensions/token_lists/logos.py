"""Logos of token lists."""

from typing import NamedTuple

from scan.errors import NotFound
from scan.queries.reader import Reader


class Logo(NamedTuple):
    content_type: str
    content: bytes


def get(reader: Reader, digest: bytes) -> Logo:
    """Return the logo with this SHA-256; raises NotFound."""
    content_type, content = reader.row("queries/logos_get", digest=digest)
    if content is None:
        raise NotFound("There is no such logo.")
    return Logo(content_type, bytes(content))
