"""The operator's own face: what SCAN_BRAND_* shows, and what the start refuses."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient
from werkzeug.serving import make_server

from app import create_app
from scan.brand import MAX_FILE_BYTES, PAIRS, UNBRANDED, contrast, default_palette
from scan.errors import SettingError
from scan.settings import Settings
from tests.pages.test_browser import AXE, axe_violations, show_theme
from tests.pages.test_browser import COLOURS as COLOURS_OF_A_PAGE
from tests.support.browser import Page
from tests.support.indexing import Indexing
from tests.support.serving import in_thread

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>'
COLOURS = "accent=#7a1fa2/#e0a8ff, ground=#faf7f2/#100c14, panel=#fffdf9/#1a1420"
NOTICE = 'Moving on Sunday <script>alert(1)</script> & "back" on Monday'

BrandOf = Callable[..., Settings]


@pytest.fixture
def brand_of(tmp_path: Path) -> BrandOf:
    """Settings of SCAN_BRAND_*; the contents of files by the name of their setting."""

    def settings(logo: str | bytes = "", css: str | bytes = "", **values: str) -> Settings:
        environ = {f"SCAN_BRAND_{name}": text for name, text in values.items()}
        for name, content in (("LOGO", logo), ("CSS", css)):
            if content:
                path = tmp_path / name
                path.write_bytes(content.encode() if isinstance(content, str) else content)
                environ[f"SCAN_BRAND_{name}"] = str(path)
        return Settings.from_environment(environ)

    return settings


@pytest.fixture
def branded(indexed: Indexing, brand_of: BrandOf) -> FlaskClient:
    settings = brand_of(
        logo=DRAWING,
        css="/* wide */ main { max-width: 90rem; } .badge { border-radius: 0; }",
        NAME="Acme <Explorer>",
        COLORS=COLOURS,
        LINKS="Imprint=https://acme.example/imprint?a=1&b=2, Blocks=/blocks",
        TAGLINE="All of <Acme>",
        NOTICE=NOTICE,
        ROBOTS="none",
    )
    return create_app(replace(indexed.settings, brand=settings.brand)).test_client()


def test_a_page_has_the_operators_face(branded: FlaskClient) -> None:
    text = branded.get("/blocks").text
    assert "<span>Acme &lt;Explorer&gt;</span>" in text and "<span>Scan</span>" not in text
    assert re.search(r"<title>Blocks · .+ · Acme &lt;Explorer&gt;</title>", text)
    assert '<meta property="og:site_name" content="Acme &lt;Explorer&gt;">' in text
    assert "<script>alert" not in text and "Moving on Sunday &lt;script&gt;" in text
    assert '<a href="https://acme.example/imprint?a=1&amp;b=2">Imprint</a>' in text
    logo, styles = (re.search(rf"/static/\w+/{name}", text) for name in ("logo.svg", "brand.css"))
    assert logo and styles
    drawing = branded.get(logo[0])
    assert (drawing.text, drawing.mimetype) == (DRAWING, "image/svg+xml")
    assert "sandbox" in drawing.headers["Content-Security-Policy"]
    assert branded.get("/favicon.ico").data == drawing.data
    css = branded.get(styles[0])
    assert css.text.startswith(":root { --accent: light-dark(#7a1fa2, #e0a8ff); --ground:")
    assert ".badge { border-radius: 0; }" in css.text
    refused = branded.get("/no/such/page", headers={"Accept": "text/html"})
    assert refused.status_code == 404 and "Acme &lt;Explorer&gt;" in refused.text


def test_the_home_page_says_what_the_site_is(branded: FlaskClient, client: FlaskClient) -> None:
    text = branded.get("/").text
    assert '<p class="sentence">All of &lt;Acme&gt;</p>' in text
    for name in ('name="description"', 'property="og:description"'):
        assert f'<meta {name} content="All of &lt;Acme&gt;">' in text
    assert "Every block, transaction, token and contract of " in client.get("/").text


PREVIEWS = re.compile(
    r'<meta (?:property|name)="(og:url|og:image|twitter:card)" content="([^"]*)">'
)


def test_previews_of_links_have_a_picture_and_the_address_of_the_page(
    indexed: Indexing, client: FlaskClient, brand_of: BrandOf
) -> None:
    def previews(**changes: Any) -> FlaskClient:
        brand = replace(changes.pop("brand", UNBRANDED), url="https://scan.example")
        settings = replace(indexed.settings, brand=brand, **changes)
        return create_app(settings).test_client()

    assert dict(PREVIEWS.findall(client.get("/blocks").text)) == {"twitter:card": "summary"}
    shown = dict(PREVIEWS.findall(previews(base_path="/bsc").get("/bsc/txs?limit=50").text))
    assert shown["og:url"] == "https://scan.example/bsc/txs"
    picture = shown["og:image"].removeprefix("https://scan.example/bsc")
    assert client.get(picture).mimetype == "image/png"
    assert client.get(picture).data.startswith(b"\x89PNG")
    logo = b"\x89PNG\r\n\x1a\n" + b"0" * 100
    own = previews(brand=brand_of(logo=logo).brand)
    picture = dict(PREVIEWS.findall(own.get("/txs").text))["og:image"]
    assert own.get(urlsplit(picture).path).data == logo
    refused = own.get('/no/"such"<page>', headers={"Accept": "text/html"})
    assert refused.status_code == 404 and "og:url" not in refused.text
    assert "og:image" not in previews(brand=brand_of(logo=DRAWING).brand).get("/txs").text


@pytest.mark.check
def test_the_url_of_the_site_has_no_path() -> None:
    for text in ("https://scan.example", "https://scan.example/", "http://localhost:8000"):
        given = Settings.from_environment({"SCAN_BRAND_URL": text}).brand.url
        assert given == text.removesuffix("/")
    for text in ("https://scan.example/bsc", "ftp://scan.example", "scan.example", 'https://a"b'):
        with pytest.raises(SettingError, match=r"^SCAN_BRAND_URL="):
            Settings.from_environment({"SCAN_BRAND_URL": text})


def test_crawlers_are_told_what_to_leave(branded: FlaskClient, client: FlaskClient) -> None:
    assert branded.get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
    rules = client.get("/robots.txt").text
    assert "Disallow: /api/\n" in rules and "Disallow: /\n" not in rules
    for _ in range(130):  # more than the limit of pages
        assert client.get("/robots.txt").status_code == 200
    assert client.get("/favicon.ico").mimetype == "image/svg+xml"


def test_without_a_brand_no_file_is_added(client: FlaskClient) -> None:
    text = client.get("/blocks").text
    assert "brand.css" not in text and 'class="notice"' not in text
    assert '<meta property="og:site_name" content="Scan">' in text


def test_a_browser_loads_nothing_else(branded: FlaskClient, page: Page) -> None:
    with in_thread(make_server("127.0.0.1", 0, branded.application, threaded=True)) as url:
        for theme in ("light", "dark"):
            show_theme(page, theme)
            page.open(f"{url}/blocks")
            page.evaluate(AXE.read_text() + "; undefined")
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ground == {"light": "rgb(250, 247, 242)", "dark": "rgb(16, 12, 20)"}[theme]
            assert axe_violations(page, COLOURS_OF_A_PAGE) == []
        page.call("Emulation.setEmulatedMedia", features=[])
        hosts = {urlsplit(address).hostname for address in page.requested}
        assert hosts <= {"127.0.0.1", None}  # None: data: URLs
        assert page.errors == []


@pytest.mark.check
def test_the_own_colours_pass_the_same_check() -> None:
    palette = default_palette()
    assert len(palette) == 16
    for front, back, least in PAIRS:
        for one, other in zip(palette[front], palette[back], strict=True):
            assert contrast(one, other) >= least, (front, back)
    assert contrast("#000", "#ffffff") == pytest.approx(21)


@pytest.mark.check
@pytest.mark.parametrize(
    ("files", "setting", "reason"),
    [
        ({"COLORS": "accent=#888888/#8fb4ff"}, "COLORS", "accent #888888 on ground"),
        ({"COLORS": "panel=#ffffff/#8fb4ff"}, "COLORS", "in the dark theme has a contrast of"),
        ({"COLORS": "glow=#000000/#ffffff"}, "COLORS", "has no colour glow; there are ground,"),
        *(
            ({"COLORS": text}, "COLORS", "must be pairs such as")
            for text in ("accent", "accent=red/blue", "accent=#1c50c8", "accent=#1/#2", ",")
        ),
        ({"LOGO": "https://elsewhere.example/a.png"}, "LOGO", "must be a file of this machine"),
        ({"LOGO": "/no/such/file"}, "LOGO", "cannot be read: No such file"),
        ({"LOGO": "/"}, "LOGO", "cannot be read"),
        ({"logo": "<html><svg></svg></html>"}, "LOGO", "must be an SVG, PNG or WebP file"),
        ({"logo": b"\x89PNG\r\n\x1a\n" + b"0" * MAX_FILE_BYTES}, "LOGO", "must have between"),
        ({"css": "@import 'https://elsewhere.example/a.css';"}, "CSS", "has @import"),
        ({"css": "p::before { content: '/*' } p { cursor: url(a) } /**/"}, "CSS", "has url("),
        ({"css": "p { cursor: URL(//elsewhere.example/a) }"}, "CSS", "must not load other files"),
        ({"css": r"p { cursor: \75rl(//elsewhere.example/a) }"}, "CSS", "has \\"),
        ({"css": "p { color: #777 }"}, "CSS", "sets color: colours are SCAN_BRAND_COLORS"),
        ({"css": ":root { --text: #777 }"}, "CSS", "sets --text"),
        ({"css": b"\xff"}, "CSS", "must be CSS in UTF-8"),
        ({"NAME": "x" * 31}, "NAME", "must have at most 30 printable characters"),
        ({"NOTICE": "a\nb"}, "NOTICE", "printable"),
        ({"ROBOTS": "yes"}, "ROBOTS", "must be one of index, none"),
        *(
            ({"LINKS": f"A={url}"}, "LINKS", "a link is an http(s) URL or a path")
            for url in ("javascript:alert(1)", "//elsewhere.example", "/\\elsewhere", "data:,", "")
        ),
        ({"LINKS": "=https://a.example"}, "LINKS", "must be pairs such as"),
        ({"LINKS": ",".join(["A=/"] * 9)}, "LINKS", "must be at most 8 links"),
    ],
)
def test_what_is_refused_names_the_setting(
    brand_of: BrandOf, files: dict[str, Any], setting: str, reason: str
) -> None:
    with pytest.raises(SettingError, match=f"^SCAN_BRAND_{setting}=") as caught:
        brand_of(**files)
    assert reason in str(caught.value)
