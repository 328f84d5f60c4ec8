"""Items' metadata and pictures from bytes that anybody may have written."""

import base64
from functools import partial

import pytest

from scan.extensions.items import item_metadata

pytestmark = pytest.mark.check

PNG = b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + (8).to_bytes(4) + (8).to_bytes(4) + bytes(20)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>'
CONTENT_ID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"
GATEWAY = "https://ipfs.example/"


@pytest.mark.parametrize(
    ("uri", "content"),
    [
        ("data:application/json;base64,eyJhIjoxfQ==", b'{"a":1}'),
        ("data:application/json;utf8,%7B%22a%22%3A1%7D", b'{"a":1}'),
        ('data:application/json,{"a":1}', b'{"a":1}'),
        ("data:;base64,-_8=", b"\xfb\xff"),
        ("DATA:,x", b"x"),
        ("https://example.com/", None),
        ("data:no comma", None),
    ],
)
def test_data_uris(uri, content):
    assert item_metadata.from_data_uri(uri, 1000) == content


# What the function refuses.
REFUSED = {
    "data URIs": (
        lambda uri: item_metadata.from_data_uri(uri, 1000),
        (
            *("data:," + "x" * 1001, "data:," + "%41" * 1001),
            *(f"data:;base64,{'A' * length}" for length in (1, 1400, 10_000_000)),
        ),
    ),
    "documents": (
        item_metadata.parse,
        (
            *(b"", b"[]", b'"text"', b"\xff\xfe", b"<html>", b"[" * 200_000),
            b'{"a":' * 40_000,
            b'{"name":"' + b"x" * item_metadata.MAX_DOCUMENT_BYTES + b'"}',
            '{"name":"x"}'.encode("utf-16"),
            # What JSON does not have.
            *(b'{"name":NaN}', b'{"name":-Infinity}', b'{"name":01}', b'{"name":"\\ud800"}'),
            b'{"name":"x","a":1e400}',
            b'{"name":"\xed\xa0\x80"}',
            b'{"a":' + b"[" * 900 + b"]" * 900 + b"}x",
        ),
    ),
    "pictures": (
        item_metadata.picture,
        (
            *(b"", b"<html><svg ></svg></html>", b"<script>alert(1)</script>", b"%PDF-1.7"),
            b'<!DOCTYPE svg [<!ENTITY a "aaaa">]>' + SVG,
            b'<?xml version="1.0"?>' + SVG + b"<!ENTITY x>",
            SVG.ljust(item_metadata.MAX_PICTURE_BYTES + 1),
            PNG.replace((8).to_bytes(4), (60_000).to_bytes(4)),
            b"GIF89a\xff\xff\xff\xff" + bytes(10),
            # A pattern that could divide comments in every way would never end.
            b"<!---->" * 280,
        ),
    ),
    "URIs": (
        lambda uri: item_metadata.remote_url(uri, GATEWAY),
        (
            *("http://example.com/1.json", "file:///etc/passwd", "gopher://x", "", "7"),
            *("ipfs://../../admin", f"ipfs://{CONTENT_ID}/../../admin", "ipfs://api/v0/shutdown"),
            f"ipfs://{CONTENT_ID}/%2e%2e/%2e%2e/admin",
            f"ipfs://{CONTENT_ID}/..%2f..%2fadmin",
            f"ipfs://{CONTENT_ID}/a\\..\\b",
            f"ipfs://{CONTENT_ID}\r\nHost: x",
        ),
    ),
    "URIs without a gateway": (
        lambda uri: item_metadata.remote_url(uri, ""),
        (f"ipfs://{CONTENT_ID}",),
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused(kind):
    read, contents = REFUSED[kind]
    for content in contents:
        with pytest.raises(item_metadata.BadContent):
            read(content)


def test_remote_urls():
    for uri, url in (
        ("https://example.com/1.json", "https://example.com/1.json"),
        (f"ipfs://{CONTENT_ID}/1.json", f"https://ipfs.example/ipfs/{CONTENT_ID}/1.json"),
        (f"ipfs://ipfs/{CONTENT_ID}", f"https://ipfs.example/ipfs/{CONTENT_ID}"),
        (f"ipfs://{CONTENT_ID}/a b?c#d", f"https://ipfs.example/ipfs/{CONTENT_ID}/a%20b%3Fc%23d"),
    ):
        assert item_metadata.remote_url(uri, GATEWAY) == (url, uri.startswith("ipfs"))


def test_attributes_that_are_left_out():
    """Of a key given twice the last counts; a number cut would be another number."""
    for document, attributes in (
        (b'[null,1,"x",[],{},{"value":null},{"value":{"a":1}},{"value":"v"}]', [("", "v")]),
        (b'{"a":1}', []),
        (b'[{"value":1}],"attributes":[]', []),
        (b'[{"value":' + b"9" * 300 + b"}]", []),
    ):
        assert item_metadata.parse(b'{"attributes":' + document + b"}").attributes == attributes


def test_metadata_is_cut():
    metadata = item_metadata.parse(
        b'{"name":"' + b"n" * 10_000 + b'","description":7,"image":["no"],"image_data":"<svg/>",'
        b'"attributes":[' + b",".join([b'{"trait_type":"t","value":true}'] * 5000) + b"]}"
    )
    assert (len(metadata.name), metadata.description, metadata.image) == (200, "7", "<svg/>")
    assert len(metadata.attributes) == item_metadata.MAX_ATTRIBUTES
    assert metadata.attributes[0] == ("t", "yes")


@pytest.mark.parametrize(
    "number",
    [str(2**256 - 1), str(-(2**255)), str(2**64), str(2**53 + 1), "1e300", "-0", "0.1", "1.10"],
)
def test_numbers_are_shown_as_they_are_written(number):
    text = f'{{"name":{number},"image":{number},"attributes":[{{"value":{number}}}]}}'
    metadata = item_metadata.parse(text.encode())
    assert (metadata.name, metadata.image) == (number, None)
    assert metadata.attributes == [("", number)]


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a" + bytes(10), "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (SVG, "image/svg+xml"),
        (b'<?xml version="1.0"?>\n<!-- a -->\n' + SVG, "image/svg+xml"),
        (SVG.replace(b"<rect", b"<script>alert(1)</script><rect"), "image/svg+xml"),
        (b"<!---->" * 100 + SVG, "image/svg+xml"),
    ],
)
def test_pictures_are_known_by_their_bytes(content, content_type):
    assert item_metadata.picture(content).content_type == content_type


def jpeg(width, height, between=b""):
    quantities = b"\xff\xdb" + (67).to_bytes(2) + bytes(65)
    frame = b"\xff\xc2\x00\x11\x08" + height.to_bytes(2) + width.to_bytes(2) + bytes(10)
    return b"\xff\xd8\xff\xe0\x00\x10" + bytes(14) + between + quantities + b"\xff" + frame


def webp(kind, width, height):
    size = {
        b"VP8X": bytes(4) + b"".join((n - 1).to_bytes(3, "little") for n in (width, height)),
        b"VP8L": b"\x2f" + (width - 1 | (height - 1) << 14).to_bytes(4, "little"),
        b"VP8 ": bytes(3) + b"\x9d\x01\x2a" + width.to_bytes(2, "little")
        + height.to_bytes(2, "little"),
    }[kind]  # fmt: skip
    return b"RIFF\0\0\0\0WEBP" + kind + bytes(4) + size + bytes(9)


MADE = {kind: partial(webp, kind) for kind in (b"VP8X", b"VP8L", b"VP8 ")}
MADE |= {"jpeg": jpeg, "garbage": partial(jpeg, between=b"\x00\xff\x00garbage\xff\xff")}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_pixels_are_bounded_by_what_headers_claim(make):
    assert item_metadata.picture(make(8000, 8000))
    for width, height in ((8000, 8001), (16_383, 16_383)):
        with pytest.raises(item_metadata.BadContent, match="pixels"):
            item_metadata.picture(make(width, height))


def test_what_an_svg_draws_again_is_counted(subtests):
    def nested(name, reference, times=10, levels=9):
        parts = ['<rect id="i0" width="9" height="9"/>']
        for level in range(levels):
            inner = reference.format(f"i{level}") * times
            parts.append(f'<{name} id="i{level + 1}">{inner}</{name}>')
        last = reference.format(f"i{levels}")
        return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(parts)}{last}</svg>'.encode()

    use = '<use href="#{}"/>'
    inner = base64.b64encode(nested("g", use)).decode()
    image = f'<svg xmlns="x"><image href="data:image/svg+xml;base64,{inner}"/></svg>'.encode()
    line = '<path marker-mid="url(#m)" d="' + "M0 0" * 9000 + '"/>'
    for name, bomb in {
        "use": nested("g", use),
        "use, in the older form": nested("g", ' <use xlink:href=" #{} "/>'),
        "use, under another prefix": nested("g", '<use x:href="#{}"/>'),
        "use, encoded": nested("g", '<use href="#{}"/>').replace(b"#i", b"#%69"),
        "use, of the picture's own URL": nested("g", '<use href="picture#{}"/>'),
        "use, set by an animation": nested("g", '<use><set attributeName="href" to="#{}"/></use>'),
        "use, animated": nested("g", '<use><animate attributeName="href" values="#;#{}"/></use>'),
        "masks, escaped": nested("mask", '<g mask="u\\72l(\\23 {})"/>'),
        "masks, of the picture's own URL": nested("mask", "<g mask=\"url('picture#{}')\"/>"),
        "patterns": nested("pattern", '<rect fill="url(#{})"/>'),
        "masks by style": nested("mask", "<rect style=\"mask: URL( '#{}' )\"/>"),
        "a style for all": b"<svg xmlns='x'><style>*{mask:url(#a)}</style><mask id='a'>"
        + b"<rect/>" * 300 + b"</mask></svg>",
        "in a picture": image,
        "in a picture, after spaces": image.replace(b'="data', b'="' + b" " * 100 + b"data"),
        "in a picture, broken": image.replace(b"data:image", b"da&#10;ta:im&#9;age"),
        "markers": f'<svg xmlns="x"><marker id="m"><g/></marker>{line}</svg>'.encode(),
        "filters": b"<svg xmlns='x'><filter>" + b"<feTurbulence/>" * 101 + b"</filter></svg>",
        "elements": b"<svg xmlns='x'>" + b"<g/>" * 20_001 + b"</svg>",
        "depth": b"<svg xmlns='x'>" + b"<g>" * 300 + b"</g>" * 300 + b"</svg>",
        "malformed": b"<svg xmlns='x'><g></svg>",
        "references": b"<svg xmlns='x'><g a='" + b"url(#x)" * 20_001 + b"'/></svg>",
        "style elsewhere": b"<svg xmlns='x'><style>\\@im\\port url(data:text/css,x)</style></svg>",
        "style by an instruction": b"<svg xmlns='x'><?xml-stylesheet href='data:,x'?></svg>",
        "style by a link": b"<svg xmlns='x'><link xmlns='y' href='data:text/css,x'/></svg>",
        "style's picture": b"<svg xmlns='x'><style>a{b:url(data:image/svg+xml,x)}</style></svg>",
    }.items():  # fmt: skip
        with subtests.test(name), pytest.raises(item_metadata.BadContent, match="draws too much"):
            item_metadata.picture(bomb)
    assert item_metadata.picture(nested("g", use, levels=3))
    for harmless in (
        b"<svg xmlns='x'><g id='a'><use href='#a'/><use href='#b'/></g></svg>",
        b"<svg xmlns='x'>" + b"<rect fill='url(#a)'/>" * 9000 + b"<pattern/></svg>",
        b"<svg xmlns='x'><image href='data:image/png;base64,AAAA'/></svg>",
        b"<svg xmlns='x'><style>#a{fill:#abc}</style><g id='a' b='\\110000'/></svg>",
    ):
        assert item_metadata.picture(harmless).content == harmless
