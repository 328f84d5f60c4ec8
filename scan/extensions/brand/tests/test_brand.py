"""The operator's own face: what SCAN_BRAND shows, and what the start refuses, also where
it is off."""

import json
import re
from dataclasses import replace
from types import MappingProxyType
from urllib.parse import urlsplit

import pytest

from scan.errors import SettingError
from scan.extensions.brand.settings import MAX_FILE_BYTES, PAIRS, contrast, default_palette
from scan.settings import UNBRANDED, Settings
from tests.support import page_checks, scan_command, serving
from tests.support.page_checks import COLOURS as COLOURS_OF_A_PAGE

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>'
COLOURS = {
    "accent": ["#7a1fa2", "#e0a8ff"],
    "ground": ["#faf7f2", "#100c14"],
    "panel": ["#fffdf9", "#1a1420"],
}


@pytest.fixture
def brand_of(tmp_path):
    """Settings with a file of SCAN_BRAND; `files` has contents by the key that names the file."""

    def settings(files=MappingProxyType({}), **values):
        for key, content in files.items():
            path = tmp_path / key
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            values[key] = key
        lines = [f"{key} = {_toml(value)}\n" for key, value in values.items()]
        (tmp_path / "brand.toml").write_text("".join(lines) or "# empty")
        return Settings.from_environment({"SCAN_BRAND": str(tmp_path / "brand.toml")})

    return settings


def _toml(value):
    if isinstance(value, dict):
        items = (f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    return json.dumps(value)  # texts, numbers and lists are alike


@pytest.fixture
def branded(indexed, brand_of):
    settings = brand_of(
        {
            "logo": DRAWING,
            "stylesheet": "/* wide */ main { max-width: 90rem; } .badge { border-radius: 0; }",
        },
        name="Acme <Explorer>",
        colors=COLOURS,
        links={"Imprint": "https://acme.example/imprint?a=1&b=2", "Blocks": "/blocks"},
        tagline="All of <Acme>",
        notice='Moving on Sunday <script>alert(1)</script> & "back" on Monday',
        robots="none",
    )
    return indexed.client(brand=settings.brand)


def test_a_page_has_the_operators_face(branded):
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


def test_previews_of_links_have_a_picture_and_the_address_of_the_page(indexed, client, brand_of):
    def previews(**changes):
        brand = replace(changes.pop("brand", UNBRANDED), url="https://scan.example")
        return indexed.client(brand=brand, **changes)

    said = re.compile(
        r'<meta (?:property|name)="(og:url|og:image|twitter:card)" content="([^"]*)">'
    )
    assert dict(said.findall(client.get("/blocks").text)) == {"twitter:card": "summary"}
    shown = dict(said.findall(previews(base_path="/bsc").get("/bsc/txs?limit=50").text))
    assert shown["og:url"] == "https://scan.example/bsc/txs"
    picture = shown["og:image"].removeprefix("https://scan.example/bsc")
    assert client.get(picture).mimetype == "image/png"
    assert client.get(picture).data.startswith(b"\x89PNG")
    logo = b"\x89PNG\r\n\x1a\n" + b"0" * 100
    own = previews(brand=brand_of({"logo": logo}).brand)
    picture = dict(said.findall(own.get("/txs").text))["og:image"]
    assert own.get(urlsplit(picture).path).data == logo
    refused = own.get('/no/"such"<page>', headers={"Accept": "text/html"})
    assert refused.status_code == 404 and "og:url" not in refused.text
    assert "og:image" not in previews(brand=brand_of({"logo": DRAWING}).brand).get("/txs").text


def test_crawlers_are_told_what_to_leave(branded, client):
    assert branded.get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
    rules = client.get("/robots.txt").text
    assert "Disallow: /api/\n" in rules and "Disallow: /\n" not in rules
    for _ in range(130):  # more than the limit of pages
        assert client.get("/robots.txt").status_code == 200
    assert client.get("/favicon.ico").mimetype == "image/svg+xml"


@pytest.mark.thorough
def test_a_browser_loads_nothing_else(branded, page):
    with serving.serving(branded.application) as url:
        for theme in ("light", "dark"):
            page_checks.show_theme(page, theme)
            page.open(f"{url}/blocks")
            page.evaluate(page_checks.AXE.read_text() + "; undefined")
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ground == {"light": "rgb(250, 247, 242)", "dark": "rgb(16, 12, 20)"}[theme]
            assert page_checks.axe_violations(page, COLOURS_OF_A_PAGE) == []
        page.call("Emulation.setEmulatedMedia", features=[])
        hosts = {urlsplit(address).hostname for address in page.requested}
        assert hosts <= {"127.0.0.1", None}  # None: data: URLs
        assert page.errors == []


@pytest.mark.check
def test_the_own_colours_pass_the_same_check():
    palette = default_palette()
    assert len(palette) == 16
    for front, back, least in PAIRS:
        for one, other in zip(palette[front], palette[back], strict=True):
            assert contrast(one, other) >= least, (front, back)
    assert contrast("#000", "#ffffff") == pytest.approx(21)


@pytest.mark.check
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        *(
            ({"url": url}, "")
            for url in """
                https://scan.example/bsc ftp://scan.example scan.example https://a"b
            """.split()
        ),
        ({"colors": {"accent": ["#888888", "#8fb4ff"]}}, "accent #888888 on ground"),
        ({"colors": {"panel": ["#ffffff", "#8fb4ff"]}}, "in the dark theme has a contrast of"),
        ({"colors": {"glow": ["#000000", "#ffffff"]}}, "has no colour glow; there are ground,"),
        *(
            ({"colors": {"accent": colours}}, "accent must be two colours such as")
            for colours in ("#1c50c8", ["#1c50c8"], ["red", "blue"], ["#1", "#2"], [1, 2], {})
        ),
        ({"logo": "https://elsewhere.example/a.png"}, "must be a file of this machine"),
        ({"logo": "/no/such/file"}, "cannot be read: No such file"),
        ({"logo": 1}, "must be a text"),
        ({"name": "x" * 31}, "must be a text of at most 30 printable characters"),
        ({"notice": "a\nb"}, "printable"),
        *(
            ({"links": {"A": url}}, "a link is an http(s) URL or a path")
            for url in (
                *r"javascript:alert(1) //elsewhere.example /\elsewhere data:,".split(),
                "",
                1,
            )
        ),
        ({"links": {"": "https://a.example"}}, "a name must have"),
        ({"links": {f"A{number}": "/" for number in range(9)}}, "must be at most 8 links"),
        ({"public_rpc_url": "http://a.example"}, "must be an https URL"),
        ({"security_contact": "me"}, "must begin with mailto:"),
    ],
)
def test_what_is_refused_names_the_key(brand_of, values, reason):
    (key,) = values
    with pytest.raises(SettingError, match=f"^SCAN_BRAND=.*: {key}: ") as caught:
        brand_of(**values)
    assert reason in str(caught.value)


@pytest.mark.check
@pytest.mark.parametrize(
    ("key", "content", "reason"),
    [
        ("logo", "<html><svg></svg></html>", "must be an SVG, PNG or WebP file"),
        ("logo", b"\x89PNG\r\n\x1a\n" + b"0" * MAX_FILE_BYTES, "must have between"),
        ("stylesheet", "@import 'https://elsewhere.example/a.css';", "has @import"),
        ("stylesheet", "p::before { content: '/*' } p { cursor: url(a) } /**/", "has url("),
        ("stylesheet", "p { cursor: URL(//elsewhere.example/a) }", "must not load other files"),
        ("stylesheet", r"p { cursor: \75rl(//elsewhere.example/a) }", "has \\"),
        ("stylesheet", "p { color: #777 }", "sets color: colours are in the table colors"),
        ("stylesheet", ":root { --text: #777 }", "sets --text"),
        ("stylesheet", b"\xff", "must be CSS in UTF-8"),
    ],
)
def test_a_refused_file_names_the_key(brand_of, key, content, reason):
    with pytest.raises(SettingError, match=f"^SCAN_BRAND=.*: {key}: ") as caught:
        brand_of({key: content})
    assert reason in str(caught.value)


@pytest.mark.check
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"name = ", "must be TOML in UTF-8"),
        (b"nome = 'Acme'", "has an unknown key nome; there are name, url, logo"),
        (b"#" * (MAX_FILE_BYTES + 1), "must have between"),
    ],
)
def test_a_brand_that_is_none_is_refused(tmp_path, content, reason):
    (tmp_path / "brand.toml").write_bytes(content)
    with pytest.raises(SettingError, match=r"^SCAN_BRAND=") as caught:
        Settings.from_environment({"SCAN_BRAND": str(tmp_path / "brand.toml")})
    assert reason in str(caught.value)


@pytest.mark.check
def test_a_variable_of_an_extension_that_is_off_is_named(tmp_path):
    environ = {"SCAN_BRAND": "acme", "SCAN_EXTENSIONS": "none", "SCAN_DATA_DIR": str(tmp_path)}
    ended = scan_command.started("scan", "migrate", environ=environ)
    assert "SCAN_BRAND is of the extension brand, which is off" in ended.stderr
