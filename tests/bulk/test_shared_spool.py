"""Ranges of one backfill fetched by several machines: processes with one folder."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from scan.bulk import chain_backfill
from scan.bulk.range_files import TEMPORARY_S, Range, RangeFiles, split
from scan.bulk.shared_spool import (
    ALL,
    FILE,
    NoSpool,
    Part,
    SpoolPlan,
    fetch_share,
    in_order,
    is_current,
    read_plan,
)
from scan.commands import main
from tests.bulk.backfilling import backfill, follow
from tests.conftest import Played
from tests.support.anvil import Anvil
from tests.support.database import Postgres
from tests.support.indexer_process import PATIENCE_S, ROOT
from tests.support.indexing import settings_for
from tests.support.table_digest import digest, fresh_digest

RANGES = split(0, 99, 10)


class Machine:
    """`scan backfill fetch`, which knows a folder and a node."""

    def __init__(self, rpc_url: str, folder: Path, part: str) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "scan", "backfill", "fetch", "--workers=1"),
                *(f"--folder={folder}", f"--part={part}"),
            ],
            cwd=ROOT,
            env={"RPC_URL": rpc_url, "PATH": os.environ["PATH"]},
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Machine":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def wait(self) -> tuple[int, str]:
        _, output = self._process.communicate(timeout=PATIENCE_S)
        return self._process.returncode, output

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE_S)


def wait_until(is_it: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_it():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.long
def test_machines_that_fetch_a_part_are_helped_when_they_die(
    postgres: Postgres,
    template: str,
    database_url: str,
    scenario: Played,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first of three machines begins after the second has ended and the third was killed."""
    url, head, folder = scenario.anvil.url, scenario.anvil.head(), tmp_path / "files"
    plainly, fetched = chain_backfill.in_order, []

    def after_the_others(ranges: list[Range], _: Part, missing: list[Range]) -> list[Range]:
        files, third = RangeFiles(folder), ranges[2::3]
        with Machine(url, folder, "2/3") as second, Machine(url, folder, "3/3") as killed:
            wait_until(lambda: any(map(files.has, third)))
            killed.kill()
            code, output = second.wait()
        assert code == 0, output
        assert all(map(files.has, ranges[1::3]))
        parquet = files.path("transactions", ranges[4])
        parquet.write_bytes(parquet.read_bytes()[:-1])  # as a machine that loses its power may
        fetched.extend(blocks for blocks in ranges if not files.has(blocks))
        return plainly(ranges, Part(1, 3), missing)

    settings = settings_for(database_url, url, logs="standard")

    def once(*arguments: Any) -> list[Range]:
        """Then only what was not whole."""
        monkeypatch.setattr(chain_backfill, "in_order", plainly)
        return after_the_others(*arguments)

    monkeypatch.setattr(chain_backfill, "in_order", once)
    assert backfill(settings, folder, last_block=head - 3, range_blocks=4)
    assert set(fetched) >= set(split(0, head - 3, 4)[::3])
    follow(settings, head)
    assert digest(database_url) == fresh_digest(postgres, template, scenario.anvil, logs="standard")


@pytest.fixture
def folder(
    database_url: str, scenario: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Of a backfill that was begun and has fetched nothing."""

    def stop(*_: object) -> list[Range]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(chain_backfill, "in_order", stop)
        backfill(settings_for(database_url, scenario.anvil.url), tmp_path / "files", last_block=40)
    return tmp_path / "files"


def share(folder: Path, url: str, part: Part = ALL, stop: threading.Event | None = None) -> int:
    return fetch_share(settings_for("", url), folder, part, 1, stop or threading.Event())


def test_two_machines_with_the_same_part_do_no_harm(folder: Path, scenario: Played) -> None:
    machines = [Machine(scenario.anvil.url, folder, "1/1") for _ in range(2)]
    for machine in machines:
        with machine:
            assert machine.wait()[0] == 0
    files, ranges = RangeFiles(folder), read_plan(folder).ranges
    assert all(map(files.is_whole, ranges))
    assert share(folder, scenario.anvil.url) == 0


def test_a_machine_stops_when_its_files_are_not_needed_any_more(
    folder: Path, scenario: Played
) -> None:
    plan = read_plan(folder)
    assert is_current(folder, plan)
    stop = threading.Event()
    threading.Timer(0.0, (folder / FILE).unlink).start()
    with suppress(NoSpool):
        share(folder, scenario.anvil.url, stop=stop)
        assert stop.is_set()
    assert not is_current(folder, plan)


@pytest.mark.check
@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "1", '{"version": 1}', "[" * 100_000, "\xff", "x" * 2_000_000),
        json.dumps(dict.fromkeys(SpoolPlan._fields)),
        json.dumps(dict.fromkeys(SpoolPlan._fields, "x")),
    ],
)
def test_a_plan_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(NoSpool):
        share(tmp_path, "http://127.0.0.1:9")


@pytest.mark.check
def test_without_a_backfill_there_is_nothing_to_fetch(tmp_path: Path) -> None:
    with Machine("http://127.0.0.1:9", tmp_path, "1/2") as machine:
        code, output = machine.wait()
    assert (code, "begin it first" in output) == (1, True), output


def test_a_node_of_another_chain_is_refused(folder: Path) -> None:
    with Anvil("--chain-id", "77") as other, pytest.raises(NoSpool, match="another chain"):
        share(folder, other.url)


@pytest.mark.check
def test_the_own_part_comes_first_and_others_from_the_end() -> None:
    assert in_order(RANGES, ALL, RANGES) == RANGES
    missing = RANGES[2:]
    own = [RANGES[4], RANGES[7]]
    others = [RANGES[number] for number in (9, 8, 6, 5, 3, 2)]
    assert in_order(RANGES, Part(2, 3), missing) == own + others


@pytest.mark.check
def test_files_that_are_being_written_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "blocks").mkdir()
    file = tmp_path / "blocks" / ".x"
    file.touch()
    written_s = file.stat().st_mtime
    RangeFiles(tmp_path).remove_temporary(written_s + TEMPORARY_S)
    assert file.exists()
    RangeFiles(tmp_path).remove_temporary(written_s + TEMPORARY_S + 1)
    assert not file.exists()


@pytest.mark.check
@pytest.mark.parametrize("text", ["", "2", "0/2", "3/2", "1/1001", "-1/2", "1/2/3", "a/b"])
def test_a_part_is_one_of_so_many(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["backfill", "fetch", "--workers=1", "--folder=/nowhere", f"--part={text}"])
    assert end.value.code == 2 and "argument --part" in capsys.readouterr().err
