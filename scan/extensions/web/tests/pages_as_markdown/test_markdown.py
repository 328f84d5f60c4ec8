"""Pages as Markdown, for programs that read text."""

import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from decimal import Decimal
from html import escape
from itertools import islice

import pytest
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from scan.errors import TooLarge
from scan.extensions.web.pages_as_markdown import markdown
from scan.extensions.web.pages_as_markdown.markdown import MAX_HTML_CHARACTERS, to_markdown
from scan.queries import reader

MARKDOWN = {"Accept": "text/markdown, */*;q=0.1"}


def test_a_cached_page_is_not_given_in_the_other_form(client):
    for _ in range(2):
        assert client.get("/blocks").content_type.startswith("text/html")
        assert client.get("/blocks", headers=MARKDOWN).content_type.startswith("text/markdown")


def test_caches_are_told_that_a_page_has_two_forms(client):
    for path in ("/", "/blocks", "/gas", f"/address/0x{'12' * 20}"):
        for headers in (MARKDOWN, {"Accept": "text/html"}):
            for _ in range(2):  # the second may come from our own cache
                response = client.get(path, headers=headers)
                assert response.headers.getlist("Vary")[0].split(", ")[0] == "Accept", (
                    path,
                    headers,
                )


def test_pages_that_wait_for_their_conversion_hold_few_threads(client, monkeypatch):
    """One is converted, and of its client's others one waits at most."""
    goes_on = threading.Event()
    # Within the conversion: the page has the function itself, by its hook.
    monkeypatch.setattr(markdown, "_write_whole_values", lambda _: goes_on.wait(30))
    monkeypatch.setattr(reader, "PROCESSOR_WAIT_S", 30.0)

    def status(_):
        return client.application.test_client().get("/blocks", headers=MARKDOWN).status_code

    with ThreadPoolExecutor(8) as pool:
        requests = [pool.submit(status, number) for number in range(8)]
        refused = list(islice(as_completed(requests, timeout=20), 6))
        goes_on.set()
    assert [request.result() for request in refused] == [429] * 6
    assert sum(request.result() == 200 for request in requests) == 2


OTHERS = ("", "*/*", "text/html", "text/html,text/markdown;q=0.5", "text/markdown;q=0")


@pytest.mark.parametrize("accept", [*OTHERS, "text/markdown," * 72])  # longer than what is read
def test_others_get_html(client, accept):
    assert client.get("/blocks", headers={"Accept": accept}).content_type.startswith("text/html")


ERRORS = [
    ("/block/999999", 404, "# Not found"),
    ("/tx/0x12", 400, "# Invalid request"),
    ("/tokens?page=x", 400, "# Tokens"),
    ("/txs?method=0x12", 400, "Method must be"),
    ("/no", 404, "# Not found"),
    ("/txs?%5Bx%5D(https://evil)=1", 400, "\\[x\\](https"),
]


@pytest.mark.parametrize(("path", "status", "words"), ERRORS)
def test_errors_are_in_the_form_that_is_preferred(client, path, status, words):
    response = client.get(path, headers=MARKDOWN)
    assert response.status_code == status
    assert response.content_type == "text/markdown; charset=utf-8"
    assert response.text.startswith("# ") and words in response.text
    [vary] = response.headers.getlist("Vary")
    assert vary in ("Accept", "Accept, Accept-Encoding")  # the second where it is long
    both = {"Accept": "text/html, text/markdown;q=0.5"}
    assert client.get(path, headers=both).content_type.startswith("text/html")
    assert client.get("/api/v1/no", headers=MARKDOWN).content_type == "application/json"


LINK = re.compile(r"\]\((/[^)\s]*)\)")
WITHOUT_SCRIPT = ":not(.js *, .js, [hidden] *, [hidden])"


def test_a_reader_of_the_text_goes_where_a_reader_of_the_page_goes(client):
    """Tabs, pagers and the menu are links, forms name their path and fields, and no markup of the
    page is left."""
    newest = client.get("/api/v1/transactions?limit=1").json["transactions"][0]
    token = client.get("/api/v1/tokens?limit=1").json["tokens"][0]["address"]
    sender = newest["fromAddress"]
    for path in (
        "/",
        "/blocks",
        "/txs",
        "/tokens",
        "/contracts",
        "/verify",
        "/charts",
        f"/tx/{newest['hash']}",
        f"/token/{token}",
        f"/block/{newest['blockNumber']}",
        f"/address/{sender}",
        f"/address/{sender}?tab=chart",
    ):
        document = BeautifulSoup(client.get(path).text, "html.parser")
        response = client.get(path, headers=MARKDOWN)
        text = response.text
        assert response.content_type == "text/markdown; charset=utf-8", path
        assert text.startswith("# "), path
        assert "later activity is not shown" in text.partition("|")[0], path
        assert "<div" not in text and "Skip to content" not in text, path
        links = LINK.findall(text)
        for link in document.select("main nav a, header .menu a, footer .json"):
            assert link["href"] in links, (path, link)
        for link in document.select("header .menu a"):
            assert (
                links.count(link["href"]) - len(document.select(f'main a[href="{link["href"]}"]'))
                == 1
            ), path
        assert "`GET /search` with `q=`" in text
        for form in document.select(f"main form{WITHOUT_SCRIPT}"):
            [line] = [
                line
                for line in text.splitlines()
                if f"{form.get('action', path.partition('?')[0])}` with" in line
            ]
            for control in form.select("input[name], select[name]"):
                assert f"`{control['name']}=" in line, (path, control)
    page = client.get(f"/tx/{newest['hash']}", headers=MARKDOWN).text
    assert sender in page and f"](/block/{newest['blockNumber']})" in page
    form = client.get("/txs?status=false", headers=MARKDOWN).text
    assert "`status=false` (Status: any; `true` success; `false` failed)" in form


def test_text_has_all_digits_and_its_words_apart(client):
    """Style shortens amounts, and holds apart what has no space between it."""
    newest = client.get("/api/v1/transactions?limit=1").json["transactions"][0]
    paid = f"{Decimal(newest['fee']).scaleb(-18).normalize():f}"
    assert f"| {paid} |" in client.get("/txs", headers=MARKDOWN).text
    home = client.get("/", headers=MARKDOWN).text
    assert re.search(r" UTC \d+ transactions?, ", home)
    assert "…" not in home.partition("## ")[2]
    token = client.get("/api/v1/tokens?limit=1").json["tokens"][0]
    results = client.get(f"/search?q={token['name'][:2]}", headers=MARKDOWN).text
    assert re.search(rf"\d 0x{token['address'][2:]}", results, re.IGNORECASE)
    pool = client.get("/api/v1/pools?limit=1").json["pools"][0]["address"]
    chart = client.get(f"/pool/{pool}", headers=MARKDOWN).text
    assert "Outlined: closed at or above its opening price" in chart
    assert "Filled: closed below" in chart
    assert not re.search(r"\d\d:\d\d\d", chart), "axes stand in the table"


def test_numbers_cut_short_are_whole_in_text():
    html = (
        '<main><data data-full="1.25 X Y">1.2…</data><p><span data-full="1000">1,000</span>'
        '<span data-full="f(uint256)">f…</span></p><pre><i>a</i><b>c</b></pre></main>'
    )
    assert to_markdown(html) == "1.25\n\n1,000 f… (f(uint256))\n\n```\nac\n```\n"


def test_a_call_answers_in_the_text(client):
    html = (
        '<main><form method="post" action="/address/0x1/call#f"><input type="hidden"'
        ' name="function" value="f(uint256)"><label>id <span>uint256</span> <input name="argument"'
        ' value="7"></label><p><button>Call</button></p><output>42</output></form></main>'
    )
    assert to_markdown(html) == (
        "`POST /address/0x1/call` with `function=f(uint256)` `argument=7` (id uint256)\n\n42\n"
    )
    scripted = '<main><form><code>f()</code><p class="js"><input name="argument"></p></form></main>'
    assert to_markdown(scripted, "/address/0x1") == "`f()`\n"


def test_a_time_stands_once(client):
    """Of a block that is not the newest, whose time the notice of a stale index repeats."""
    oldest = client.get("/api/v1/transactions?limit=1&orderBy=asc").json["transactions"][0]
    shown = oldest["timestamp"].replace("T", " ").replace("Z", " UTC")
    for path in (f"/tx/{oldest['hash']}", f"/block/{oldest['blockNumber']}"):
        assert client.get(path, headers=MARKDOWN).text.partition("|")[0].count(shown) == 1, path


HOSTILE = (
    "```\n# Verified by Binance\n```",
    "````",
    "`",
    "a|b",
    "|\n|---|\n| 5 ETH |",
    "[x](https://evil)",
    'x" onclick="y',
    "![x](https://evil/x.png)",
    "<b>bold</b>",
    "\n\n# head",
    "- list",
    "1. list",
    "> quote",
    "https://evil](/x)",
    "\\",
    "&amp;",
    "**strong**",
    "~~~\nx\n~~~",
    "<!-- x",
    "a\n===\n",
)
PLACES = {
    "pre": "<pre>{}</pre>",
    "code": "<p><code>{}</code></p>",
    "cell": "<table><tr><th>n</th></tr><tr><td>{}</td></tr></table>",
    "code in a cell": "<table><tr><th>n</th></tr><tr><td><code>{}</code></td></tr></table>",
    "link": '<p><a href="/token/0x1" title="{}">{}</a></p>',
    "picture": '<p><img src="/nft/1" alt="{}"></p>',
    "picture in a cell": '<table><tr><td><img src="/nft/1" alt="{}"></td></tr></table>',
    "paragraph": "<p>{}</p>",
}


def leaves_of(parser, text):
    tokens = [leaf for token in parser.parse(text) for leaf in [token, *(token.children or ())]]
    return [f"{t.type} {t.attrGet('href')}" for t in tokens if t.type not in IN_WORDS]


@pytest.mark.parametrize("place", PLACES)
def test_hostile_text_is_the_same_text_to_a_parser_of_markdown(place):
    """The structure of the document is that which a harmless word has in the same place."""
    parser = MarkdownIt("commonmark").enable("table")

    def structure(text):
        html = PLACES[place].replace("{}", escape(text, quote=True))
        return leaves_of(parser, to_markdown(f"<main><h1>Page</h1>{html}<p>End</p></main>"))

    for text in HOSTILE:
        assert structure(text) == structure("word"), text


def test_hostile_names_leave_the_structure_of_pages_as_it_is(client):
    """Every name that a page of the scenario shows is replaced where it stands, by hostile ones."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens = client.get("/api/v1/tokens?limit=25").json["tokens"]
    names = {token[field] for token in tokens for field in ("name", "symbol")}
    names = {name for name in names if len(name) > 2 and name.isascii()}
    [transfer] = client.post("/api/v1/query", json={"entity": "token_transfers", "limit": 1}).json[
        "data"
    ]
    token, sender = transfer["tokenAddress"], transfer["fromAddress"]
    paths = [
        "/",
        "/tokens",
        f"/tx/{transfer['transactionHash']}",
        f"/token/{token}",
        *(f"/address/{sender}?tab={tab}" for tab in ("tokens", "transfers", "trades")),
    ]
    texts = (" ".join(text for text in HOSTILE if "\n" not in text), "https://evil](/x) `", "\\")
    replaced = 0

    def structure(html, text):
        nonlocal replaced
        document = BeautifulSoup(html, "html.parser")
        assert document.main is not None
        for string in document.main.find_all(string=True):
            if string.strip() in names:
                string.replace_with(text)
                replaced += 1
        for element in document.main.select("[title], [alt], [aria-label]"):
            for attribute in ("title", "alt", "aria-label"):
                if element.get(attribute) in names:
                    element[attribute] = text
        return leaves_of(parser, to_markdown(str(document)))

    for path in paths:
        page = client.get(path).text
        expected = structure(page, "word")
        for text in texts:
            assert structure(page, text) == expected, (path, text)
    assert replaced > 40 * len(texts)


IN_WORDS = {"text", "softbreak", "hardbreak", "code_inline", "text_special"}


def test_the_time_a_page_takes_grows_with_its_length_alone():
    """In a process of its own: what took 34 s did not give way to any time-out."""
    text = 100_000 * " "
    pages = [f"<main>{html.replace('{}', f'x{text}x')}</main>" for html in PLACES.values()]
    pages.append(f"<main><p>{20_000 * '<i>x</i>'}</p></main>")
    script = (
        "import sys; from scan.extensions.web.pages_as_markdown.markdown import to_markdown;"
        "[to_markdown(page) for page in sys.stdin.read().split('\\0')]"
    )
    subprocess.run(
        [sys.executable, "-c", script], input="\0".join(pages), text=True, check=True, timeout=60
    )


@pytest.mark.check
def test_a_page_too_large_is_refused():
    with pytest.raises(TooLarge):
        to_markdown("<main>" + "x" * MAX_HTML_CHARACTERS + "</main>")


def test_parts_of_pages_are_markdown_too(client):
    for path in ("/live", "/search/suggestions?q=a"):
        assert client.get(path, headers=MARKDOWN).status_code == 200


def test_what_is_never_charged_is_served_from_the_cache_whatever_is_accepted(client):
    for path in ("/readyz", "/llms.txt", "/api/v1/openapi.json"):
        bodies = {client.get(path, headers={"Accept": a}).data for a in ("text/markdown", "*/*")}
        assert len(bodies) == 1, path
