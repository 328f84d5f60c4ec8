"""Bytes that a client has sent, for gunicorn's parser, which would read a socket otherwise."""

from gunicorn.http.unreader import Unreader

# As much as gunicorn reads from a socket at once; its parser copies what it holds at each step.
_PIECE_BYTES = 8192


class MoreNeeded(Exception):
    """What has come is not the whole of what is read."""


class ReceivedBytes(Unreader):  # type: ignore[misc]  # gunicorn has no types
    """`data` begins with the first byte that the parser has not taken for good."""

    def __init__(self) -> None:
        super().__init__()
        self.data = bytearray()
        self.has_ended = False
        self._position = 0  # in `data`: the first byte that the parser has not been given yet

    def __len__(self) -> int:
        """How many bytes the parser has not used."""
        return len(self.data) - self._position + int(self.buf.getbuffer().nbytes)

    def chunk(self, size_hint: int | None = None) -> bytes:
        """The next piece; raises MoreNeeded where the parser would wait for the client."""
        if self._position < len(self.data):
            end = self._position + max(size_hint or 0, _PIECE_BYTES)
            piece = bytes(self.data[self._position : end])
            self._position += len(piece)
            return piece
        if self.has_ended:
            return b""
        raise MoreNeeded

    def release(self, unused: int = 0) -> None:
        """Forget what the parser has used; it holds the last `unused` bytes that it was given."""
        used = self._position - int(self.buf.getbuffer().nbytes) - unused
        del self.data[:used]
        self._position -= used

    def rewind(self) -> None:
        """Give the parser everything again that has not been released."""
        self.take_buffered()
        self._position = 0

    def clear(self) -> None:
        self.rewind()
        self.data.clear()
