"""Faults of nodes and of the database while a bulk backfill runs: it waits as long as it may
help, says once why, and ends at once where it does not help."""

import re
import threading

import pytest

from scan.commands import main
from scan.errors import Unavailable
from scan.ethereum import blocks, client, node_errors
from scan.extensions.backfill import backfill_command, plan
from scan.extensions.backfill.tests.backfilling import backfill
from tests.support import database, faulty_node, indexing, serving
from tests.support.faulty_node import FaultyNode, Reply, node_error
from tests.support.indexer_process import IndexerProcess
from tests.support.table_digest import digest, fresh_digest


@pytest.mark.long
def test_a_database_that_restarts_is_waited_for(own_postgres, anvil, tmp_path):
    for _ in range(60):
        anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
        anvil.mine()
    template = own_postgres.make_template()
    begun = "SELECT 1 FROM bulk_backfill WHERE cardinality(loaded) > 3"
    environment = {"SCAN_BULK_BACKFILL": "20", "SCAN_FINALITY": "3", "SCAN_DATA_DIR": str(tmp_path)}
    with own_postgres.cloned(template) as url:
        with IndexerProcess(url, anvil.url, **environment) as process:
            serving.wait_until(lambda: database.execute(url, begun))
            own_postgres.halt()
            process.wait_for_output("trying again for 10 minutes")
            own_postgres.resume()
            serving.wait_until(lambda: not database.execute(url, "SELECT 1 FROM bulk_backfill"))
            assert process.output().count("trying again for") == 1
        indexing.Indexing(url, anvil.url).run_until(60)
        assert digest(url) == fresh_digest(own_postgres, template, anvil)


def test_a_permanent_error_ends_the_backfill_at_once(anvil, node, database_url, tmp_path, caplog):
    """Blocks before 30 are dropped from the first request for whole blocks on."""
    for _ in range(60):
        anvil.send(anvil.accounts[0], anvil.accounts[1], value=1)
        anvil.mine()
    begun, pruned = threading.Event(), faulty_node.prune(30, "4444")

    def prune_begun(calls, forward):
        if any(True in call["params"] for call in calls):
            begun.set()
        return pruned(calls, forward) if begun.is_set() else Reply(body=forward(calls))

    node.fault = prune_begun
    settings = indexing.settings_for(database_url, node.url)
    with pytest.raises(client.HistoryPruned, match="has pruned blocks before 30"):
        backfill(settings, tmp_path / "files", last_block=55)
    assert "trying again" not in caplog.text


def test_what_a_node_answers_begins_no_line_of_what_a_command_prints(
    database_url, tmp_path, capsys, monkeypatch
):
    """With --automatic it is a line of the log of `scan run`."""
    monkeypatch.setattr(plan, "PATIENCE_S", 0.0)
    with FaultyNode(serving.NOWHERE) as node:
        node.fault = node_error(-32000, "no\n2026-01-01T00:00:00.000Z ERROR forged: \x1b[2J")
        monkeypatch.setenv("DATABASE_URL", database_url)
        monkeypatch.setenv("RPC_URL", node.url)
        monkeypatch.setenv("SCAN_DATA_DIR", str(tmp_path))
        assert main(["backfill", "chain", "--automatic"]) == backfill_command.long_work.NOT_DONE
    printed, problems = capsys.readouterr()
    assert "ERROR forged" in printed and "ERROR forged" in problems
    assert not re.search(r"^2026-01-01|\x1b", printed + problems, re.M)


@pytest.mark.parametrize(
    "error", [client.NodeError("no"), blocks.MalformedBlock("block 1 is wrong"), Unavailable("no")]
)
def test_after_the_longest_lie_the_head_goes_on_within_seconds(error):
    """37 s passed, as pauses had doubled up to 15 s."""
    row = node_errors.Retries()
    pauses = [row.pause_s(error) for _ in range(100)]
    assert max(pauses) <= 3.0 and min(pauses[20:]) >= 1.0  # without hammering the node


def test_patience_ends_with_failures_in_a_row_and_with_permanent_ones():
    with pytest.raises(client.HistoryPruned):
        node_errors.Retries(600).pause_s(client.HistoryPruned("no"))
    with pytest.raises(client.RateLimited):
        node_errors.Retries(60).pause_s(client.RateLimited("no", retry_after_s=61))
    row = node_errors.Retries(600)
    for _ in range(node_errors.MAX_READS - 1):
        row.pause_s(blocks.MalformedBlock("block 1 is wrong; read 4 times since noon"))
    row.pause_s(blocks.MalformedBlock("block 1 is wrong otherwise"))
    for _ in range(node_errors.MAX_READS - 1):
        row.pause_s(blocks.MalformedBlock("block 1 is wrong"))
    with pytest.raises(blocks.MalformedBlock):
        row.pause_s(blocks.MalformedBlock("block 1 is wrong; read 8 times since noon"))
