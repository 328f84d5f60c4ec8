"""The network between the parts: every connection passes here, and can be cut or slowed down."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PAUSE_S = 0.02


class Link:
    """One address that is connected to."""

    def __init__(self, name: str, target: str) -> None:
        self.name = name
        self.target = target
        self.mode = "open"  # or "silent", as a cable that is cut, or "refusing"
        self.delay_s = 0.0

    @property
    def machine(self) -> str:
        """Of a node of PostgreSQL its machine; everything else is a machine of its own."""
        return self.name.split(" ")[1] if " db" in self.name else ""


class Connection:
    """Who has begun it is found out when it matters; that takes some milliseconds."""

    def __init__(self, links: "Links", link: Link, port: int) -> None:
        self.link = link
        self._links = links
        self._port = port
        self._machine: str | None = None

    async def wait_until_open(self) -> None:
        while self.link.mode == "silent" or (self._links.isolated and self._is_isolated()):
            await asyncio.sleep(PAUSE_S)
        if self.link.mode == "refusing":
            raise ConnectionRefusedError
        if self.link.delay_s:
            await asyncio.sleep(self.link.delay_s)

    def _is_isolated(self) -> bool:
        if self._machine is None:
            self._machine = self._links.machine_of(self._port)
        ends = {self._machine, self.link.machine}
        return len(ends) == 2 and bool(ends & self._links.isolated)


class Links:
    """Proxies in one thread; `through` is for Cluster."""

    def __init__(self) -> None:
        self.links: dict[str, Link] = {}
        self.isolated: set[str] = set()
        self.pids_of: Callable[[], dict[str, set[int]]] = dict  # by machine
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="links", daemon=True).start()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def through(self, name: str, address: str) -> str:
        link = self.links[name] = Link(name, address)
        listening = asyncio.run_coroutine_threadsafe(self._listen(link), self._loop)
        return f"127.0.0.1:{listening.result(10)}"

    @contextmanager
    def changed(self, *names: str, mode: str = "open", delay_s: float = 0.0) -> Iterator[None]:
        for name in names:
            self.links[name].mode, self.links[name].delay_s = mode, delay_s
        try:
            yield
        finally:
            for name in names:
                self.links[name].mode, self.links[name].delay_s = "open", 0.0

    @contextmanager
    def isolation(self, machine: str) -> Iterator[None]:
        """A node reaches neither etcd nor another node, and nobody reaches it."""
        self.isolated.add(machine)
        try:
            yield
        finally:
            self.isolated.discard(machine)

    def machine_of(self, port: int) -> str:
        """The node whose process has this end of a connection; empty where it is none's."""
        socket_name = _socket_name(port)
        for machine, pids in self.pids_of().items():
            if any(socket_name in _open_files(pid) for pid in pids):
                return machine
        return ""

    async def _listen(self, link: Link) -> int:
        server = await asyncio.start_server(
            lambda reader, writer: self._connected(link, reader, writer), "127.0.0.1", 0
        )
        return int(server.sockets[0].getsockname()[1])

    async def _connected(
        self, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        connection = Connection(self, link, writer.get_extra_info("peername")[1])
        try:
            await connection.wait_until_open()
            host, port = link.target.split(":")
            above, below = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pump(connection, reader, below), _pump(connection, above, writer))


async def _pump(
    connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            await connection.wait_until_open()
            writer.write(data)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.close()


def _socket_name(port: int) -> str:
    """As it stands among a process's files. Not by psutil: that takes 30 ms, and holds up all."""
    local = f"0100007F:{port:04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines():
        fields = line.split()
        if fields[1] == local:
            return f"socket:[{fields[9]}]"
    return "none"


def _open_files(pid: int) -> set[str]:
    folder = Path(f"/proc/{pid}/fd")
    found = set()
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):
                found.add(os.readlink(entry.path))
    return found


def wait_until(condition: Callable[[], object], timeout_s: float, what: str) -> float:
    """Seconds that it took."""
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > timeout_s:
            raise AssertionError(f"after {timeout_s:.0f} s still not: {what}")
        time.sleep(0.1)
    return time.monotonic() - begun
