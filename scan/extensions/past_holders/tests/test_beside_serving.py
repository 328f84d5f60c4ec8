"""Lists of holders that are made beside serving, and what many of them cost others."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scan.database.errors import QueryTooSlow
from scan.extensions.past_holders import holder_files, queries
from scan.extensions.past_holders.tests.test_past_holders import by_holder, get, pages
from tests.support import WAIT_S
from tests.support.indexing import sources
from tests.support.serving import ROOT, wait_until

THEIRS = "198.51.100.7"


@pytest.fixture
def made(indexed, scenario):
    """A service that makes all lists beside serving, in chunks of few rows."""
    client = indexed.client(rate_limit_anonymous="100000/minute", rate_limit_pages="1000/minute")
    bounds = sources(client).get(holder_files.HolderFileBounds)
    bounds.at_once, bounds.chunk_rows = -1, 4
    return client


def makers():
    """How many make a list: one of a service at a time."""
    return sum(thread.name == "past-holders" for thread in threading.enumerate())


def open_files(client):
    """The sizes of this process's files without a name in the service's folder, by inode."""
    folder = client.application.extensions["scan"].settings.data_dir / "files"
    opened = (file for file in Path("/proc/self/fd").iterdir() if file.is_symlink())
    stats = [file.stat() for file in opened if file.readlink().is_relative_to(folder)]
    return {stat.st_ino: stat.st_size for stat in stats}


@pytest.fixture
def held(monkeypatch):
    """What is made waits for this event."""
    event, make = threading.Event(), holder_files.HolderFiles._make

    def wait_first(self, database, *args):
        assert event.wait(WAIT_S)
        return make(self, database, *args)

    monkeypatch.setattr(holder_files.HolderFiles, "_make", wait_first)
    yield event
    event.set()
    wait_until(lambda: makers() == 0)


def fetch(client, path, peer="127.0.0.1"):
    return client.get(f"/api/v1{path}", environ_base={"REMOTE_ADDR": peer}, buffered=True)


def path_of(scenario, key, number, more=""):
    return f"/tokens/{scenario.stage.contracts[key].address}/holders?block={number}{more}"


@pytest.mark.parametrize("key", ["dollar", "keepers", "forge"])
def test_the_same_request_returns_what_is_made(scenario, client, made, key):
    number = scenario.anvil.head() - 3
    for more in ("", "&format=ndjson", "&format=csv"):
        path = path_of(scenario, key, number, more)
        while (answer := fetch(made, path)).status_code == 202:
            assert answer.json["code"] == "preparing" and 0 <= answer.json["progress"] <= 1
            assert int(answer.headers["Retry-After"]) > 0
            wait_until(lambda: makers() == 0)
        assert (answer.status_code, answer.data) == (200, fetch(client, path).data)
    path = path_of(scenario, key, number)
    assert pages(made, path, 2) == pages(client, path, 2)
    for limit in (1, 3):
        for page in range(1, 6):
            of_page = f"{path}&limit={limit}&page={page}"
            assert fetch(made, of_page).json["holders"] == fetch(client, of_page).json["holders"]


def test_a_page_tells_how_far_it_is(scenario, made, held):
    number, address = scenario.anvil.head() - 3, scenario.stage.contracts["dollar"].address
    page = made.get(f"/token/{address}?tab=holders&block={number}")
    assert page.status_code == 202 and "0% is done" in page.text
    held.set()
    wait_until(lambda: makers() == 0)
    page = made.get(f"/token/{address}?tab=holders&block={number}")
    assert page.status_code == 200
    rows = get(made, path_of(scenario, "dollar", number))["holders"]
    assert page.text.count('id="holder-') == len(rows) > 3


def test_a_client_has_two_at_most_and_others_have_theirs(scenario, made, held):
    """Ten at once of one, which asks from its whole network, leave others their lists and reads."""
    head = scenario.anvil.head()
    paths = [path_of(scenario, "dollar", head - n) for n in range(10)]
    peers = [f"203.0.113.{n}" for n in range(10)]
    with ThreadPoolExecutor(10) as threads:
        answers = [*threads.map(lambda args: fetch(made, *args), zip(paths, peers, strict=True))]
    codes = sorted(answer.status_code for answer in answers)
    assert codes == [202, 202] + 8 * [429]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert "being made for you" in refused.json["error"] and refused.headers["Retry-After"]
    assert fetch(made, path_of(scenario, "forge", head), THEIRS).status_code == 202
    assert fetch(made, f"/tokens/{scenario.stage.contracts['dollar'].address}/holders").json[
        "total"
    ]
    held.set()
    wait_until(lambda: makers() == 0)
    assert fetch(made, path_of(scenario, "forge", head), THEIRS).status_code == 200
    statuses = {
        fetch(made, path, peer).status_code for path, peer in zip(paths, peers, strict=True)
    }
    assert statuses == {200, 202, 429}


def test_a_client_has_two_at_most_of_all_processes(indexed, scenario, made, held):
    """Another worker has none for it, says how far the first one is, and has its own for others."""
    other = indexed.client(rate_limit_anonymous="100000/minute")
    bounds = sources(other).get(holder_files.HolderFileBounds)
    bounds.at_once, bounds.chunk_rows = -1, 4
    head = scenario.anvil.head()
    first, second, third = (path_of(scenario, "dollar", head - n) for n in range(3))
    assert [fetch(made, path).status_code for path in (first, second)] == [202, 202]
    assert fetch(other, third).status_code == 429
    assert fetch(other, first).status_code == fetch(other, first, THEIRS).status_code == 202
    assert makers() == 1
    assert fetch(other, third, THEIRS).status_code == 202 and makers() == 2
    held.set()
    wait_until(lambda: makers() == 0)
    assert fetch(made, first).status_code == fetch(other, third, THEIRS).status_code == 200
    assert fetch(other, first).status_code == 202
    wait_until(lambda: makers() == 0)
    assert fetch(other, first).data == fetch(made, first).data


TAKING = """
import sys, time
from scan.database.connection import Database
from scan.database.held_session import HeldSession
database = Database(sys.argv[1], statement_timeout_ms=5000)
sessions = [HeldSession(database), HeldSession(database)]
statement = "queries/past_holders_take_place"
for number, session in enumerate(sessions):
    print(session.take(statement, list=str(number), network="127.0.0.0/24", most=2), flush=True)
time.sleep(600)
"""


def test_places_of_a_killed_process_are_free(indexed, scenario, made, held):
    path = path_of(scenario, "dollar", scenario.anvil.head())
    command = [sys.executable, "-c", TAKING, indexed.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert [process.stdout.readline() for _ in range(2)] == ["(False, True)\n"] * 2
        assert fetch(made, path).status_code == 429
        process.kill()
    wait_until(lambda: fetch(made, path).status_code == 202)


def test_all_wait_for_a_bounded_number(scenario, made, held):
    head, most = scenario.anvil.head(), holder_files.MAX_UNFINISHED
    statuses = [
        fetch(made, path_of(scenario, "dollar", head - n), f"10.0.{n}.1").status_code
        for n in range(most + 1)
    ]
    assert statuses == most * [202] + [503]


def test_what_nobody_asks_for_any_more_is_not_made(scenario, made, held):
    head = scenario.anvil.head()
    first, second = (path_of(scenario, "dollar", head - n) for n in range(2))
    assert [fetch(made, path).status_code for path in (first, second)] == [202, 202]
    bounds = sources(made).get(holder_files.HolderFileBounds)
    bounds.forgotten_s = 0.0
    held.set()
    wait_until(lambda: makers() == 0)
    bounds.forgotten_s = holder_files.FORGOTTEN_S
    assert [fetch(made, path).status_code for path in (first, second)] == [200, 202]
    wait_until(lambda: makers() == 0)


def test_a_statement_that_takes_too_long_goes_on_beside_serving(
    scenario, client, made, monkeypatch
):
    sources(made).get(holder_files.HolderFileBounds).at_once = 10**6
    make, refused = holder_files.HolderFiles._make, []

    def slow(self, database, *args):
        if database is self._short:
            refused.append(args)
            raise QueryTooSlow("too slow")
        return make(self, database, *args)

    monkeypatch.setattr(holder_files.HolderFiles, "_make", slow)
    path = path_of(scenario, "dollar", scenario.anvil.head() - 1)
    assert fetch(made, path).status_code == 202 and len(refused) == 1
    wait_until(lambda: makers() == 0)
    monkeypatch.undo()
    assert fetch(made, path).data == fetch(client, path).data


def test_why_none_is_made_is_told_once(indexed, scenario, tmp_path):
    (tmp_path / "files").write_text("in the place of the folder")
    client = indexed.client(data_dir=tmp_path)
    sources(client).get(holder_files.HolderFileBounds).at_once = -1
    path = path_of(scenario, "dollar", scenario.anvil.head() - 1)
    assert fetch(client, path).status_code == 202
    wait_until(lambda: makers() == 0)
    answer = fetch(client, path)
    assert answer.status_code == 503 and "written here: File exists" in answer.json["error"]
    assert fetch(client, path).status_code == 202
    wait_until(lambda: makers() == 0)


def test_files_are_dropped_of_whoever_has_most(scenario, client, made):
    bounds, head = sources(made).get(holder_files.HolderFileBounds), scenario.anvil.head()
    bounds.at_once, theirs = 10**6, path_of(scenario, "forge", head)
    expected, before = fetch(client, theirs).data, open_files(made)
    assert fetch(made, theirs, THEIRS).data == expected
    [(first, size)] = open_files(made).items() - before.items()
    bounds.kept_bytes = 3 * size
    for n in range(20):
        fetch(made, path_of(scenario, "dollar", head - n))
    kept = dict(open_files(made).items() - before.items())
    assert first in kept and sum(kept.values()) <= 3 * size and 1 < len(kept) < 20
    assert fetch(made, theirs, THEIRS).data == expected
    assert dict(open_files(made).items() - before.items()) == kept


def test_a_holder_of_more_ids_than_a_page_has_is_on_several(scenario, client, monkeypatch):
    monkeypatch.setattr(queries, "MAX_IDS", 2)
    path = path_of(scenario, "forge", scenario.anvil.head())
    records, total = pages(client, path)
    held = by_holder(records)
    assert len(records) > len(held) == total
    monkeypatch.undo()
    assert by_holder(pages(client, path)[0]) == held
