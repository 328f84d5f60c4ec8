"""User operations in bulk."""

import pytest

from app import create_app
from scan.extensions.backfill import derivation
from scan.extensions.backfill.tests.backfilling import backfill, follow
from scan.extensions.user_operations.tests.operations_chain import chain, require_rows
from tests.support import auditing, database, entry_points, indexing, table_digest

__all__ = ["chain"]


@pytest.mark.long
def test_bulk_and_forks_have_the_same_operations(chain, postgres, template, tmp_path, monkeypatch):
    monkeypatch.setattr(derivation, "CHECKPOINT_EVERY", database.SHORT_CHECKPOINTS)
    node, head = chain.node, chain.node.head()
    with postgres.cloned(template) as url:
        database.use_short_checkpoints(url)
        settings = indexing.settings_for(url, node.url)
        assert backfill(settings, tmp_path / "files", last_block=head - 1)
        follow(settings, head)
        require_rows(settings, chain.operations)
        client = create_app(settings).test_client()
        cursor = client.get("/api/v1/user-operations?limit=1").json["next"]
        node.reorganise(2)
        node.mine()
        follow(settings, head + 1)
        operations = entry_points.read_operations(node)
        assert len(operations) < 5 * len(entry_points.ADDRESSES)
        require_rows(settings, operations)
        with postgres.cloned(template) as fresh:
            database.use_short_checkpoints(fresh)
            indexing.Indexing(fresh, node.url).run_until(head + 1)
            assert table_digest.digest(url) == table_digest.digest(fresh)
        auditing.spoil(settings, "DELETE FROM list_counts WHERE key = ''")
        auditing.spoil(settings, "UPDATE list_counts SET count = count + 1")
        assert auditing.run(settings) == 1
        auditing.run(settings, repair=True)
        require_rows(settings, operations)
        refused = client.get(f"/api/v1/user-operations?limit=100&cursor={cursor}")
        assert (refused.status_code, refused.json["code"]) == (409, "reorganised")
        path = f"/api/v1/user-operations?limit=100&cursor={refused.json['cursor']}"
        assert client.get(path).json["userOperations"] == operations[::-1]
        # An entry point gives each operation another hash; what is at its address need not.
        database.execute(
            url,
            "INSERT INTO user_operations (SELECT (jsonb_populate_record(u, jsonb_build_object("
            "'ordinal', u.ordinal + 100, 'log_index', 99))).* FROM user_operations u"
            " ORDER BY ordinal LIMIT 1)",
        )
        twice = client.get(f"/api/v1/user-operations/{operations[0]['hash']}").json
        expected = (99, [operations[0]["logIndex"]])
        assert (twice["logIndex"], [o["logIndex"] for o in twice["others"]]) == expected
