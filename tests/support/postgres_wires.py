"""Wires to PostgreSQL that fail: by forwarding nothing, or by losing what answers a COMMIT."""

import socket
import threading
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit


class Wire:
    """Connects whoever opens `url`, and passes on what passes() lets through."""

    def __init__(self, database_url):
        parts = urlsplit(database_url)
        self._socket_path = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{port}{parts.path}"

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def passes(self, data, source, target):
        """Called in the thread of one direction of one connection, which False ends."""
        target.sendall(data)
        return True

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._socket_path)
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=ends, daemon=True).start()

    def _forward(self, source, target):
        with suppress(OSError):
            while data := source.recv(65536):
                if not self.passes(data, source, target):
                    return
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


class DeadNetwork(Wire):
    """As a network that has lost a switch: forwards while `is_alive` is set; connects always."""

    def __init__(self, database_url):
        super().__init__(database_url)
        self.is_alive = threading.Event()
        self.is_alive.set()

    def __exit__(self, *_):
        super().__exit__()
        self.is_alive.set()

    def passes(self, data, source, target):
        self.is_alive.wait()
        return super().passes(data, source, target)


class CommitCutter(Wire):
    """Breaks at the worst moment: while `cuts` is above 0, no answer to a COMMIT comes back."""

    cuts = 0

    def passes(self, data, source, target):
        is_cut = self.cuts > 0 and data == b"Q\0\0\0\x0bCOMMIT\0"
        if is_cut:
            self.cuts -= 1
            source.shutdown(socket.SHUT_RDWR)
        return super().passes(data, source, target) and not is_cut
