"""Where a server is missing and may not be installed, its tests are left out, and it is said so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.serving import PROGRAMS, ROOT, SERVERS

INSTALL = SERVERS.with_name("install_servers")
NEEDS_REDIS = "tests/rate_limits/test_limiter.py::test_a_window_in_redis_moves"


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has what install_servers is written with, and nothing else."""
    for name in ("bash", "dirname"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    return {"PATH": str(tmp_path)}


def install(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [str(shutil.which("bash")), str(INSTALL)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


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


def run_without_redis(folder: Path, ci: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", NEEDS_REDIS],
        cwd=ROOT,
        env={"PATH": str(folder), "CI": ci, "HOME": os.environ.get("HOME", str(folder))},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_tests_without_their_server_are_left_out_aloud(tmp_path):
    done = run_without_redis(tmp_path, ci="")
    assert done.returncode == 0
    *_, named, command, totals = done.stdout.splitlines()
    assert "1 tests, which need redis-server" in named
    assert ROOT / command.split()[-1] == INSTALL
    assert "1 skipped" in totals


def test_in_ci_they_fail(tmp_path):
    done = run_without_redis(tmp_path, ci="true")
    assert done.returncode == 1
    assert "redis-server is not installed" in done.stdout
    assert "1 failed" in done.stdout.splitlines()[-1]
