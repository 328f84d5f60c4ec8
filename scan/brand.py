# ruff: noqa: E501, RUF009 (a setting is one line)
"""The operator's name, logo, colours, links and notice on the pages, checked when they are read.

None of them may load a file of another host. The pages' Content-Security-Policy would refuse it;
the start refuses it first, with a message.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scan.environment import setting, short_text, switch
from scan.picture_types import SVG, picture_type

MAX_FILE_BYTES = 32_768  # a first visit takes at most 80 kB in all
MAX_LINKS = 8
STYLES = Path(__file__).parent / "pages" / "static" / "scan.css"
THEMES = ("light", "dark")
# WCAG 2.2, AA: 1.4.3 for text, 1.4.11 for the edges of controls.
TEXT_CONTRAST, CONTROL_CONTRAST = 4.5, 3.0
_BACKGROUNDS = ("ground", "panel", "hover", "soft", "good-soft", "bad-soft", "warn-soft")
PAIRS = (
    *(
        (text, background, TEXT_CONTRAST)
        for text in ("text", "quiet", "accent", "good", "bad", "warn")
        for background in _BACKGROUNDS
    ),
    *(("faint", background, TEXT_CONTRAST) for background in ("ground", "panel")),
    ("panel", "accent", TEXT_CONTRAST),  # buttons
    *(("edge", background, CONTROL_CONTRAST) for background in ("ground", "panel")),
)
_COLOUR = r"#(?:[0-9a-fA-F]{3}){1,2}"
_PROPERTY = re.compile(rf"--([\w-]+): light-dark\(({_COLOUR}), ({_COLOUR})\)")
# A backslash could spell any of the words in another way.
_LOADS = re.compile(r"@import|@font-face|\b(?:url|src|image|image-set|cross-fade)\(|\\", re.I)
_COLOURS = re.compile(
    r"([\w-]*color|background[\w-]*|fill|stroke|opacity|filter|--[\w-]+)\s*:", re.I
)
_LOGO_NAMES = {SVG: "logo.svg", "image/png": "logo.png", "image/webp": "logo.webp"}

Palette = tuple[tuple[str, tuple[str, str]], ...]


@dataclass(frozen=True)
class Logo:
    name: str
    content: bytes


@cache
def default_palette() -> dict[str, tuple[str, str]]:
    """Return the colours of scan.css by name, for the light and the dark theme."""
    return {name: (light, dark) for name, light, dark in _PROPERTY.findall(STYLES.read_text())}


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours such as #1c50c8 (WCAG 2.2, relative luminance)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    red, green, blue = (_linear(value / 255) for value in bytes.fromhex(digits))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _colours(text: str) -> Palette:
    """Read `accent=#1c50c8/#8fb4ff, text=#14171f/#e6e9ef`: a colour for each theme.

    Raises ValueError where two colours that pages show on each other have too little contrast.
    """
    known = default_palette()
    chosen = {}
    for item in text.split(","):
        match = re.fullmatch(rf"\s*([\w-]+)\s*=\s*({_COLOUR})/({_COLOUR})\s*", item)
        if not match:
            raise ValueError("must be pairs such as accent=#1c50c8/#8fb4ff, separated by commas")
        name, light, dark = match.groups()
        if name not in known:
            raise ValueError(f"has no colour {name}; there are {', '.join(known)}")
        chosen[name] = (light, dark)
    palette = known | chosen
    for front, back, least in PAIRS:
        for theme, one, other in zip(THEMES, palette[front], palette[back], strict=True):
            if (ratio := contrast(one, other)) < least:
                raise ValueError(
                    f"{front} {one} on {back} {other} in the {theme} theme has a contrast of"
                    f" {ratio:.2f}, WCAG AA wants {least}"
                )
    return tuple(chosen.items())


def _logo(text: str) -> Logo:
    """Read an SVG, PNG or WebP file, whatever its name. Raises ValueError."""
    content = _file(text)
    name = _LOGO_NAMES.get(picture_type(content) or "")
    if name is None:
        raise ValueError("must be an SVG, PNG or WebP file")
    return Logo(name, content)


def _site_url(text: str) -> str:
    """Read `https://explorer.example.org`."""
    url = text.removesuffix("/")
    if not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]{1,255}", url):
        raise ValueError("must be an http(s) URL without a path; SCAN_BASE_PATH is the path")
    return url


def _stylesheet(text: str) -> str:
    """Read a CSS file that loads nothing and leaves colours to SCAN_BRAND_COLORS."""
    try:
        css = _file(text).decode()
    except UnicodeDecodeError:
        raise ValueError("must be CSS in UTF-8") from None
    if match := _LOADS.search(css):
        raise ValueError(f"has {match[0]}: a style sheet must not load other files")
    if match := _COLOURS.search(css):
        raise ValueError(
            f"sets {match[1]}: colours are SCAN_BRAND_COLORS, where their contrast is checked"
        )
    return css


def _links(text: str) -> tuple[tuple[str, str], ...]:
    """Read `Imprint=https://example.org/imprint, Terms=/docs/`."""
    items = tuple(
        (name.strip(), url.strip())
        for name, _, url in (item.partition("=") for item in text.split(","))
    )
    for name, url in items:
        if not name or not name.isprintable() or len(name) > 40:
            raise ValueError(
                "must be pairs such as Imprint=https://example.org, separated by commas"
            )
        if not re.fullmatch(r"(https?://[A-Za-z0-9\[]|/(?![/\\]))[!-~]{0,500}", url):
            raise ValueError(f"has {url!r}: a link is an http(s) URL or a path")
    if len(items) > MAX_LINKS:
        raise ValueError(f"must be at most {MAX_LINKS} links")
    return items


def _file(text: str) -> bytes:
    if "://" in text:
        raise ValueError("must be a file of this machine")
    try:
        with Path(text).open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    if not content or len(content) > MAX_FILE_BYTES:
        raise ValueError(f"must have between 1 and {MAX_FILE_BYTES} bytes")
    return content


@dataclass(frozen=True)
class Brand:
    """The values of SCAN_BRAND_*. An empty one means Scan's own."""

    # fmt: off
    name: str = setting("SCAN_BRAND_NAME", short_text(30), "Scan", "[the site's name](pages.md#your-own-brand)", unset="")
    url: str = setting("SCAN_BRAND_URL", _site_url, "none", "the site's URL without a path, for previews of links", unset="")
    logo: Logo | None = setting("SCAN_BRAND_LOGO", _logo, "Scan's", "an SVG, PNG or WebP file of at most 32 KiB", unset=None)
    colours: Palette = setting("SCAN_BRAND_COLORS", _colours, "Scan's", "colours for the light and the dark theme: `accent=#7a1fa2/#e0a8ff`", unset=())
    stylesheet: str = setting("SCAN_BRAND_CSS", _stylesheet, "none", "a style sheet of at most 32 KiB for spaces, corners and fonts", unset="")
    links: tuple[tuple[str, str], ...] = setting("SCAN_BRAND_LINKS", _links, "none", "links in the footer: `Imprint=https://example.org/imprint`", unset=())
    tagline: str = setting("SCAN_BRAND_TAGLINE", short_text(160), "none", "a line on the home page", unset="")
    notice: str = setting("SCAN_BRAND_NOTICE", short_text(300), "none", "a line above every page", unset="")
    is_indexed: bool = setting("SCAN_BRAND_ROBOTS", switch("index", "none"), "index", "`none` asks search engines to leave the site out")
    # fmt: on

    @property
    def css(self) -> str:
        """The style sheet that follows Scan's own; "" without colours and file."""
        values = " ".join(
            f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in self.colours
        )
        return (f":root {{ {values} }}\n" if values else "") + self.stylesheet


UNBRANDED = Brand()
