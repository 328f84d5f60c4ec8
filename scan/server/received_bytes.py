"""Received bytes, from which gunicorn's parser reads as if from a socket."""

from gunicorn.http.unreader import Unreader

# As much as gunicorn reads from a socket at once; its parser copies what it holds at each step.
_PIECE_BYTES = 8192


class MoreNeeded(Exception):
    """The parser needs bytes that have not been received yet."""


class ReceivedBytes(Unreader):  # type: ignore[misc]  # gunicorn has no types
    """Received bytes; `data` begins with the first one that release() has not dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.data = bytearray()
        self.has_ended = False
        self._position = 0  # in `data`: the first byte that the parser has not been given yet

    def __len__(self) -> int:
        """Return how many bytes the parser has not used."""
        return len(self.data) - self._position + int(self.buf.getbuffer().nbytes)

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Return the next piece; raises MoreNeeded where the parser would wait for the client."""
        if self._position < len(self.data):
            end = self._position + max(size_hint or 0, _PIECE_BYTES)
            piece = bytes(self.data[self._position : end])
            self._position += len(piece)
            return piece
        if self.has_ended:
            return b""
        raise MoreNeeded

    def release(self, unused: int = 0) -> None:
        """Drop the bytes that the parser has used: all it was given but the last `unused`."""
        used = self._position - int(self.buf.getbuffer().nbytes) - unused
        del self.data[:used]
        self._position -= used

    def rewind(self) -> None:
        """Have the parser read again from the first byte that has not been released."""
        self.take_buffered()
        self._position = 0

    def clear(self) -> None:
        self.rewind()
        self.data.clear()
