"""A wire to PostgreSQL that breaks at the worst moment: when COMMIT has left, before its answer."""

import socket
import threading
from types import TracebackType
from urllib.parse import parse_qs, urlsplit


class CommitCutter:
    """Passes everything on; while `cuts` is above 0, no answer to a COMMIT reaches the client."""

    def __init__(self, database_url: str) -> None:
        parts = urlsplit(database_url)
        self._socket_path = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{port}{parts.path}"

    def __enter__(self) -> "CommitCutter":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._socket_path)
            threading.Thread(target=self._to_server, args=(client, server), daemon=True).start()
            threading.Thread(target=_pump, args=(server, client), daemon=True).start()

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while said := client.recv(65536):
                if self.cuts > 0 and said == b"Q\0\0\0\x0bCOMMIT\0":
                    self.cuts -= 1
                    client.shutdown(socket.SHUT_RDWR)
                    server.sendall(said)
                    return
                server.sendall(said)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while said := source.recv(65536):
            target.sendall(said)
    except OSError:
        pass
    for end in (source, target):
        end.close()
