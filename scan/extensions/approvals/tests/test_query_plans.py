"""How PostgreSQL finds approvals: by an index of their owners, whatever else there is."""

import pytest

from scan.extensions.approvals.events import APPROVAL_TOPICS, ApprovalBounds
from tests.support import database, explain
from tests.support.indexing import sources

pytestmark = pytest.mark.thorough


def test_approvals_are_read_from_an_index_of_their_owners(postgres, seeded_template, monkeypatch):
    with postgres.cloned(seeded_template) as url:
        insert = "INSERT INTO event_topics (topic0) VALUES (%s)"
        database.execute(url, insert, APPROVAL_TOPICS[0])
        database.execute(url, "UPDATE logs SET topic_id = -1 WHERE topic_id = 2")
        database.execute(url, "VACUUM ANALYZE logs")
        [(owner, count), *_] = database.execute(
            url,
            "SELECT encode(substr(topics, 13, 20), 'hex'), count(DISTINCT (address, topics))"
            " FROM logs WHERE topic_id < 0 GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
        )
        with explain.explained(url) as service:
            plans, page = service.plans(f"/api/v1/addresses/0x{owner}/approvals?limit=100")
            sources(service.client).get(ApprovalBounds).events = 2
            [(sender,)] = database.execute(
                url,
                "SELECT encode(t.from_address, 'hex') FROM transactions t"
                " GROUP BY t.from_address ORDER BY count(*) DESC LIMIT 1",
            )
            database.execute(
                url,
                "UPDATE logs SET topics = decode(%s, 'hex') || substr(topics, 33)"
                " WHERE topic_id < 0 AND ordinal %% 7 = 0",
                f"{sender:0>64}",
            )
            database.execute(url, "VACUUM ANALYZE logs")
            more, _ = service.plans(f"/api/v1/addresses/0x{sender}/approvals?limit=100")
        own = next(plan for plan in more if plan.statement == "queries/approvals_list_own_events")
        # Each transaction of the owner apart, not all events that name it.
        loops = [n["Actual Loops"] for n in own.nodes if n.get("Index") == "logs_of_approvals"]
        assert max(loops) > 50
        assert page["total"] == count > 10
        for plan in [*plans, *more]:
            plan.require_indexes()
        events = next(plan for plan in plans if plan.statement == "queries/approvals_list_events")
        for plan in (events, own):
            assert "logs_of_approvals" in {node.get("Index") for node in plan.nodes}
