"""What every page says of the newest block, and that it is old."""

import pytest
from flask.testing import FlaskClient

from scan.http import indexed_block
from tests.conftest import Played

PATHS = ("/", "/txs", "/tokens", "/verify", "/keys", "/block/0", "/charts")


@pytest.mark.parametrize("path", PATHS)
def test_every_page_says_of_when_its_newest_block_is(
    client: FlaskClient, scenario: Played, path: str
) -> None:
    newest = scenario.truth.blocks[0]
    shown = f'<a href="/block/{newest["number"]}">{newest["number"]}</a>'
    text = client.get(path).text
    assert f'Newest block {shown}, <time datetime="{newest["timestamp"]}"' in text
    assert f"The newest block here, {shown}, is of" in text


def test_a_cached_page_says_so_once_its_newest_block_is_old(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No new block comes, so that the version of the index stays the same."""
    monkeypatch.setattr(indexed_block, "STALE_S", 1e12)
    for _ in range(2):
        fresh = client.get("/tokens")
        assert 'id="stale"' not in fresh.text
    monkeypatch.setattr(indexed_block, "STALE_S", 120.0)
    old = client.get("/tokens", headers={"If-None-Match": fresh.headers["ETag"]})
    assert old.status_code == 200 and 'id="stale"' in old.text
