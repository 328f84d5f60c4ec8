"""A response body that lies in a file: the worker's loop sends it piece by piece."""

import os
from collections.abc import Callable, Iterator
from typing import IO

PIECE_BYTES = 256 * 1024


class FileBody:
    """To a WSGI server the body of a response; to our worker a file that it need not read whole.

    `closed` is called once, when the file has been sent or its client is gone.
    """

    def __init__(self, file: IO[bytes], closed: Callable[[], None]) -> None:
        self._file = file
        self._closed = closed
        self.size = file.seek(0, os.SEEK_END)
        file.seek(0)

    def __del__(self) -> None:
        """Where what made it failed before anybody could close it."""
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.read():
            yield piece
        self.close()

    def read(self) -> bytes:
        """The next piece; empty at the end."""
        return self._file.read(PIECE_BYTES)

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._closed()
