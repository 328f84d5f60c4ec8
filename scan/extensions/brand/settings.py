"""The setting of the operator's brand, and its file, checked when it is read: name, logo, colours,
links and notice.

None of them may load a file of another host. The pages' Content-Security-Policy would refuse it;
the start refuses it first, with a message.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from scan.outbound.picture_types import SVG, picture_type
from scan.registry import FOLDER
from scan.setting_kinds import Kind, absolute_path, https_url, one_of, setting, short_text, site_url
from scan.settings import UNBRANDED, Brand, Logo, OwnSettings, Palette

MAX_FILE_BYTES = 32_768  # a first visit takes at most 80 kB in all
MAX_LINKS = 8
STYLES = FOLDER.parent / "pages" / "static" / "scan.css"
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


def brand_file(text: str) -> Brand:
    """Read a TOML file, from whose folder it names others. Raises ValueError with the key."""
    try:
        table = tomllib.loads(_file(Path(), text).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"must be TOML in UTF-8: {error}") from None
    folder = Path(text).parent
    readers: dict[str, tuple[type, Callable[[Any], Any]]] = {
        "name": (str, short_text(30)),
        "url": (str, site_url),
        "logo": (str, partial(_logo, folder)),
        "colors": (dict, _colors),
        "stylesheet": (str, partial(_stylesheet, folder)),
        "links": (dict, _links),
        "tagline": (str, short_text(160)),
        "notice": (str, short_text(300)),
        "robots": (str, one_of("index", "none")),
        "public_rpc_url": (str, public_url),
        "security_contact": (str, _contact_uri),
    }
    values = {}
    for key, value in table.items():
        if key not in readers:
            raise ValueError(f"has an unknown key {key}; there are {', '.join(readers)}")
        type_, read = readers[key]
        try:
            if not isinstance(value, type_):
                raise ValueError(f"must be a {'table' if type_ is dict else 'text'}")
            values[key] = read(value)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None
    return Brand(**values)


def _colors(table: dict[str, Any]) -> Palette:
    """Read `accent = ["#1c50c8", "#8fb4ff"]`: a colour for the light and for the dark theme.

    Raises ValueError where two colours that pages show on each other have too little contrast.
    """
    defaults = default_palette()
    chosen = {}
    for name, colours in table.items():
        if name not in defaults:
            raise ValueError(f"has no colour {name}; there are {', '.join(defaults)}")
        match colours:
            case [str(light), str(dark)] if all(re.fullmatch(_COLOUR, c) for c in (light, dark)):
                chosen[name] = (light, dark)
            case _:
                raise ValueError(f'{name} must be two colours such as ["#1c50c8", "#8fb4ff"]')
    palette = defaults | chosen
    for front, back, least in PAIRS:
        for theme, one, other in zip(THEMES, palette[front], palette[back], strict=True):
            if (ratio := contrast(one, other)) < least:
                raise ValueError(
                    f"{front} {one} on {back} {other} in the {theme} theme has a contrast of"
                    f" {ratio:.2f}, WCAG AA wants {least}"
                )
    return tuple(chosen.items())


def _logo(folder: Path, text: str) -> Logo:
    """Read an SVG, PNG or WebP file, whatever its name. Raises ValueError."""
    content = _file(folder, text)
    name = _LOGO_NAMES.get(picture_type(content) or "")
    if name is None:
        raise ValueError("must be an SVG, PNG or WebP file")
    return Logo(name, content)


def public_url(text: str) -> str:
    """Return a URL that anybody may see. Wallets accept http only on the visitor's own machine."""
    local = r"http://(?:localhost|127\.0\.0\.1)(?::[0-9]{1,5})?(/[!-~]*)?"
    return text if re.fullmatch(local, text) and not set("?#@") & set(text) else https_url(text)


def _contact_uri(text: str) -> str:
    """Return a contact URI in the form of RFC 9116."""
    if not re.fullmatch(r"(mailto:|https://|tel:)[!-~]{1,200}", text):
        raise ValueError("must begin with mailto:, https:// or tel:")
    return text


def _stylesheet(folder: Path, text: str) -> str:
    """Read a CSS file that loads nothing and leaves colours to the table `colors`."""
    try:
        css = _file(folder, text).decode()
    except UnicodeDecodeError:
        raise ValueError("must be CSS in UTF-8") from None
    if match := _LOADS.search(css):
        raise ValueError(f"has {match[0]}: a style sheet must not load other files")
    if match := _COLOURS.search(css):
        raise ValueError(
            f"sets {match[1]}: colours are in the table colors, where their contrast is checked"
        )
    return css


def _links(table: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Read `Imprint = "https://example.org/imprint"`."""
    for name, url in table.items():
        if not name or not name.isprintable() or len(name) > 40:
            raise ValueError("a name must have 1 to 40 printable characters")
        link = r"(https?://[A-Za-z0-9\[]|/(?![/\\]))[!-~]{0,500}"
        if not isinstance(url, str) or not re.fullmatch(link, url):
            raise ValueError(f"has {url!r}: a link is an http(s) URL or a path")
    if len(table) > MAX_LINKS:
        raise ValueError(f"must be at most {MAX_LINKS} links")
    return tuple(table.items())


def _file(folder: Path, text: str) -> bytes:
    if "://" in text:
        raise ValueError("must be a file of this machine")
    try:
        with (folder / text).open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    if not content or len(content) > MAX_FILE_BYTES:
        raise ValueError(f"must have between 1 and {MAX_FILE_BYTES} bytes")
    return content


# ruff: noqa: E501, RUF009 (a setting is one line)


brand_kind = Kind(
    "brand", "a TOML file with the site's name, colours and contacts", brand_file, absolute_path
)


@dataclass(frozen=True)
class Settings:
    # fmt: off
    brand: Brand = setting("SCAN_BRAND", brand_kind, "none", "a TOML file with [the site's name, colours and contacts](pages.md#your-own-brand)", unset=UNBRANDED)
    # fmt: on


HOOKS = OwnSettings(declared=Settings)
