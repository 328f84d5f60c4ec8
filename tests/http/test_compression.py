"""Responses in gzip: which, for whom, and where they are compressed."""

import gzip
import re
from itertools import product

import pytest
import requests
from werkzeug.test import EnvironBuilder

from tests.support import WAIT_S
from tests.support.serving import nginx

ACCEPTED = {"Accept-Encoding": "gzip, deflate, br, zstd"}
PATHS = ("/", "/txs", "/docs/", "/api/v1/openapi.json", "/api/v1/transactions", "/llms.txt")


@pytest.mark.parametrize("path", [*PATHS, "/txs?_=cached-for-nobody", "/no/such/page"])
def test_long_texts_are_compressed_for_whom_takes_that(client, path):
    """The first two responses may be made, the others come from the cache."""
    headers = {"Accept": "text/html"}
    for _ in range(2):
        plain = client.get(path, headers=headers)
        short = client.get(path, headers={**headers, **ACCEPTED})
        assert "Content-Encoding" not in plain.headers
        assert short.headers["Content-Encoding"] == "gzip"
        assert short.headers["Content-Length"] == str(len(short.data))
        assert len(short.data) < len(plain.data) / 2
        assert gzip.decompress(short.data)[:15] == plain.data[:15]
        for response in (plain, short):
            assert response.headers["Vary"].split(", ")[-1] == "Accept-Encoding"


def test_both_forms_have_the_same_content_and_what_is_short_or_a_file_has_one(client):
    for path in ("/blocks", "/api/v1/blocks", "/api/v1/openapi.json"):
        plain, short = client.get(path), client.get(path, headers=ACCEPTED)
        assert gzip.decompress(short.data) == plain.data
    for path in ("/api/v1/stats", "/api/v1/blocks?format=csv", "/static/none.css"):
        assert "Content-Encoding" not in client.get(path, headers=ACCEPTED).headers


def test_each_form_has_its_own_tag_and_both_are_still_the_newest(client):
    client.get("/blocks")  # after which it is known how old the newest block is
    plain, short = client.get("/txs"), client.get("/txs", headers=ACCEPTED)
    tags = {response.headers["ETag"] for response in (plain, short)}
    assert len(tags) == 2
    for tag in tags:
        for headers in ({}, ACCEPTED):
            response = client.get("/txs", headers={**headers, "If-None-Match": tag})
            assert (response.status_code, response.data) == (304, b"")


def test_the_loop_compresses_nothing(indexed):
    """A cached response without its compressed form is completed in a thread, and then served."""
    client, path = indexed.client(log_format="text"), "/token-transfers"  # lines wait for a thread
    for _ in range(2):  # before the first one no version is known
        assert client.get(path).status_code == 200
    step = client.application.wsgi_app.step
    builder = EnvironBuilder(path=path, headers=ACCEPTED)
    assert step(builder.get_environ(), lambda *_: None) is None
    assert client.get(path, headers=ACCEPTED).headers["Content-Encoding"] == "gzip"
    [body] = step(builder.get_environ(), lambda *_: None)
    assert body[:2] == b"\x1f\x8b"


def test_nginx_passes_on_what_is_compressed_and_adds_no_second_vary(over_http, tmp_path):
    files = re.findall(
        r'(?:href|src)="(/static/[^"]+)"', requests.get(over_http, timeout=WAIT_S).text
    )
    assert len(files) > 2
    with nginx(tmp_path, [over_http] * 3) as address:
        for path, headers in product((*PATHS, *files), (ACCEPTED, {"Accept-Encoding": "identity"})):
            response = requests.get(f"{address}{path}", headers=headers, timeout=WAIT_S)
            assert len(response.raw.headers.getlist("Vary")) <= 1, path
        for path in PATHS:
            response = requests.get(f"{address}{path}", headers=ACCEPTED, timeout=WAIT_S)
            assert response.headers["Content-Encoding"] == "gzip", path
            assert response.headers["Vary"].count("Accept-Encoding") == 1, path
            assert response.text.lstrip()[:1] in "<{#", path
