"""Files that are whole or absent, whenever the process or the machine stops."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

UNFINISHED = ".unfinished"


@contextmanager
def whole_file(path: Path, suffix: str = UNFINISHED) -> Iterator[IO[bytes]]:
    """Open a new file under another name, with the suffix, which is renamed once all of it is on
    disk.

    Removed where writing fails; what a killed process leaves is overwritten by the next.
    """
    unfinished = path.with_name(f".{path.name}{suffix}")
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
