"""Disks small enough to be filled: in memory, where mounting is permitted."""

import os
import subprocess
from contextlib import contextmanager, suppress

MIB = 1024 * 1024
SIZE = "2000m"  # of which PostgreSQL keeps up to 1 GB of WAL


@contextmanager
def small_disks(folders):
    """A disk for each folder; false where none can be had."""
    mounted = []
    try:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            options = ("-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder))
            if subprocess.run(["mount", *options], capture_output=True).returncode:
                break
            mounted.append(folder)
        yield len(mounted) == len(folders)
    finally:
        for folder in mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def full(folder):
    """While it lasts, nothing more goes onto the disk of the folder."""
    filler = folder / "filler"
    size = 0
    with filler.open("wb") as file:
        for step in (64 * MIB, MIB, MIB // 64):
            with suppress(OSError):  # no room for one more
                while True:
                    os.posix_fallocate(file.fileno(), size, step)
                    size += step
    try:
        yield
    finally:
        filler.unlink()
