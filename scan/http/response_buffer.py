"""An answer on its way to a client, who may take it slowly: no thread waits for that."""

import socket
from typing import Any


class Outbox:
    """To gunicorn, which writes a response to it, the client's socket."""

    def __init__(self, sock: socket.socket, data: bytes = b"") -> None:
        self._sock = sock
        self._data = bytearray(data)

    def __len__(self) -> int:
        """How much the client has yet to take."""
        return len(self._data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    def sendall(self, data: bytes) -> None:
        self._data += data

    def send_now(self) -> bool:
        """Send what the client takes without being waited for; whether nothing is left."""
        try:
            while self._data:
                del self._data[: self._sock.send(self._data, socket.MSG_DONTWAIT)]
        except BlockingIOError:
            return False
        except OSError:  # it is gone, which whoever reads from it next finds, too
            self._data.clear()
        return True
