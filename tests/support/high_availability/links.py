"""The network between the parts: every connection passes here, and can be cut or slowed down."""

import asyncio
import threading
import time
from contextlib import contextmanager, suppress

from tests.support import WAIT_S
from tests.support.serving import free_port

PAUSE_S = 0.02


class Link:
    """One address that is connected to."""

    def __init__(self, target):
        self.port = free_port()
        self.server = None  # None while it refuses connections
        self._target = target
        self.mode = "open"  # or "silent", as a cable that is cut, or "refusing"
        self.delay_s = 0.0

    async def listen(self):
        self.server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)

    async def _connect(self):
        host, port = self._target.split(":")
        return await asyncio.open_connection(host, int(port))

    async def _wait_until_open(self):
        while self.mode == "silent":
            await asyncio.sleep(PAUSE_S)
        if self.mode == "refusing":
            raise ConnectionRefusedError
        if self.delay_s:
            await asyncio.sleep(self.delay_s)

    async def _connected(self, reader, writer):
        try:
            await self._wait_until_open()
            above, below = await self._connect()
        except OSError:
            writer.close()
            await self._refuse()
            return
        await asyncio.gather(self._pump(reader, below), self._pump(above, writer))

    async def _refuse(self):
        """As long as what is behind the link does: a client then goes elsewhere at once."""
        server, self.server = self.server, None
        if server is None:
            return
        server.close()
        while self.mode == "refusing" or not await self._accepts():
            await asyncio.sleep(PAUSE_S)
        await self.listen()

    async def _accepts(self):
        with suppress(OSError):
            _, writer = await self._connect()
            writer.close()
            return True
        return False

    async def _pump(self, reader, writer):
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._wait_until_open()
                writer.write(data)
                await writer.drain()
        with suppress(OSError, RuntimeError):
            writer.close()


class Links:
    """Proxies in one thread; `through` is for Cluster."""

    def __init__(self):
        self.links = {}
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda *_: None)  # of connections that end with the loop
        threading.Thread(target=self._loop.run_forever, name="links", daemon=True).start()

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)

    def through(self, name, address):
        link = self.links[name] = Link(address)
        asyncio.run_coroutine_threadsafe(link.listen(), self._loop).result(WAIT_S)
        return f"127.0.0.1:{link.port}"

    @contextmanager
    def changed(self, part, mode="open", delay_s=0.0):
        """All links to a part, such as `db1` or `node`."""
        links = [link for name, link in self.links.items() if part in name.split(" ")]
        for link in links:
            link.mode, link.delay_s = mode, delay_s
        try:
            yield
        finally:
            for link in links:
                link.mode, link.delay_s = "open", 0.0


def wait_until(condition, timeout_s, what):
    """Seconds that it took."""
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > timeout_s:
            raise AssertionError(f"after {timeout_s:.0f} s still not: {what}")
        time.sleep(0.1)
    return time.monotonic() - begun
