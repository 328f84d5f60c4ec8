"""What a browser loads for a page that it has not seen, where no proxy compresses it."""

import re

import pytest
from flask.testing import FlaskClient

from scan.brand import UNBRANDED
from scan.pages.static_files import FOLDER, files
from tests.conftest import Played

MOST_BYTES = 80 * 1024
HEADERS_BYTES = 300  # of each response, as Chromium counts them
STATIC = re.compile(r'(?:src|href)="(/static/[^"]+)"')
TABS = ("transactions", "history", "transfers", "internal", "trades", "tokens", "items", "chart")


def test_a_first_visit_takes_at_most_80_kib(client: FlaskClient, scenario: Played) -> None:
    """Lists with rows for a whole page among them: of the address with the most, and of a token."""
    truth = scenario.truth
    busy = max(truth.addresses, key=lambda address: truth.addresses[address]["txCount"])
    token = max(truth.tokens, key=lambda token: token["holderCount"])["address"]
    paths = ["/", "/blocks", "/txs", "/token-transfers", "/internal-transfers", "/accounts"]
    paths += ["/tokens", "/contracts", "/dex", "/charts", "/gas", "/watchlist"]
    paths += [f"/address/{busy}?tab={tab}" for tab in TABS]
    paths += [f"/address/{token}", f"/token/{token}", f"/token/{token}?tab=holders"]
    weights = {path: _weight(client, path) for path in paths}
    assert len(truth.transactions_of(busy)) > 25
    assert {path: weight for path, weight in weights.items() if weight > MOST_BYTES} == {}


def _weight(client: FlaskClient, path: str) -> int:
    html = client.get(path)
    assert html.status_code == 200, path
    loaded = [html, *(client.get(file) for file in set(STATIC.findall(html.text)))]
    return sum(len(response.data) + HEADERS_BYTES for response in loaded)


@pytest.mark.check
def test_styles_and_scripts_lose_only_comments_and_spaces() -> None:
    for name, file in files(UNBRANDED).items():
        source, served = (FOLDER / name).read_text(), file.content.decode()
        lines = [line for line in map(str.strip, source.splitlines()) if line]
        if name.endswith(".js"):
            assert all(line.count("`") % 2 == 0 for line in lines), "a string of several lines"
            assert served.splitlines() == [line for line in lines if not line.startswith("//")]
        elif name.endswith(".css"):
            assert re.findall('"[^"]*"', served) == re.findall('"[^"]*"', source)
            uncommented = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
            assert "".join(served.split()) == "".join(uncommented.split()).replace(";}", "}")
            assert "/*" not in served and ": " not in re.sub('"[^"]*"', '""', served)
        else:
            assert served == source
