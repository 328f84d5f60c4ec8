"""The cost of drawing an SVG, in which a few bytes can refer to each other many times, and the
number of pixels that a picture claims in its header, for which a decoder allocates memory. Pure.

Browsers draw each `use`, pattern, mask, marker or filter anew wherever it is referred to: 1.5 kB
with `use` nested nine times blocked a tab for good.
"""

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote
from xml.parsers import expat

MAX_DRAWN = 20_000  # the cost of all elements; a picture of 100 x 100 squares costs 10,000
MAX_ELEMENTS = 20_000  # elements and references together
MAX_DEPTH = 256
MAX_NESTED = 2  # pictures within each other
# Elements that are drawn into a picture of their own, or for each of its pixels, as filters are.
_COSTS = {"mask": 20, "pattern": 20, "filter": 20, "marker": 20, "foreignobject": 20}
_FILTER_PRIMITIVE = 200
# The fragment of a URL, which may be the picture's own.
_URL = re.compile(r"""url\(\s*+(?:"[^"#]*|'[^'#]*|[^"'()#]*)#([^"')\s]+)""", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
_LEFT_OUT = str.maketrans("", "", "\t\n\r")  # characters that browsers remove from URLs
_TARGETS = ("href", "to", "from", "by", "values")  # under any prefix; animations set others
_NESTED = "data:image/svg"


class TooComplex(Exception):
    """The SVG costs more than MAX_DRAWN, or is one that no browser reads."""


@dataclass
class _Element:
    cost: int
    references: list[tuple[str, int]]  # ids, and how often each is drawn
    children: "list[_Element]" = field(default_factory=list)
    drawn: int | None = None  # the cost with children and references; 0 while it is counted


def check(content: bytes, read_data_uri: Callable[[str], bytes | None], nested: int = 0) -> int:
    """Return the cost of an SVG. Raises TooComplex. `nested` is the number of pictures
    around it."""
    document = _Document(read_data_uri, nested)
    try:
        document.parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise TooComplex from None
    drawn = document.drawn()
    if drawn > MAX_DRAWN:
        raise TooComplex
    return drawn


class _Document:
    def __init__(self, read_data_uri: Callable[[str], bytes | None], nested: int) -> None:
        self._read_data_uri = read_data_uri
        self._nested = nested
        self._root = _Element(0, [])
        self._open = [self._root]
        self._by_id: dict[str, _Element] = {}
        self._count = 0
        self._in_style = False
        self._style: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = _refuse
        self.parser.ProcessingInstructionHandler = _refuse  # may load a style sheet

    def _start(self, qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(":")[2].lower()
        cost = _FILTER_PRIMITIVE if name.startswith("fe") else _COSTS.get(name, 1)
        if name == "link":
            raise TooComplex
        element = _Element(cost, [])
        for attribute, value_text in attributes.items():
            value = value_text.translate(_LEFT_OUT)
            css = self._unescaped(value)
            if _NESTED in css.lower():
                element.cost += self._drawn_within(value)
                continue
            if attribute.rpartition(":")[2] in _TARGETS:
                element.references += ((name, 1) for name in _fragments(value))
            times = _vertices(attributes) if attribute.startswith("marker") else 1
            element.references += ((name, times) for name in _urls(css))
        self._count += 1 + len(element.references)
        if self._count > MAX_ELEMENTS or len(self._open) > MAX_DEPTH:
            raise TooComplex
        if "id" in attributes:
            self._by_id.setdefault(attributes["id"], element)
        self._open[-1].children.append(element)
        self._open.append(element)
        self._in_style = name == "style"

    def _unescaped(self, css: str) -> str:
        """Return the CSS without its escapes. Characters that could end a URL stay encoded."""
        self._count += css.count("\\")
        if self._count > MAX_ELEMENTS:
            raise TooComplex
        return _ESCAPE.sub(_character, css) if "\\" in css else css

    def _drawn_within(self, uri: str) -> int:
        inner = self._read_data_uri(uri.strip())
        if inner is None or self._nested >= MAX_NESTED:
            raise TooComplex
        return check(inner, self._read_data_uri, self._nested + 1)

    def _end(self, _: str) -> None:
        self._open.pop()
        self._in_style = False

    def _text(self, text: str) -> None:
        if self._in_style:
            self._style.append(text)

    def drawn(self) -> int:
        """Return the cost of the document. The references of styles count once for each element, as
        a style may apply to any of them."""
        css = self._unescaped("".join(self._style))
        if _NESTED in css.lower() or "@import" in css.lower():
            raise TooComplex
        styled = sum(self._referred_to(name) for name in set(_urls(css)))
        return self._drawn(self._root) + styled * self._count

    def _drawn(self, element: _Element) -> int:
        if element.drawn is None:
            element.drawn = 0  # browsers do not draw an element that refers to itself
            inner = sum(map(self._drawn, element.children))
            referred = sum(times * self._referred_to(name) for name, times in element.references)
            element.drawn = min(element.cost + inner + referred, MAX_DRAWN + 1)
        return element.drawn

    def _referred_to(self, name: str) -> int:
        element = self._by_id.get(name)
        return 0 if element is None else self._drawn(element)


def _fragments(value: str) -> set[str]:
    """Return the ids that a URL, or the URLs of an animation, may refer to."""
    return {unquote(url.partition("#")[2].strip()) for url in (value, *value.split(";"))} - {""}


def _urls(css: str) -> list[str]:
    return [unquote(name) for name in _URL.findall(css)]


def _character(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else ord(escape[2])
    return quote(chr(code), "#(:/@", errors="replace") if code < 0x110000 else "?"


def _vertices(attributes: dict[str, str]) -> int:
    """Return an upper bound of the markers of a line."""
    return 1 + max(len(attributes.get("d", "")), len(attributes.get("points", ""))) // 2


def _refuse(*_: object) -> None:
    raise TooComplex


# Frame headers of JPEG, ITU-T T.81 table B.1: not DHT (C4), JPG (C8) and DAC (CC).
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})


def pixels(content: bytes, content_type: str) -> int:
    """Return width times height; 0 where the header has no size: then no browser shows it."""
    try:
        width, height = _SIZES[content_type](content)
    except (struct.error, IndexError, ValueError):
        return 0
    return width * height


def _jpeg(content: bytes) -> tuple[int, int]:
    """Return the size in the first frame header; decoders refuse a second one. Like decoders, skip
    bytes between segments."""
    position = 2
    while True:
        position = content.index(b"\xff", position)
        marker = content[position + 1]
        if marker in (0x00, 0xFF):  # no marker; fill bytes
            position += 1
        elif marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, position + 5)
            return width, height
        elif marker in _WITHOUT_LENGTH:
            position += 2
        else:
            position += 2 + struct.unpack_from(">H", content, position + 2)[0]


def _webp(content: bytes) -> tuple[int, int]:
    """Return the canvas of VP8X, or the size of the only picture (RFC 9649)."""
    chunk = content[12:16]
    if chunk == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") for at in (24, 27))
        return width + 1, height + 1
    if chunk == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise IndexError


_SIZES: Mapping[str, Callable[[bytes], tuple[int, int]]] = {
    "image/png": lambda content: struct.unpack_from(">II", content, 16),
    "image/gif": lambda content: struct.unpack_from("<HH", content, 6),
    "image/jpeg": _jpeg,
    "image/webp": _webp,
}
