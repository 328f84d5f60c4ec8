"""What a browser loads for a page that it has not seen, where no proxy compresses it."""

import gzip
import re

from scan.pages.site import FOLDER, url_of

HEADERS_BYTES = 300  # of each response, as Chromium counts them
STATIC = re.compile(r'(?:src|href)="(/static/[^"]+)"')
AS_BROWSERS = {"Accept-Encoding": "gzip, deflate, br, zstd"}
TABS = ("transactions", "history", "transfers", "internal", "trades", "tokens", "items", "chart")


def test_a_first_visit_takes_at_most_80_kb(client, scenario):
    """Lists with rows for a whole page among them: of the address with the most, and of a token."""
    truth = scenario.truth
    busy = max(truth.addresses, key=lambda address: truth.addresses[address]["txCount"])
    token = max(truth.tokens, key=lambda token: token["holderCount"])["address"]
    paths = ["/", "/blocks", "/txs", "/token-transfers", "/internal-transfers", "/accounts"]
    paths += ["/tokens", "/contracts", "/verified-contracts", "/dex", "/trades", "/charts", "/gas"]
    paths += [f"/address/{busy}?tab={tab}" for tab in TABS]
    paths += [f"/address/{token}", f"/token/{token}", f"/token/{token}?tab=holders", "/watchlist"]
    weights = {path: _weight(client, path) for path in paths}
    assert len(truth.transactions_of(busy)) > 25
    most_bytes = 80_000
    assert {path: weight for path, weight in weights.items() if weight > most_bytes} == {}


def _weight(client, path):
    html = client.get(path)
    assert html.status_code == 200, path
    files = {client.get(file, headers=AS_BROWSERS) for file in set(STATIC.findall(html.text))}
    return sum(len(response.data) + HEADERS_BYTES for response in (html, *files))


def test_styles_and_scripts_are_compressed_for_whom_takes_that(client):
    plain = (FOLDER / "scan.css").read_bytes()
    for accepted, encoding in (
        ("gzip, deflate, br", "gzip"),
        ("identity", None),
        ("gzip;q=0, *", None),
        ("\xff;;q=x,gzip", "gzip"),
        ("gzip," * 200, "gzip"),
        ("gzip," * 201, None),  # parsing 64 kB of it would hold the worker's loop
        (None, None),
    ):
        headers = {"Accept-Encoding": accepted} if accepted else {}
        answer = client.get(url_of("scan.css"), headers=headers)
        assert answer.headers.get("Content-Encoding") == encoding, accepted
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert (gzip.decompress(answer.data) if encoding else answer.data) == plain
    assert len(client.get(url_of("scan.css"), headers=AS_BROWSERS).data) < len(plain) / 3
