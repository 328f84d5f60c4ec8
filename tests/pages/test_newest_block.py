"""What every page says of the newest block, and that it is old."""

from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient

from scan.http import indexed_block
from scan.http.indexed_block import Position
from tests.conftest import Played


def position(age_s: float, block_s: float | None) -> Position:
    return Position(1, 9, datetime.now(UTC) - timedelta(seconds=age_s), block_s)


@pytest.mark.check
def test_a_block_is_old_by_what_blocks_are_apart() -> None:
    assert [position(age_s, 12.0).is_stale() for age_s in (90, 130)] == [False, True]
    assert [position(age_s, 0.5).is_stale() for age_s in (25, 35)] == [False, True]
    assert [position(age_s, 0.0).is_stale() for age_s in (25, 35)] == [False, True]
    assert [position(age_s, 600.0).is_stale() for age_s in (5_000, 7_000)] == [False, True]
    assert [position(age_s, None).is_stale() for age_s in (90, 130)] == [False, True]
    assert not Position(-1, -1).is_stale()


def test_a_page_says_of_when_its_newest_block_is(client: FlaskClient, scenario: Played) -> None:
    """That every page does so test_every_page.py looks for."""
    newest = scenario.truth.blocks[0]
    shown = f'<a href="/block/{newest["number"]}">{newest["number"]}</a>'
    text = client.get("/block/0").text
    assert f'Newest block {shown}, <time datetime="{newest["timestamp"]}"' in text
    assert f"The newest indexed block, {shown}, is from" in text


def test_a_cached_page_says_so_once_its_newest_block_is_old(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No new block comes, so that the version of the index stays the same."""
    monkeypatch.setattr(indexed_block, "LEAST_STALE_S", 1e12)
    for _ in range(2):
        fresh = client.get("/tokens")
        assert 'id="stale"' not in fresh.text
    monkeypatch.setattr(indexed_block, "LEAST_STALE_S", 30.0)
    old = client.get("/tokens", headers={"If-None-Match": fresh.headers["ETag"]})
    assert old.status_code == 200 and 'id="stale"' in old.text
