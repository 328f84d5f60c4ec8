"""A response body that lies in a file: the worker's loop sends it piece by piece."""

import os
from collections.abc import Callable, Iterator
from typing import IO

PIECE_BYTES = 256 * 1024


class FileBody:
    """A response's body for any WSGI server; ours attaches the file instead of iterating over it.

    `closed` is called once, when the file has been sent or its client is gone.
    """

    def __init__(self, file: IO[bytes], closed: Callable[[], None]) -> None:
        self._file = file
        self._closed = closed
        self.size = file.seek(0, os.SEEK_END)
        file.seek(0)

    def __del__(self) -> None:
        """Close a body that was never served, since making its response failed."""
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.read():
            yield piece
        self.close()

    def read(self) -> bytes:
        """Return the next piece; it is empty at the end."""
        return self._file.read(PIECE_BYTES)

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._closed()
