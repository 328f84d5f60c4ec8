"""How PostgreSQL serves events of several contracts where there are very many logs."""

import pytest
from eth_utils import keccak

from tests.support.database import execute
from tests.support.explain import explained

BUSY, SELDOM = "Moved(address indexed from, address indexed to)", "Seldom(address indexed from)"
TOPICS = [keccak(text=text) for text in ("Moved(address,address)", "Seldom(address)")]
TOPIC_IDS = 1, 77
# Each log becomes so many, in the same blocks.
GROWN = """
    CREATE TABLE copied AS SELECT * FROM logs;
    TRUNCATE logs;
    INSERT INTO logs SELECT c.ordinal * {times} + n, c.block_number, c.log_index * {times} + n,
        c.transaction_index, c.topic_id, c.address, c.topics, c.data
    FROM copied c CROSS JOIN generate_series(0, {times} - 1) AS n ORDER BY 1;
    DROP TABLE copied;
    UPDATE blocks SET log_count = log_count * {times}, logs_before = logs_before * {times};
    UPDATE addresses SET log_count = log_count * {times} WHERE log_count > 0;
    UPDATE event_topics SET log_count = log_count * {times};
    DELETE FROM list_checkpoints WHERE list IN ('logs_by_address', 'logs_by_topic0');
    INSERT INTO list_checkpoints (list, key, place, ordinal, block_number)
    SELECT list, key, place, ordinal, block_number FROM (
        SELECT 'logs_by_address' AS list, l.address AS key, l.ordinal, l.block_number,
            row_number() OVER (PARTITION BY l.address ORDER BY l.ordinal) - 1 AS place
        FROM logs l
        UNION ALL
        SELECT 'logs_by_topic0', e.topic0, l.ordinal, l.block_number,
            row_number() OVER (PARTITION BY l.topic_id ORDER BY l.ordinal) - 1
        FROM logs l JOIN event_topics e USING (topic_id)
    ) AS placed
    WHERE place > 0 AND place %% 128 = 0;
    ANALYZE;
"""
# Contracts with the most and with the fewest logs, and some with the event of few.
EMITTERS = {
    "busy": "FROM addresses WHERE log_count > 0 ORDER BY log_count DESC",
    "quiet": "FROM addresses WHERE log_count > 0 ORDER BY log_count",
    "seldom": f"FROM logs WHERE topic_id = {TOPIC_IDS[1]} GROUP BY 1 ORDER BY 1",
}


@pytest.fixture(scope="module")
def many(postgres, seeded_template):
    """A service over 250,000 logs."""
    with postgres.cloned(seeded_template) as url:
        for topic, number in zip(TOPICS, TOPIC_IDS, strict=True):
            execute(url, "UPDATE event_topics SET topic0 = %s WHERE topic_id = %s", topic, number)
        execute(url, GROWN.format(times=4))
        execute(url, "VACUUM ANALYZE")
        with explained(url) as service:
            yield service


def pages_of(many, emitters, signature, direction, most=3, **args):
    """The plans of the newest or oldest pages, with their answers."""
    statement = f"SELECT '0x' || encode(address, 'hex') {EMITTERS[emitters]} LIMIT 3"
    addresses = [address for (address,) in execute(many.url, statement)]
    filters = {"signature": signature, "address": addresses, "args": args}
    body, following = {"entity": "events", "filter": filters, "orderBy": direction}, {}
    while following is not None and most:
        plans, answer = many.plans("/api/v1/query", {**body, **following})
        [plan] = [p for p in plans if p.statement == "queries/logs_list_by_addresses"]
        yield plan, answer
        following, most = answer["next"] and {"cursor": answer["next"]}, most - 1


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("signature", [BUSY, SELDOM])
@pytest.mark.parametrize("emitters", EMITTERS)
def test_pages_of_several_contracts_are_read_from_the_shortest_lists(
    many, emitters, signature, direction
):
    # Of a page that reads nothing but its rows, and of one that compares others with a filter.
    few_buffers = 1_000
    for plan, _ in pages_of(many, emitters, signature, direction):
        plan.require_indexes(3 * 25)
        assert plan.buffers <= few_buffers


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_a_page_compares_a_bounded_number_of_logs_and_goes_on(many, direction, monkeypatch):
    nobody = "0x" + 40 * "1"
    most = 3 * 128 * 100
    monkeypatch.setattr("scan.api.query.MAX_ENTRIES", most)
    args = {"from": nobody}
    pages = [*pages_of(many, "busy", BUSY, direction, most=5, **args)]
    assert len(pages) > 1
    for plan, answer in pages:
        plan.require_indexes(3 * 25)
        assert plan.buffers <= 2 * most
        assert answer["count"] == 0
