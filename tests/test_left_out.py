"""Where a server is missing and may not be installed, its tests are left out, and it is said so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import WAIT_S
from tests.support.serving import PROGRAMS, ROOT, SERVERS, completed, program

INSTALL = SERVERS.with_name("install_servers")


@pytest.fixture
def bare(tmp_path):
    """An environment whose PATH has what install_servers is written with, and nothing else."""
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    return {"PATH": str(tmp_path)}


def install(environment):
    command = [str(shutil.which("bash")), str(INSTALL)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_S)


@pytest.mark.parametrize(("ci", "status"), [("", 0), ("true", 1)])
def test_what_cannot_be_installed_is_named(bare, ci, status):
    done = install({**bare, "CI": ci})
    assert done.returncode == status
    assert "no apt-get" in done.stderr
    assert {"redis-server", "etcd-server"} <= set(done.stderr.split())


def test_nothing_is_installed_where_nothing_is_missing(bare):
    for name in PROGRAMS:
        (Path(bare["PATH"]) / name).write_text("#!/bin/true\n")
        (Path(bare["PATH"]) / name).chmod(0o755)
    done = install({**bare, "CI": "true"})
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip), ("true", pytest.fail)])
def test_a_test_is_left_out_without_its_server_and_fails_in_ci(monkeypatch, bare, ci, outcome):
    monkeypatch.setenv("PATH", bare["PATH"])
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome.Exception, match="redis-server is not installed"):
        program("redis-server")


@pytest.mark.long
def test_what_was_left_out_is_named_at_the_end_of_a_run(tmp_path):
    needs_redis = "tests/rate_limits/test_limiter.py::test_a_window_in_redis_moves"
    done = completed(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", needs_redis],
        cwd=ROOT,
        env={"PATH": str(tmp_path), "HOME": os.environ.get("HOME", str(tmp_path))},
    )
    assert done.returncode == 0
    *_, named, command, totals = done.stdout.splitlines()
    assert "1 tests, which need redis-server" in named
    assert ROOT / command.split()[-1] == INSTALL
    assert "1 skipped" in totals
