"""How PostgreSQL finds the blocks of a day's producers: by an index, whatever else there is."""

import pytest

from tests.support.database import execute
from tests.support.lists import Listed, by_links

pytestmark = pytest.mark.thorough


def test_a_page_reads_the_blocks_of_its_days_by_an_index(own_seeded_service):
    """Of more days than one page reads."""
    service, url = own_seeded_service, own_seeded_service.url
    [(blocks,)] = execute(url, "SELECT count(*) FROM blocks")
    execute(url, "UPDATE daily_stats SET first_block = 600")
    execute(
        url,
        "INSERT INTO daily_stats SELECT (json_populate_record(s, json_build_object("
        "'day', s.day - n, 'first_block', 600 - 15 * n, 'last_block', 614 - 15 * n))).*"
        " FROM daily_stats s, generate_series(1, 40) n",
    )
    for path in ("?limit=1", "?limit=100", "?miner=0x" + 40 * "0"):
        [plan], _ = service.plans(f"/api/v1/stats/earnings{path}")
        plan.require_indexes(small={"chain", "daily_stats", "credits", "retention"})
        assert plan.buffers < blocks
    listed = Listed("/stats/earnings", "earnings", is_counted=False)
    every = by_links(service.client, listed, 100)
    assert by_links(service.client, listed, 7) == every
    assert sum(row["blocks"] for row in every) == blocks
    assert every[-1]["date"] < every[0]["date"]
