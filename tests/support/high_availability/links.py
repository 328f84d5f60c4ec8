"""The network between the parts: every connection passes here, and can be cut or slowed down."""

import asyncio
import threading
import time
from collections import namedtuple
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support import WAIT_S
from tests.support.serving import free_port

PAUSE_S = 0.02
LOOK_EVERY_S = 0.3


class Link:
    """One address that is connected to."""

    def __init__(self, name, target, port):
        self.name = name
        self.port = port
        self.server = None  # None while it refuses connections
        self._target = target
        self.mode = "open"  # or "silent", as a cable that is cut, or "refusing"
        self.delay_s = 0.0

    async def connect(self):
        host, port = self._target.split(":")
        return await asyncio.open_connection(host, int(port))

    @property
    def machine(self):
        """Of a node of PostgreSQL its machine; everything else is a machine of its own."""
        return self.name.split(" ")[1] if " db" in self.name else ""


class Isolated(namedtuple("Isolated", "node ports seen_at")):
    """A node, and where the connections of its processes ended at that time."""


class Connection:
    """One that somebody has begun, from a port of his."""

    def __init__(self, links, link, port):
        self.link = link
        self._links = links
        self._port = port
        self._begun = time.monotonic()
        self._judged_for = ""  # the isolated node
        self._is_cut = False

    async def wait_until_open(self):
        while self.link.mode == "silent" or self._is_isolated():
            await asyncio.sleep(PAUSE_S)
        if self.link.mode == "refusing":
            raise ConnectionRefusedError
        if self.link.delay_s:
            await asyncio.sleep(self.link.delay_s)

    def _is_isolated(self):
        """One end is the isolated machine, and the other is not.

        Found out once: who has given up since, and closed his end, is not seen any more.
        """
        isolated = self._links.isolated
        if isolated is None:
            return False
        if self._judged_for != isolated.node:
            if isolated.seen_at <= self._begun:
                return True  # until it is known
            self._judged_for = isolated.node
            self._is_cut = (self.link.machine == isolated.node) != (self._port in isolated.ports)
        return self._is_cut


class Links:
    """Proxies in one thread; `through` is for Cluster."""

    def __init__(self):
        self.links = {}
        self.isolated = None
        self.pids_of = lambda _node: set()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="links", daemon=True).start()

    def close(self):
        asyncio.run_coroutine_threadsafe(self._end(), self._loop)

    async def _end(self):
        self._loop.set_exception_handler(lambda *_: None)  # they are cancelled, which is no news
        ended = asyncio.all_tasks() - {asyncio.current_task()}
        for task in ended:
            task.cancel()
        await asyncio.gather(*ended, return_exceptions=True)
        self._loop.stop()

    def through(self, name, address):
        link = self.links[name] = Link(name, address, free_port())
        asyncio.run_coroutine_threadsafe(self._listen(link), self._loop).result(WAIT_S)
        return f"127.0.0.1:{link.port}"

    @contextmanager
    def changed(self, *names, mode="open", delay_s=0.0):
        for name in names:
            self.links[name].mode, self.links[name].delay_s = mode, delay_s
        try:
            yield
        finally:
            for name in names:
                self.links[name].mode, self.links[name].delay_s = "open", 0.0

    @contextmanager
    def isolation(self, node):
        """A node reaches neither etcd nor another node, and nobody reaches it."""
        ended = threading.Event()
        looking = threading.Thread(target=self._look_for_ports, args=(node, ended))
        looking.start()
        try:
            yield
        finally:
            ended.set()
            looking.join()
            self.isolated = None

    def _look_for_ports(self, node, ended):
        """Connections begun since have to wait for the next look."""
        while True:
            seen_at = time.monotonic()
            self.isolated = Isolated(node, _ports_of(self.pids_of(node)), seen_at)
            if ended.wait(LOOK_EVERY_S):
                return

    async def _listen(self, link):
        link.server = await asyncio.start_server(
            lambda reader, writer: self._connected(link, reader, writer), "127.0.0.1", link.port
        )

    async def _refuse(self, link):
        """As long as what is behind the link does: a client then goes elsewhere at once."""
        server, link.server = link.server, None
        if server is None:
            return
        server.close()
        while link.mode == "refusing" or not await _accepts(link):
            await asyncio.sleep(PAUSE_S)
        await self._listen(link)

    async def _connected(self, link, reader, writer):
        connection = Connection(self, link, writer.get_extra_info("peername")[1])
        try:
            await connection.wait_until_open()
            above, below = await link.connect()
        except OSError:
            writer.close()
            await self._refuse(link)
            return
        await asyncio.gather(_pump(connection, reader, below), _pump(connection, above, writer))


async def _accepts(link):
    try:
        _, writer = await link.connect()
    except OSError:
        return False
    writer.close()
    return True


async def _pump(connection, reader, writer):
    with suppress(OSError):
        while data := await reader.read(65536):
            await connection.wait_until_open()
            writer.write(data)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.close()


def _ports_of(pids):
    """Where connections of these processes end on this machine."""
    files = {name for pid in pids for name in _open_files(pid)}
    ports = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if f"socket:[{fields[9]}]" in files:
            ports.add(int(fields[1].split(":")[1], 16))
    return ports


def _open_files(pid):
    names = set()
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                names.add(str(entry.readlink()))
    return names


def wait_until(condition, timeout_s, what):
    """Seconds that it took."""
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > timeout_s:
            raise AssertionError(f"after {timeout_s:.0f} s still not: {what}")
        time.sleep(0.1)
    return time.monotonic() - begun
