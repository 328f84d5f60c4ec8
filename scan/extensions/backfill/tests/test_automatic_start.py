"""The indexer fills an empty index in bulk by itself, whatever kills it meanwhile."""

import sys

import pytest
import requests

from scan.extensions.backfill.plan import CannotBackfill
from scan.extensions.backfill.resources import Estimate, require_room
from scan.extensions.backfill.tests.backfilling import follow
from tests.support import WAIT_S, forked_python, indexing, serving, table_digest
from tests.support.database import execute, insert
from tests.support.indexer_process import ROOT, IndexerProcess

FAR = {"SCAN_BULK_BACKFILL": "20", "SCAN_FINALITY": "3"}


def hash_of(anvil, number):
    return str(anvil.call("eth_getBlockByNumber", hex(number), False)["hash"])


def rows(database_url):
    return execute(database_url, "SELECT stage, cardinality(loaded) FROM bulk_backfill")


@pytest.mark.long
def test_an_empty_index_is_filled_in_bulk_whatever_kills_the_indexer(
    postgres, template, database_url, scenario, tmp_path
):
    anvil, head = scenario.anvil, scenario.anvil.head()
    moments = [
        lambda: any(tmp_path.glob("bulk/**/blocks/0*")),
        lambda: rows(database_url)[0][0] == "load",
        lambda: any(tmp_path.glob("bulk/**/derived.duckdb")),
        *(lambda least=least: rows(database_url)[0][1] > least for least in (0, 3, 10)),
    ]
    with (
        serving.gunicorn(database_url, SCAN_RATE_LIMIT_ANONYMOUS="100000/minute") as api,
        IndexerProcess(database_url, anvil.url, SCAN_DATA_DIR=str(tmp_path), **FAR) as process,
    ):
        for moment in moments:
            serving.wait_until(moment)
            state = requests.get(f"{api}/readyz", timeout=WAIT_S)
            assert (state.status_code, state.json()["indexedBlock"]) == (200, None)
            assert state.json()["backfill"]["lastBlock"] == head - 3
            command = [sys.executable, "-m", "scan", "status", f"--url={api}"]
            assert "bulk backfill: stage" in forked_python.run(command, cwd=ROOT).stdout
            for path in ("blocks", "stats", "transactions"):
                answer = requests.get(f"{api}/api/v1/{path}", timeout=WAIT_S)
                assert answer.status_code in (200, 503)
            process.kill()
            assert execute(database_url, "SELECT count(*) FROM blocks") == [(0,)]
            process.start()
        process.wait_for(head, hash_of(anvil, head))
        assert "Traceback" not in process.output()
    assert rows(database_url) == []
    follow(indexing.settings_for(database_url, anvil.url), head)
    assert table_digest.digest(database_url) == table_digest.fresh_digest(postgres, template, anvil)


def test_without_the_extra_command_and_log_say_how_to_install_it(database_url, anvil, tmp_path):
    without_extra = (
        "import sys\nsys.modules['duckdb'] = None\n"
        "from scan.commands import main\nsys.exit(main(sys.argv[1:]))"
    )
    command = (sys.executable, "-c", without_extra)
    environment = {"DATABASE_URL": database_url, "RPC_URL": "http://127.0.0.1:1"}
    done = forked_python.run([*command, "backfill", "chain"], cwd=ROOT, env=environment)
    assert (done.returncode, "[bulk]'" in done.stderr) == (1, True), done.stderr
    head = 40
    anvil.mine(head)
    process = IndexerProcess(database_url, anvil.url, SCAN_DATA_DIR=str(tmp_path), **FAR)
    process.command = (*command, "index")
    with process:
        process.wait_for(head, hash_of(anvil, head))
        lines = [line for line in process.output().splitlines() if "[bulk]'" in line]
    assert len(lines) == 1, lines


@pytest.mark.long
@pytest.mark.parametrize(
    ("bulk", "webhooks"),
    [
        ("off", []),
        ("1000000", []),
        ("auto", []),
        ("20", [{"id": 1, "url": "https://example.com", "event_types": "{tx}"}]),
    ],
)
def test_an_index_is_filled_block_after_block_where_it_is_not_far_behind_or_has_webhooks(
    database_url, scenario, tmp_path, bulk, webhooks
):
    anvil, head = scenario.anvil, scenario.anvil.head()
    for webhook in webhooks:
        insert(database_url, "webhooks", **webhook)
    environment = FAR | {"SCAN_BULK_BACKFILL": bulk, "SCAN_DATA_DIR": str(tmp_path)}
    with IndexerProcess(database_url, anvil.url, **environment) as process:
        process.wait_for(head, hash_of(anvil, head))
        assert ("there are active webhooks" in process.output()) is (webhooks != [])
    assert rows(database_url) == [] and not (tmp_path / "bulk").exists()


def test_too_small_a_disk_is_refused(database, tmp_path):
    require_room(database, tmp_path / "bulk" / "files", Estimate(10, 3000, 12_000, 1.0))
    for estimate in (Estimate(10, 10**18, 12_000, 1.0), Estimate(10, 3000, 10**18, 1.0)):
        with pytest.raises(CannotBackfill, match="a bulk backfill needs about"):
            require_room(database, tmp_path / "bulk" / "files", estimate)
