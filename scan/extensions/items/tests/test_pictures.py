"""Pictures in lists of items: what is shown, what contracts may make of it, and what it costs."""

import base64
import json
import re
import threading
from pathlib import Path

import pytest

from scan.extensions.items import item_metadata, media_cache
from scan.extensions.items.queries import GAS, MAX_PENDING, MAX_THUMBNAILS
from scan.extensions.items.settings import Settings as MediaSettings
from scan.outbound.http_client import HttpClient, NotFetched
from tests.support import WAIT_S, anvil, faulty_node, indexing, many_functions, serving
from tests.support.explorer import behind

# tokenURI() of 666 never ends and that of 667 is a megabyte; others have what was given to hang().
GALLERY = Path(__file__).with_name("Gallery.sol").read_text()
PLAIN = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
SCRIPT = PLAIN.replace(b"></svg>", b"><script>parent.ran = window.ran = 1</script></svg>")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
# A PNG that claims 5,000 x 5,000 pixels: its item's page shows it, a list does not.
WIDE = PNG[:16] + (5000).to_bytes(4) * 2 + PNG[24:]
IMAGE = re.compile(r'<img class="thumbnail" src="([^"]+)" alt="([^"]*)"([^>]*)>')


def uri_of(picture, name, kind="svg+xml", **fields):
    image = f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"
    document = json.dumps({"name": name, "image": image, **fields}).encode()
    return f"data:application/json;base64,{base64.b64encode(document).decode()}"


HOSTILE_NAME = '"><script>window.ran = 1</script>\u202e'
URIS = {
    1: uri_of(PLAIN, "Square", external_url="https://gallery.example/1"),
    2: uri_of(SCRIPT, HOSTILE_NAME, external_url="javascript:alert(1)"),
    3: uri_of(PNG, "", "png"),
    4: uri_of(b"%PDF-1.7", "No picture"),
    5: uri_of(WIDE, "Wide", "png"),
    6: "https://gallery.example/6.json",
    7: "data:application/json,[",
}
PICTURES = {1: PLAIN, 2: SCRIPT, 3: PNG}


@pytest.fixture(scope="module")
def gallery(explorer):
    token = many_functions.deploy(explorer, GALLERY, "Gallery")
    for id_, uri in (URIS | {666: "", 667: ""}).items():
        explorer.send(token, anvil.calldata("hang(uint256,string)", id_, uri), gas=5_000_000)
    return token


@pytest.fixture(scope="module")
def many_items(explorer):
    token = many_functions.deploy(explorer, GALLERY, "Gallery")
    uri = "https://gallery.example/{id}.json"
    explorer.send(token, anvil.calldata("fill(uint256,uint256,string)", 1000, 30, uri))
    return token


def rows_of(html):
    """Entries of a gallery by the id of their item."""
    rows = html.partition('class="gallery"')[2].partition("</ul>")[0].split("<li ")[1:]
    return {re.findall(r"/nft/0x[0-9a-f]{40}/(\d+)", row)[0]: row for row in rows}


@pytest.mark.parametrize(("id_", "link"), [(1, "https://gallery.example/1"), (2, None), (3, None)])
def test_blockscouts_form_has_pictures_that_are_kept_on_the_chain(explorer, gallery, id_, link):
    """An <img> runs no script of an SVG."""
    shown = explorer.get(f"/api/v2/tokens/{gallery}/instances/{id_}")
    kind = "png" if id_ == 3 else "svg+xml"
    picture = f"data:image/{kind};base64,{base64.b64encode(PICTURES[id_]).decode()}"
    assert (shown["image_url"], shown["metadata"]["image"]) == (picture, picture)
    assert shown["external_app_url"] == link


def test_lists_show_pictures_of_data_uris_and_nothing_of_hostile_ones(explorer, gallery):
    for path in (f"/token/{gallery}?tab=items", f"/address/{gallery}?tab=items"):  # its own owner
        html = explorer.get(path)
        assert "<script>window" not in html and "\u202e" not in html
        rows = rows_of(html)
        assert {str(id_) for id_ in (*URIS, 666, 667)} == rows.keys()
        for id_, row in rows.items():
            images = IMAGE.findall(row)
            assert len(images) == (int(id_) in PICTURES), id_
            assert row.count('<span class="thumbnail"></span>') == 1 - len(images)
            for src, _, rest in images:
                assert 'width="160" height="160" loading="lazy"' in rest
                answer = explorer.client.get(src)
                assert (answer.status_code, answer.data) == (200, PICTURES[int(id_)])
                policy = answer.headers["Content-Security-Policy"]
                assert policy == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert "immutable" in answer.headers["Cache-Control"]
        texts = [text for id_ in "123" for _, text, _ in IMAGE.findall(rows[id_])]
        assert texts[0] == "Square" and "&lt;script&gt;" in texts[1] and texts[2] == "Picture of"


def test_an_item_is_found_by_its_id(explorer, gallery):
    """Also as people write it; what is no id is refused, one that never moved is not found."""
    path = f"/nft/{gallery}"
    assert f'action="{path}"' in explorer.get(f"/token/{gallery}?tab=items")
    for text in ("666", "#666", " 0666 "):
        answer = explorer.client.get(path, query_string={"id": text})
        assert (answer.status_code, answer.headers["Location"]) == (303, f"{path}/666")
    assert explorer.client.get(path).headers["Location"] == f"/token/{gallery}?tab=items"
    for text, status in (("x", 400), ("1" * 79, 400), ("-1", 400), ("5", 200), ("0", 404)):
        answer = explorer.client.get(path, query_string={"id": text}, follow_redirects=True)
        assert answer.status_code == status, text
    assert explorer.client.get("/nft/0x12?id=1").status_code == 400


def test_a_picture_that_is_not_kept_is_that_of_its_item(explorer, gallery):
    """As after a restart, or where another instance has shown the list."""
    path = f"{gallery}/1"
    answer = explorer.client.get(f"/nft/pictures/{'0' * 64}/{path}")
    assert answer.status_code == 302 and answer.headers["Location"] == f"/nft/{path}/picture"
    assert answer.headers["Cache-Control"] == "no-store"
    assert explorer.client.get(answer.headers["Location"]).data == PLAIN
    for bad in (f"xyz/{path}", f"{'0' * 64}/0x12/1", f"{'0' * 64}/{gallery}/-1"):
        assert explorer.client.get(f"/nft/pictures/{bad}").status_code == 400
    assert explorer.client.get(f"/nft/pictures/{'0' * 64}/{path}?size=9").status_code == 400


def test_a_list_costs_the_node_one_batch(explorer, many_items):
    batches = []

    def note(calls, forward):
        batches.append([call["params"] for call in calls if call["method"] == "eth_call"])
        return faulty_node.Reply(body=forward(calls))

    with behind(explorer.settings, note) as (client, _):
        html = client.get(f"/token/{many_items}?tab=items&limit=50").text
        client.get(f"/token/{many_items}?tab=items&limit=100")
    assert f"for the first {MAX_THUMBNAILS} NFTs" in html
    assert 'class="thumbnail"' not in html  # no item of the page has a picture
    [calls] = filter(None, batches)
    assert len(calls) == MAX_THUMBNAILS
    assert sum(int(call["gas"], 16) for call, *_ in calls) < 4 * GAS


def test_without_the_node_lists_have_no_pictures_and_are_not_cached(explorer, gallery):
    client = indexing.client_over(explorer.url)
    answer = client.get(f"/token/{gallery}?tab=items")
    assert answer.status_code == 200 and not IMAGE.search(answer.text)
    assert len(rows_of(answer.text)) == len(URIS) + 2 and "ETag" not in answer.headers


def test_pictures_are_not_charged_as_pages(explorer, gallery):
    client = explorer.indexing.client(rate_limit_pages="2/minute")
    src, _, _ = IMAGE.findall(client.get(f"/token/{gallery}?tab=items").text)[0]
    assert [client.get(src).status_code for _ in range(5)] == [200] * 5
    assert client.get("/blocks").status_code == 200
    # One that is not kept leads to where it is charged as a page.
    assert client.get(f"/nft/{gallery}/1/picture").status_code == 429


def test_a_list_has_few_documents_of_others_fetched(explorer, many_items, monkeypatch):
    """Of a server that does not answer."""
    requested, fetched, is_over = [], [], threading.Event()
    of = media_cache.ItemMedia.of

    def get(_, url, *__):
        fetched.append(url)
        is_over.wait(WAIT_S)
        raise NotFetched("no answer")

    def spy(media, uri, token_id):
        requested.append(uri)
        return of(media, uri, token_id)

    monkeypatch.setattr(media_cache.ItemMedia, "of", spy)
    monkeypatch.setattr(HttpClient, "get", get)
    client = explorer.indexing.client(of_extensions={MediaSettings: MediaSettings("on")})
    with serving.cleared(is_over):
        answer = client.get(f"/token/{many_items}?tab=items")
        assert len(requested) == MAX_PENDING and len(fetched) <= MAX_PENDING
        assert "still loading" in answer.text and "ETag" not in answer.headers
    serving.wait_until(lambda: len(fetched) == MAX_PENDING)  # none is left for the real fetcher


def test_a_list_is_shown_without_pictures_that_take_long(explorer, gallery, monkeypatch):
    monkeypatch.setattr("scan.extensions.items.queries.THUMBNAILS_S", -1)
    answer = explorer.indexing.client().get(f"/token/{gallery}?tab=items")
    assert "still loading" in answer.text and not IMAGE.search(answer.text)
    assert len(rows_of(answer.text)) == len(URIS) + 2 and "ETag" not in answer.headers


def test_large_pictures_are_not_in_lists():
    picture = item_metadata.Picture("image/svg+xml", PLAIN.ljust(media_cache.MAX_THUMBNAIL_BYTES))
    assert media_cache.ItemMedia(None).thumbnail(media_cache.Media(picture=picture)).digest
    picture = item_metadata.Picture("image/svg+xml", picture.content + b" ")
    assert media_cache.ItemMedia(None).thumbnail(media_cache.Media(picture=picture)).digest is None


@pytest.mark.thorough
def test_pictures_load_and_run_nothing(page, explorer_url, gallery):
    loaded = "[...document.querySelectorAll('img.thumbnail')].every(i => i.complete)"
    for kind in ("token", "address"):
        page.open(f"{explorer_url}/{kind}/{gallery}?tab=items")
        page.evaluate("document.querySelector('.gallery li:last-child').scrollIntoView()")
        page.wait(loaded)
        assert page.evaluate("document.querySelector('img[alt=Square]').naturalWidth") == 9
        assert page.evaluate("'ran' in window") is False
    assert page.errors == []
