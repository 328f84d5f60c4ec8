"""Chromium without a window, spoken to over a pipe in its DevTools protocol."""

import itertools
import json
import os
import select
import subprocess
import tempfile
from contextlib import contextmanager

from tests.support.serving import program, wait_until

PATIENCE_S = 120.0
# Without isolation of sites, what keeps pages that were left, and the windows' own pages, such as
# that of the address bar, a start takes a third of the processor's time and a page two thirds.
FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --no-startup-window
    --disable-background-networking --disable-component-update --disable-extensions --disable-sync
    --remote-debugging-pipe --window-size=1280,1600
    --disable-site-isolation-trials --disable-features=IsolateOrigins,site-per-process,\
SpareRendererForSitePerProcess,ProactivelySwapBrowsingInstance,PreloadTopChromeWebUI,AimEnabled,\
WebUIOmniboxPopup,WebUIOmniboxAimPopup,BackForwardCache,RenderDocument,PaintHolding
""".split()


# What the protocol says of a script whose page was left meanwhile.
LEFT = ("navigated or closed", "context was destroyed", "Cannot find context", "was collected")


class PageLeft(Exception):
    """The page in which a script ran is no longer shown."""


class Page:
    """One tab; `requested` are the addresses it asked for, `errors` what its scripts threw."""

    def __init__(self, browser):
        self._browser = browser
        self._session = None
        self.requested = []
        self.errors = []
        self._context = self.call("Target.createBrowserContext")["browserContextId"]
        own = {"url": "about:blank", "browserContextId": self._context}
        target = self.call("Target.createTarget", **own)["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        message = {"method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        number = self._browser.send(message)
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if any(text in answer.get("error", {}).get("message", "") for text in LEFT):
                    raise PageLeft(answer["error"])
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])

    def close(self):
        """Leave nothing of a test to the next one: no storage, scripts, settings, history."""
        self._session = None
        self.call("Target.disposeBrowserContext", browserContextId=self._context)

    def open(self, address):
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, script):
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition):
        """Until a script's value is true, on whichever page is shown then."""
        wait_until(lambda: self._holds(condition), timeout_s=PATIENCE_S, told=lambda: condition)

    def _holds(self, condition):
        try:
            return bool(self.evaluate(f"Boolean({condition})"))
        except PageLeft:
            return False

    def before_scripts(self, script):
        """Run a script in every page from now on, before the page's own."""
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def click(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")

    def fill(self, selector, text):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(text)}")

    def text(self, selector="main"):
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def _receive(self):
        message = self._browser.receive()
        if message.get("sessionId") != self._session:
            return message  # of another tab
        if message.get("method") == "Network.requestWillBeSent":
            self.requested.append(message["params"]["request"]["url"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"]["text"])
        return message


class Browser:
    """A running Chromium: the messages of its protocol, of all its tabs one after the other."""

    def __init__(self, write, read):
        self._write, self._read = write, read
        self._numbers = itertools.count(1)
        self._pending = b""

    @contextmanager
    def tab(self):
        """A tab that shares nothing with others."""
        page = Page(self)
        yield page
        page.close()

    def send(self, message):
        """The number that the answer will have."""
        number = next(self._numbers)
        self._write.write(json.dumps({"id": number, **message}).encode() + b"\0")
        self._write.flush()  # all of it, though a signal interrupts
        return number

    def receive(self):
        while b"\0" not in self._pending:
            assert select.select([self._read], [], [], PATIENCE_S)[0], "the browser does not answer"
            part = os.read(self._read, 1 << 20)
            assert part, "the browser ended"
            self._pending += part
        line, self._pending = self._pending.split(b"\0", 1)
        return dict(json.loads(line))


@contextmanager
def chromium():
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(prefix="scan-chromium-", ignore_cleanup_errors=True) as folder:
        command = [program("chromium"), *FLAGS, f"--user-data-dir={folder}"]
        process = subprocess.Popen(  # the protocol wants descriptors 3 and 4
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write}', "bash", *command],
            pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        try:
            yield Browser(os.fdopen(to_write, "wb", closefd=False), from_read)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            os.close(to_write)
            os.close(from_read)
