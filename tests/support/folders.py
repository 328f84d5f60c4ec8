"""Folders for what a test writes, in memory where the machine has plenty.

A test's database is 400 files: copying and dropping one takes 0.2 s there, and 0.6 to 1.8 on ext4
while other tests write, too. What a killed run leaves is in /dev/shm/scan-*.
"""

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

MEMORY = Path("/dev/shm")  # a tmpfs on every Linux; a container's may be small, or run no programs
GIB = 1 << 30


def new_folder(prefix):
    """Which PostgreSQL's user can enter: started by root, it runs as another one."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=MEMORY if _has_memory() else None))
    folder.chmod(0o755)
    return folder


@contextmanager
def temporary_folder(prefix):
    folder = new_folder(prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def open_folder():
    """Where PostgreSQL's user may write; pytest's own is root's alone."""
    with temporary_folder("scan-test-") as folder:
        folder.chmod(0o777)
        yield folder


def _has_memory():
    return (
        MEMORY.is_dir()
        and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
        and shutil.disk_usage(MEMORY).free > 4 * GIB
        and psutil.virtual_memory().available > 6 * GIB
    )


def run_folder(tmp_path_factory):
    """What the workers of a run share; each has its own folder in it."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
