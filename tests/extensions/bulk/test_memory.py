"""Memory that a backfill needs is told before it starts, and refused where it is not there."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from scan.ethereum.client import Node
from scan.extensions.bulk import chain_backfill, resources
from scan.extensions.bulk.estimates import estimate
from scan.extensions.bulk.memory import (
    TooLittleMemory,
    available_bytes,
    load_need,
    require_memory,
    spool_need,
    total_bytes,
)
from scan.extensions.bulk.plan import CannotBackfill, CannotBegin
from tests.extensions.bulk.backfilling import backfill
from tests.support import forked_python
from tests.support.database import execute
from tests.support.indexer_process import ROOT
from tests.support.indexing import settings_for

MEGABYTE = 1_000_000
MEMINFO = "MemTotal:        8000 kB\nMemFree:  100 kB\nMemAvailable:    4000 kB\n"


def write(folder: Path, **texts: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.fixture
def machine(tmp_path: Path) -> tuple[Path, Path]:
    """Its /proc, without a group, and /sys/fs/cgroup."""
    write(tmp_path / "proc", meminfo=MEMINFO)
    return tmp_path / "proc", tmp_path / "cgroup"


@pytest.mark.check
def test_without_a_group_it_is_the_machines_memory(machine):
    assert (available_bytes(*machine), total_bytes(*machine)) == (4_096_000, 8_192_000)


@pytest.mark.check
def test_another_system_tells_nothing(tmp_path):
    assert (available_bytes(tmp_path, tmp_path), total_bytes(tmp_path, tmp_path)) == (None, 0)


@pytest.mark.check
@pytest.mark.parametrize("limited", ["a", "a/b"])
def test_the_limit_of_a_group_or_of_one_around_it_counts(machine, limited):
    proc, cgroups = machine
    write(proc / "self", cgroup="1:cpu:/x\n0::/a/b\n")
    for folder in ("a", "a/b"):
        limit = "3000000\n" if folder == limited else "max\n"
        stat = "anon 900\ninactive_file 400000\nactive_file 100000\n"
        write(cgroups / folder, memory__max=limit, memory__current="1000000\n", memory__stat=stat)
    assert (available_bytes(*machine), total_bytes(*machine)) == (2_500_000, 3_000_000)


@pytest.mark.check
def test_groups_of_version_1_count_where_a_container_mounts_its_own(machine):
    proc, cgroups = machine
    write(proc / "self", cgroup="4:memory:/docker/of-the-host\n1:cpu:/\n0::/\n")
    write(
        cgroups / "memory",
        memory__limit_in_bytes="2000000\n",
        memory__usage_in_bytes="1900000\n",
        memory__stat="total_inactive_file 500000\ntotal_active_file 0\ncache 1\n",
    )
    assert (available_bytes(*machine), total_bytes(*machine)) == (600_000, 2_000_000)


@pytest.mark.check
def test_a_group_above_its_limit_leaves_nothing(machine):
    proc, cgroups = machine
    write(proc / "self", cgroup="0::/../../x\n")
    write(cgroups, memory__max="10", memory__current="4000", memory__stat="")
    assert available_bytes(*machine) == 0


@pytest.mark.check
@pytest.mark.parametrize("text", ["", "MemAvailable:\n", "MemAvailable: x kB\n"])
def test_a_text_of_another_form_tells_nothing(tmp_path, text):
    write(tmp_path, meminfo=text)
    assert available_bytes(tmp_path, tmp_path) is None


@pytest.mark.check
def test_what_does_not_fit_names_the_option_to_lower():
    spool, load = spool_need(8, 100_000), load_need(2_000 * MEGABYTE, 2, 250 * MEGABYTE)
    assert spool.size == 8 * 250 * MEGABYTE + 250 * MEGABYTE
    assert load.size == 2_950 * MEGABYTE
    require_memory([spool, load], load.size)
    require_memory([spool, load], None)
    with pytest.raises(TooLittleMemory, match="lower --workers or --range-blocks"):
        require_memory([spool, load], spool.size - 1)
    with pytest.raises(TooLittleMemory, match="lower --memory or --tables-at-once"):
        require_memory([spool, load], spool.size)


def test_the_busiest_part_of_a_chain_decides(scenario, monkeypatch):
    monkeypatch.setattr(random, "sample", lambda numbers, count: [*numbers][:count])
    node = Node((scenario.anvil.url,))
    counts = [
        len(scenario.anvil.call("eth_getBlockByNumber", hex(n), False)["transactions"])
        for n in range(50)
    ]
    sample = estimate(node, 0, 49)
    assert sample.transactions == sum(counts)
    assert sample.busiest == max(sum(counts[n : n + 5]) / 5 for n in range(0, 50, 5))


def test_too_little_memory_is_refused_before_anything_is_begun(
    database_url, scenario, tmp_path, monkeypatch
):
    settings = settings_for(database_url, scenario.anvil.url)
    folder = tmp_path / "files"
    monkeypatch.setattr(resources, "available_bytes", lambda: 100 * MEGABYTE)
    with pytest.raises(CannotBegin, match=r"0\.1 GB of memory is available.*lower --workers"):
        backfill(settings, folder, last_block=20)
    assert execute(database_url, "SELECT count(*) FROM bulk_backfill") == [(0,)]
    assert not folder.exists()
    monkeypatch.undo()
    monkeypatch.setattr(chain_backfill, "READINGS", 1)
    with pytest.raises(CannotBackfill, match="not as the node has it"):
        backfill(settings, folder, last_block=20, audit=lambda _: [("-", 0, 19)])
    monkeypatch.setattr(resources, "available_bytes", lambda: 100 * MEGABYTE)
    with pytest.raises(CannotBackfill, match="lower --memory"):
        backfill(settings, folder, last_block=20)
    monkeypatch.undo()
    assert backfill(settings, folder, last_block=20)


def test_the_command_says_what_it_needs_and_what_there_is(database_url, scenario, tmp_path):
    command = [sys.executable, "-m", "scan", "backfill", "chain", f"--folder={tmp_path}/files"]
    environment = {"DATABASE_URL": database_url, "RPC_URL": scenario.anvil.url}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        arguments = [*command, "--last-block=20", *options]
        return forked_python.run(arguments, cwd=ROOT, env=environment, timeout=120)

    refused = run("--memory=100000")
    assert refused.returncode == 1
    assert "lower --memory or --tables-at-once" in refused.stderr
    done = run("--memory=1", "--workers=1")
    assert done.returncode == 0, done.stderr
    assert "GB to fetch (1 processes of 0.10 GB that fetch)" in done.stderr
    assert "GB to derive and load (1.0 GB of DuckDB, 2 indexes made with" in done.stderr
    assert "GB is available" in done.stderr
