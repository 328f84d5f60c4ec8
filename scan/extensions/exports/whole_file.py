"""Files that are whole or absent, whenever the process or the machine stops."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

UNFINISHED = ".unfinished"


@contextmanager
def whole_file(path: Path, suffix: str = UNFINISHED) -> Iterator[IO[bytes]]:
    """Open a new file under a hidden name with the suffix; it is renamed to `path` once it is whole
    on disk.

    It is removed where writing fails; one that a killed process left is overwritten by the next.
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
