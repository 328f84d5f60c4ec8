"""A wire to PostgreSQL that can stop forwarding, as a network that has lost a switch."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from urllib.parse import parse_qs, urlsplit


class DeadNetwork:
    """Passes everything on in both directions while `is_alive` is set; connects in any case."""

    def __init__(self, database_url: str) -> None:
        parts = urlsplit(database_url)
        self._socket_path = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        self.is_alive = threading.Event()
        self.is_alive.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{port}{parts.path}"

    def __enter__(self) -> "DeadNetwork":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._listener.close()
        self.is_alive.set()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._socket_path)
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=ends, daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.is_alive.wait()
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
