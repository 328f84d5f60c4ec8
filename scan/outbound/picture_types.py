"""Whether a document is a picture, by its first bytes, whatever its name."""

import re

SVG = "image/svg+xml"
MAX_PREAMBLE_BYTES = 32_768  # comments before <svg, such as those of drawing programs

_SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
)
# A comment ends at its first -->: if it could end later as well, a run of comments would take
# exponential time.
_SVG = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<svg[\s>]", re.DOTALL
)


def picture_type(content: bytes) -> str | None:
    """Return the media type; None if the content is no picture, or an SVG with a DTD."""
    for signature, media_type in _SIGNATURES:
        if signature.match(content):
            return media_type
    start = content[:MAX_PREAMBLE_BYTES].removeprefix(b"\xef\xbb\xbf")
    is_svg = _SVG.match(start) and b"<!ENTITY" not in content and b"<!DOCTYPE" not in content
    return SVG if is_svg else None
