"""/readyz where the indexer hangs: the node knows better how far the index is behind."""

from app import create_app
from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing

LONG_AGO = "UPDATE indexer_status SET checked_at = now() - interval '20 seconds'"


def test_the_lag_is_the_nodes_while_the_indexer_reports_nothing(database_url: str) -> None:
    with Anvil() as node:
        node.mine()
        with Indexing(database_url, node.url, until=1) as indexing:
            pass
        client = create_app(indexing.settings).test_client()
        for _ in range(3):
            node.mine()
        execute(database_url, LONG_AGO)
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json["problem"]) == (200, None)
        assert (ready.json["indexedBlock"], ready.json["headBlock"]) == (1, 4)
        assert ready.json["lagBlocks"] == 3
        block = client.get("/api/v1/blocks/1").json
        assert ready.json["newestBlockAt"] == block["timestamp"]
        node.stop()
        client = create_app(indexing.settings).test_client()
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json["problem"]) == (200, "the node cannot be reached")


FULL = """
CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full';
END $$;
CREATE TRIGGER fill BEFORE UPDATE ON indexer_status FOR EACH ROW EXECUTE FUNCTION fill();
"""


def test_a_full_disk_is_a_problem_although_the_indexer_cannot_report_it(
    database_url: str, anvil: Anvil
) -> None:
    """The server's answer is what a full disk gives; to fill one for real needs a mount."""
    with Indexing(database_url, anvil.url, until=0) as indexing:
        pass
    execute(database_url, LONG_AGO)
    ready = create_app(indexing.settings).test_client().get("/readyz")
    assert ready.json["problem"] is None
    execute(database_url, FULL)
    ready = create_app(indexing.settings).test_client().get("/readyz")
    assert ready.status_code == 200
    assert ready.json["problem"].startswith("The database's disk is full")
